//! Vectors from values that are not arrays of their length, and components called as methods.
use sarek::prelude::*;

#[kernel]
fn wrong(y: &mut [f32]) {
    let i = global_idx_x();
    let short = f32x4::from([1.0, 2.0]);
    let pair = f32x2::from((1.0, 2.0));
    let number = f32x2::from(3.0);
    let mixed = f32x3::from([1.0, 2, 0.5]);
    let v = f32x2::from([1.0, 2.0]);
    y[i] = v.x() + v.z();
}

fn main() {}
