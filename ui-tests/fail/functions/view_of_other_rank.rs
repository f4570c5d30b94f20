use sarek::prelude::*;

#[device]
fn first(x: View3<f32>) -> f32 {
    x[[0, 0, 0]]
}

#[kernel]
fn wrong(x: View2<f32>, out: &mut [f32]) {
    out[global_idx_x()] = first(x);
}

fn main() {}
