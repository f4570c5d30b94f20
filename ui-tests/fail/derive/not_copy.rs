use sarek::prelude::*;

#[derive(KernelType)]
#[repr(C)]
struct Point {
    x: f32,
}

fn main() {}
