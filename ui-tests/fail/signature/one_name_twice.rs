//! Two arguments with one name.
use sarek::prelude::*;

#[kernel]
fn copied(x: &[f32], x: &mut [f32]) {
    x[global_idx_x()] = 1.0;
}

fn main() {}
