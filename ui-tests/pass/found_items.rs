//! Item lookup handles names shared by methods, traits and functions, and methods that call functions.
#![deny(warnings)]

use sarek::prelude::*;

#[device]
trait Shape {
    fn area(&self) -> f32;
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Disc {
    r: f32,
}

#[device]
fn square(x: f32) -> f32 {
    x * x
}

#[device]
fn area(x: f32) -> f32 {
    square(x) * 3.0
}

#[device]
impl Disc {
    fn new(r: f32) -> Disc {
        Disc { r }
    }

    fn square(self) -> f32 {
        square(self.r)
    }

    fn pick<T: Float>(self, of: T) -> T {
        of
    }
}

#[device]
impl Shape for Disc {
    fn area(&self) -> f32 {
        area(self.r)
    }
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Ring {
    outer: Disc,
}

/// Calls each item in its own way.
#[kernel]
fn areas<S: Shape + sarek::Element>(shapes: &[S], disc: Disc, ring: Ring, out: &mut [f32]) {
    let i = global_idx_x();
    if i < out.len() {
        let shape = shapes[i];
        let own = shape.area() + disc.area() + area(disc.r);
        let named = <Disc as Shape>::area(&disc) + Disc::new(2.0).square();
        let outer = ring.outer.square() + ring.outer.area();
        out[i] = own + named + outer + disc.pick::<f32>(1.0);
    }
}

fn main() {
    let disc = Disc::new(1.0);
    let shapes = Vector::from_vec(vec![disc; 4]);
    let mut out = Vector::zeros(4);
    let run = areas(&shapes, disc, Ring { outer: disc }, &mut out)
        .over(4usize)
        .run();
    run.expect("it runs");
    // Three areas of 3, one more through the trait, 4 of the square, 1 and 3 of the ring, and 1 picked.
    assert_eq!(
        out.to_vec().expect("it is read"),
        vec![3.0 * 3.0 + 3.0 + 4.0 + 1.0 + 3.0 + 1.0; 4]
    );
}
