use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
struct Point {
    x: f32,
}

#[derive(Clone, Copy, KernelType)]
#[repr(u32)]
enum Shape {
    Circle(f32),
    Point,
}

fn main() {}
