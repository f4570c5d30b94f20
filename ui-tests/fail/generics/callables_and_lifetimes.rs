//! A wrong argument in functions that are generic over callables, and over lifetimes.

use sarek::prelude::*;

#[device]
fn twice(x: f32) -> f32 {
    x + x
}

#[device]
fn unnamed(f: impl Fn(f32) -> f32, n: u32) -> f32 {
    f(twice(n))
}

#[device]
fn several(mut f: impl FnMut(f32) -> f32, g: impl FnOnce(u32), n: u32) -> f32 {
    g(n);
    f(twice(n))
}

#[device]
fn named<F>(f: F, n: u32) -> f32
where
    F: Fn(f32) -> f32,
{
    f(twice(n))
}

#[device]
fn of_a_parameter<T: Float, F: Fn(T) -> T>(f: F, t: T, n: u32) -> T {
    let _n = twice(n);
    f(t)
}

#[device]
fn outlived<'a, 'b, T: Float + 'a>(x: &'a [T], _y: &'b [T], n: u32) -> T
where
    'a: 'b,
{
    let _n = twice(n);
    x[0]
}

#[device]
fn of_a_length<const N: usize>(x: [f32; N], n: u32) -> f32 {
    x[0] + twice(n)
}

fn main() {}
