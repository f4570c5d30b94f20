//! `#[device]` on a method.
use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Disc {
    r: f32,
}

impl Disc {
    #[device]
    fn area(&self) -> f32 {
        self.r * self.r
    }

    #[device]
    fn unit() -> Self {
        Disc { r: 1.0 }
    }
}

fn main() {}
