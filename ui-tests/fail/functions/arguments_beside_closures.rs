//! Wrong calls inside functions that take closures.

use sarek::prelude::*;

#[device]
fn scaled(x: f32, by: f32) -> f32 {
    x * by
}

#[device]
fn apply<F: Fn(f32) -> f32>(f: F, x: f32) -> f32 {
    f(x) + scaled(x)
}

#[device]
fn apply_too(f: impl Fn(f32) -> f32, x: f32) -> f32 {
    f(x) + scaled(x, 1u32)
}

#[device]
fn given_on(x: f32) -> f32 {
    apply(1.0, |x| x) + apply(|x, y| x + y, x) + apply(|x| x)
}

fn main() {}
