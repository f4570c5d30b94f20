//! The block size without its key, and in parentheses.
use sarek::prelude::*;

#[kernel(256)]
fn bare(y: &mut [f32]) {
    y[global_idx_x()] = 1.0;
}

#[kernel(block(256))]
fn in_parentheses(y: &mut [f32]) {
    y[global_idx_x()] = 1.0;
}

fn main() {}
