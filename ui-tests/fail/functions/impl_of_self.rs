//! An impl of what is no name of a trait.
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
