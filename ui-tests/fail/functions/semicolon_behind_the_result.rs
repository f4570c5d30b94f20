//! A semicolon drops the result.
use sarek::prelude::*;

#[device]
fn next(x: f32) -> f32 {
    x + 1.0;
}

#[device]
fn positive(x: f32) -> f32 {
    if x > 0.0 {
        return x;
    }
}

#[kernel]
fn uses(y: &mut [f32]) {
    y[global_idx_x()] = next(1.0) + positive(1.0);
}

fn main() {}
