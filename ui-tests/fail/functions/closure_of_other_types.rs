//! A closure takes or returns types other than those that the function requires.
use sarek::prelude::*;

#[device]
fn apply(f: impl Fn(u32) -> u32, x: u32) -> u32 {
    f(x)
}

#[kernel]
fn k(y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = apply(|x: f32| x, 1);
}

#[kernel]
fn two(y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = apply(|x, y| x + y, 1);
}

fn main() {}
