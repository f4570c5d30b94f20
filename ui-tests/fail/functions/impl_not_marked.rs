//! A `#[device]` trait with an impl that lacks `#[device]`.
use sarek::prelude::*;

#[device]
trait Shape {
    fn area(&self, k: f32) -> f32;
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Disc {
    r: f32,
}

impl Shape for Disc {
    fn area(&self, k: f32) -> f32 {
        k
    }
}

#[kernel]
fn uses(disc: Disc, out: &mut [f32]) {
    let i = global_idx_x();
    if i < out.len() {
        out[i] = disc.area(1.0);
    }
}
fn main() {}
