use sarek::prelude::*;

#[kernel]
fn other(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = x[i];
}

#[kernel]
fn wrong(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    other(x, y);
}

fn main() {}
