use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[kernel_type(name = "point")]
#[repr(C)]
struct Point {
    x: f32,
}

fn main() {}
