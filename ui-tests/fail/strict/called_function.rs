use sarek::prelude::*;

#[device]
fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

#[device]
fn twice(x: f32) -> f32 {
    sigmoid(sigmoid(x))
}

#[kernel(strict)]
fn wrong(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = twice(x[i]);
}

fn main() {}
