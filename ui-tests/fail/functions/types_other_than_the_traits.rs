//! Impls of a `#[device]` trait whose signatures differ from the trait's in user types and in bounds, and calls of them.
use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Point {
    x: f32,
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Size {
    x: f32,
}

#[device]
trait Shape: KernelType {
    type Side: KernelType;
    fn area(&self, k: Point) -> f32;
    fn centre(&self, k: f32) -> Point;
    fn first(&self, k: &[Point]) -> f32;
    fn moved(&mut self, by: &Point);
    fn side(&self) -> Self::Side;
    fn grown<T: Float>(&self, k: T) -> T;
    fn rounded<T>(&self, k: T) -> T
    where
        T: Float;
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Disc {
    r: f32,
}

#[device]
impl Shape for Disc {
    type Side = Point;
    fn area(&self, k: Size) -> f32 {
        self.r * k.x
    }
    fn centre(&self, k: f32) -> Size {
        Size { x: k }
    }
    fn first(&self, k: &[Size]) -> f32 {
        let found: Size = k[0];
        found.x
    }
    fn moved(&mut self, by: &Size) {
        self.r += by.x;
    }
    fn side(&self) -> Size {
        Size { x: 1.0 }
    }
    fn grown<T: Int>(&self, k: T) -> T {
        k
    }
    fn rounded<T>(&self, k: T) -> T
    where
        T: Float + Int,
    {
        k
    }
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Ring<T> {
    r: T,
}

#[device]
impl<T: Float> Shape for Ring<T> {
    type Side = Point;
    fn area(&self, k: Size) -> f32 {
        k.x
    }
    fn centre(&self, k: f32) -> Point {
        Point { x: k }
    }
    fn first(&self, k: &[Point]) -> f32 {
        let found: Point = k[0];
        found.x
    }
    fn moved(&mut self, _by: &Point) {}
    fn side(&self) -> Point {
        Point { x: 1.0 }
    }
    fn grown<U: Float>(&self, k: U) -> U {
        k
    }
    fn rounded<U: Float>(&self, k: U) -> U {
        k
    }
}

#[device]
fn doubled<S: Shape>(s: S) -> f32 {
    2.0 * s.area(Point { x: 1.0 })
}

#[kernel]
fn uses(disc: Disc, ring: Ring<f32>, out: &mut [f32]) {
    let i = global_idx_x();
    if i < out.len() {
        out[i] = disc.area(Point { x: 1.0 }) + doubled(disc) + doubled(ring) + ring.grown(1.0);
    }
}

fn main() {}
