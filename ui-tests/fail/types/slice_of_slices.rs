use sarek::prelude::*;

#[kernel]
fn k(x: &[&[f32]], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = x[0][i];
}

fn main() {}
