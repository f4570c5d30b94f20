//! Functions of the standard library that kernels know by full path: on unsupported arguments, and by bare names.
use sarek::prelude::*;
use std::cmp::min;
use std::mem::swap;

#[kernel]
fn wrong(x: &mut [u32]) {
    let i = global_idx_x();
    let (mut a, mut b) = (0u32, 0.5f32);
    std::mem::swap(&mut x[0], &mut x[1]);
    let old = std::mem::replace(&mut x[i], 3);
    let taken = std::mem::take(&mut a);
    x[i] = std::cmp::min(a);
    x[i] = std::cmp::max::<u32>(a, a);
    x[i] = std::cmp::max(a, 1i32);
    x[i] = u8::try_from(a).unwrap_or(0) as u32;
}

#[kernel]
fn bare(x: &mut [u32]) {
    let i = global_idx_x();
    let (mut a, mut b) = (0u32, 0);
    x[i] = min(x[i], 1);
    swap(&mut a, &mut b);
}

#[kernel]
fn floats(x: &mut [f32]) {
    let i = global_idx_x();
    x[i] = std::cmp::min(x[i], 2.0);
}

fn main() {}
