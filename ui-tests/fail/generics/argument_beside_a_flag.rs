//! A wrong argument in a function with a `bool` const parameter, and in one whose where clause bounds its type.
use std::ops::Mul;

use sarek::prelude::*;

#[device]
fn twice(x: f32) -> f32 {
    x + x
}

#[device]
fn turned<const UP: bool>(x: f32) -> f32 {
    if UP { twice(1u32) } else { x }
}

#[device]
fn scaled<T>(x: T) -> T
where
    T: Float + Mul<Output = T>,
{
    let _by = twice(2u32);
    x * x
}

#[kernel]
fn calls(out: &mut [f32]) {
    let i = global_idx_x();
    if i < out.len() {
        out[i] = turned::<true>(scaled(1.0f32));
    }
}

fn main() {}
