//! A reference to an element, stored in an array.
use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let from = [&x[i], &x[0]];
    y[i] = *from[0];
}

fn main() {}
