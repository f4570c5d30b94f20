use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C, u32)]
enum Shape {
    Disc(f32),
    Box(f32, f32),
}

#[kernel]
fn areas(shapes: &[Shape], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = match shapes[i] {
        Shape::Disc(radius, mut other) => radius * other,
        Shape::Box(width) => width,
    };
}

fn main() {}
