//! The trait of a `#[device]` impl has no `#[device]`.
use sarek::prelude::*;

trait Shape {
    fn area(&self) -> f32;
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Disc {
    r: f32,
}

#[device]
impl Shape for Disc {
    fn area(&self) -> f32 {
        self.r
    }
}

fn main() {}
