use sarek::prelude::*;

#[kernel]
fn copy(x: &[f32], y: &mut [f32]) {
    let from = x;
    y[global_idx_x()] = from[global_idx_x()];
}

fn main() {}
