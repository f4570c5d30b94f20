//! An impl with `Self` in the place of a trait.
use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Disc {
    r: f32,
}
#[device]
impl Self for Disc {
    fn area(&self) -> f32 {
        self.r
    }
}
fn main() {}
