use sarek::prelude::*;

fn square(x: f32) -> f32 {
    x * x
}

#[kernel]
fn wrong(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = square(x[i]);
}

fn main() {}
