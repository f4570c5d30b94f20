use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C, packed)]
struct Point {
    x: f32,
    flag: u8,
}

fn main() {}
