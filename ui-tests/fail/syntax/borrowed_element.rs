//! A reference to an element, stored in a variable.
use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let to = &mut y[i];
    *to = x[i];
}

fn main() {}
