//! A closure is passed to a function in which threads work together, or a function with barriers in place of a closure.
use sarek::prelude::*;

#[device]
fn sum(value: u32) -> u32 {
    let tile = shared_array::<u32, 64>();
    tile[thread_idx_x()] = value;
    barrier();
    let sum = tile[0];
    barrier();
    sum
}

#[device]
fn apply(f: impl Fn(u32) -> u32, x: u32) -> u32 {
    f(x)
}

#[device]
fn inside(f: impl Fn(u32) -> u32, x: u32) -> u32 {
    sum(f(x))
}

#[kernel]
fn k(y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = apply(|x| sum(x), 1) + apply(sum, 2) + inside(|x| x, 3);
}

fn main() {}
