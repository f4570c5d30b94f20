//! Wrong calls inside methods of traits.

use sarek::prelude::*;

#[device]
fn scaled(x: f32, by: f32) -> f32 {
    x * by
}

#[device]
trait Shape {
    fn area(&self, k: f32) -> f32;
    fn grown(&self, by: f32) -> f32;
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Disc {
    r: f32,
}

#[device]
impl Shape for Disc {
    fn area(&self, k: f32) -> f32 {
        scaled(self.r) * scaled(k, 1u32)
    }
    fn grown(&self, by: f32) -> f32 {
        by * self.area() + self.area(1u32) + self.area(1.0, 2.0) + self.aera(2.0)
    }
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Ring<T> {
    r: T,
}

#[device]
impl<T: Float> Shape for Ring<T> {
    fn area(&self, k: f32) -> f32 {
        scaled(k)
    }
    fn grown(&self, by: f32) -> f32 {
        by * self.area()
    }
}

fn main() {}
