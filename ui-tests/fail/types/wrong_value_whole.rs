use sarek::prelude::*;

#[kernel]
fn k(x: &[f32], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = x[i] * 2.0
        + 1.0;
}

fn main() {}
