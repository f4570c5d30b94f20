//! Wrong calls in functions and kernels whose type parameters are bounded by user traits.

use sarek::Element;
use sarek::prelude::*;

#[device]
trait Shape: KernelType {
    const CORNERS: u32;
    type Side: Float;
    fn area(&self) -> f32;
    fn edges(&self, f: impl Fn(f32) -> f32) -> f32;
}

#[device]
trait Solid: Shape {
    fn volume<T: Float>(&self, height: T) -> T;
}

trait Unit: Float {}

impl Unit for f32 {}

#[device]
fn scaled<S: Shape>(s: &S, by: f32) -> f32 {
    s.area() * by
}

#[device]
fn measured<U: Unit>(by: U, times: u32) -> U {
    let mut sum = by;
    for _ in 0..times {
        sum = sum + by;
    }
    sum
}

#[device]
fn argument_of_a_function<S: Shape>(s: &S) -> f32 {
    scaled(s, 1u32)
}

#[device]
fn argument_too_few<S: Shape>(s: &S) -> f32 {
    scaled(s)
}

#[device]
fn argument_of_a_method<S: Shape>(s: &S) -> f32 {
    s.area(1.0)
}

#[device]
fn result<S: Shape>(s: S) -> u32 {
    let a: u32 = s.area();
    a
}

#[device]
fn through_a_supertrait<S>(s: &S) -> f32
where
    S: Solid,
{
    s.volume(1.0f32, 2.0f32) + s.area(2u32)
}

#[device]
fn trait_that_is_not_marked<U: Unit, T: Int>(by: U, n: T) -> U {
    measured(by, 1.0f32)
}

#[device]
fn no_shape<U: Unit>(by: U) -> f32 {
    scaled(&by, 1.0)
}

#[kernel]
fn value<S: Shape + Element>(s: S, out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = scaled(&s, 2u32);
}

#[kernel]
fn elements<S: Shape + Element>(s: &[S], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = s[i].area(2u32);
}

#[kernel]
fn of_a_number(out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = scaled(&1.0f32, 2.0);
}

fn main() {}
