use sarek::prelude::*;

#[device]
fn first(x: &View2<f32>) -> f32 {
    x[[0, 0]]
}

#[kernel]
fn wrong(x: &[f32], out: &mut [f32]) {
    out[global_idx_x()] = first(x);
}

fn main() {}
