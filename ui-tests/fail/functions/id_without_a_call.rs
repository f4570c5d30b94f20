//! Functions named without a call.
use sarek::prelude::*;

#[kernel]
fn wrong(y: &mut [f32]) {
    let i = global_idx_x;
    barrier;
    y[global_idx_x()] = 1.0;
}

fn main() {}
