//! Impls of a `#[device]` trait with a method too few, one too many, or methods that differ from those declared.
use sarek::prelude::*;

#[device]
trait Shape {
    fn area(&self, k: f32) -> f32;
    fn grown<T: Float>(&self, by: T) -> T;
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Disc {
    r: f32,
}

#[device]
impl Shape for Disc {
    fn area(&self, k: f32) -> f32 {
        self.r * k
    }
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Rect {
    w: f32,
    h: f32,
}

#[device]
impl Shape for Rect {
    fn area(&self, k: u32) -> f32 {
        self.w * self.h * k as f32
    }
    fn grown<T: Float>(&self, by: T) -> T {
        by
    }
    fn outline(&self) -> f32 {
        self.w + self.h
    }
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Ring<T> {
    r: T,
}

#[device]
impl<T: Float> Shape for Ring<T> {
    fn area(&self) -> f32 {
        1.0
    }
    fn grown(&self, by: f32) -> f32 {
        by
    }
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Line {
    l: f32,
}

#[device]
impl Shape for Line {
    fn area(&mut self, k: f32) -> f32 {
        self.l = k;
        k
    }
    fn grown<T: Float>(by: T) -> T {
        by
    }
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Point {
    x: f32,
}

#[device]
impl Shape for Point {
    fn area(&self, k: f32) {}
    fn grown<T: Float>(&self, by: &T) -> T {
        *by
    }
}

#[kernel]
fn uses(disc: Disc, rect: Rect, ring: Ring<f32>, line: Line, out: &mut [f32]) {
    let i = global_idx_x();
    if i < out.len() {
        out[i] = disc.area(1.0) + rect.area(1.0) + ring.area(1.0) + line.area(1.0) + disc.grown(1.0);
    }
}

fn main() {}
