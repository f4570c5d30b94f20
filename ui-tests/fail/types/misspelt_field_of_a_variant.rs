//! Fields that a variant does not have, in patterns.
use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C, u32)]
enum Shape {
    Disc { r: f32 },
    Rect { w: f32, h: f32 },
}

#[kernel]
fn short(shape: Shape, out: &mut [f32]) {
    let i = global_idx_x();
    if i < out.len() {
        out[i] = match shape {
            Shape::Disc { rr } => rr,
            Shape::Rect { w, h } => w * h,
        };
    }
}

#[kernel]
fn renamed(shape: Shape, out: &mut [f32]) {
    let i = global_idx_x();
    if let Shape::Rect { w: a, hh: b } = shape
        && i < out.len()
    {
        out[i] = a + b;
    }
}

#[device]
fn width(shape: Shape) -> f32 {
    match shape {
        Shape::Rect { ww: x, .. } => x,
        _ => 0.0,
    }
}

fn main() {}
