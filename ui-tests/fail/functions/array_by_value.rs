use sarek::prelude::*;

#[device]
fn first(x: &[f32]) -> f32 {
    x[0]
}

#[kernel]
fn fill(y: &mut [f32]) {
    let part = [1.0f32, 2.0];
    y[global_idx_x()] = first(part);
}

fn main() {}
