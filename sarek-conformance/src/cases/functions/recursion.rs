//! Tail-recursive functions.

use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[Case::new("functions/recursion", &[], recursion)];

#[device]
fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// `n! * product`
#[device]
fn factorial(n: u32, product: u32) -> u32 {
    if n < 2 {
        return product;
    }
    factorial(n - 1, product.wrapping_mul(n))
}

/// `base^exponent * product`
#[device]
fn power(base: u32, exponent: u32, product: u32) -> u32 {
    match exponent {
        0 => product,
        e if e % 2 == 0 => power(base.wrapping_mul(base), e / 2, product),
        e => power(base, e - 1, product.wrapping_mul(base)),
    }
}

/// Halves `n` down to zero, and counts its calls.
#[device]
fn halve(n: u32, turns: &mut u32) {
    *turns += 1;
    if n > 0 {
        halve(n / 2, turns);
    }
}

#[kernel]
fn recursive(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    if i < x.len() {
        let mut turns = 0;
        halve(x[i], &mut turns);
        y[4 * i] = gcd(x[i], i as u32 * 6);
        y[4 * i + 1] = factorial(i as u32 % 15, 1);
        y[4 * i + 2] = power(x[i], i as u32 % 40, 1);
        y[4 * i + 3] = turns;
    }
}

fn recursion(device: &Device) -> Check {
    let n = 150;
    let x: Vec<u32> = (0..n).map(|i| i * 77 % 1000).collect();
    let mut y = sentinel_filled::<u32>(4 * n as usize);
    recursive(&Vector::from_slice(&x), &mut y)
        .over(n as usize)
        .run_on(device)?;
    let expected = x.iter().zip(0..n).flat_map(|(&x, i)| {
        let common = (1..=x.max(6 * i))
            .rev()
            .find(|d| x % d == 0 && (6 * i) % d == 0);
        let product = (1..=i % 15).fold(1u32, u32::wrapping_mul);
        [
            common.unwrap_or(0),
            product,
            x.wrapping_pow(i % 40),
            33 - x.leading_zeros(),
        ]
    });
    expect("recursive", &y, &expected.collect::<Vec<u32>>())
}
