use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let mut acc: f32;
    acc += x[i];
    y[i] = acc;
}

fn main() {}
