use sarek::prelude::*;

#[device]
fn total(x: &[f32]) -> f32 {
    x[0]
}

#[kernel]
fn wrong(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = total(x[i]);
}

fn main() {}
