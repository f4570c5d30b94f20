//! Code that a closure passed to a function cannot contain, and functions that cannot take closures.
use sarek::prelude::*;

#[device]
fn each(n: usize, mut f: impl FnMut(usize)) {
    for k in 0..n {
        f(k);
    }
}

#[kernel]
fn k(y: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    each(3, |k| {
        barrier();
        tile[k] = 1;
    });
    each(3, move |_| {});
    each(3, |k| {
        if k == 2 {
            return;
        }
    });
    each(3, |(a, b): (usize, usize)| {});
}

#[device]
fn together(f: impl Fn(u32) -> u32, x: u32) -> u32 {
    barrier();
    f(x)
}

#[device]
fn again(f: impl Fn(u32) -> u32, x: u32) -> u32 {
    if x == 0 { 0 } else { again(f, x - 1) }
}

#[device]
fn references(f: impl Fn(&u32) -> u32, x: u32) -> u32 {
    f(&x)
}

fn main() {}
