//! A function with an error: its callers get no error of their own.
use sarek::prelude::*;

#[device]
fn wrong(x: f32) -> f32 {
    let y = (&x, 1);
    y.0 * 2.0
}

#[kernel]
fn calls(x: &mut [f32]) {
    let i = global_idx_x();
    x[i] = wrong(x[i]);
}

fn main() {}
