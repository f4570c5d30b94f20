//! Methods that numbers lack, with names similar to methods that they have.
use sarek::prelude::*;

#[kernel]
fn wrong(n: &[u32], x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = x[i].sqroot() + x[i].pow(2);
    y[i] = n[i].into();
}

fn main() {}
