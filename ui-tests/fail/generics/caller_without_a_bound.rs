//! Calls of functions that require bounds which the caller does not declare.

use sarek::prelude::*;

#[device]
trait Shape {
    fn area(&self) -> f32;
}

#[device]
fn root<T: Float>(x: T) -> T {
    x.sqrt()
}

#[device]
fn twice<S: Shape + KernelType>(s: S) -> f32 {
    2.0 * s.area()
}

#[kernel]
fn roots<T: Num>(x: &mut [T]) {
    let i = global_idx_x();
    x[i] = root(x[i]);
}

#[kernel]
fn areas<S: sarek::Element>(shapes: &[S], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = twice(shapes[i]);
}

#[device]
fn by_name<T: Num>(x: T) -> T {
    root::<T>(x)
}

fn main() {}
