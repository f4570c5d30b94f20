use sarek::prelude::*;

#[device]
fn scaled(x: f32, by: f32) -> f32 {
    x * by
}

#[kernel]
fn wrong(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = scaled(x[i]);
}

fn main() {}
