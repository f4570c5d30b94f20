use sarek::prelude::*;

#[device]
fn half(x: f32) -> f32 {
    x / 2.0
}

#[kernel]
fn wrong(x: &[u32], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = half(x[i]);
}

fn main() {}
