//! Functions that take slices and `&mut` parameters.

use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("functions/slices", &[], slices),
    Case::new("functions/written_slices", &[], written_slices),
    Case::new("functions/out_parameters", &[], out_parameters),
];

/// The sum of `count` elements from `first` on, or of fewer where the slice ends.
#[device]
fn window(x: &[u32], first: usize, count: usize) -> u32 {
    let mut sum = 0;
    for k in 0..count {
        if first + k >= x.len() {
            return sum;
        }
        sum += x[first + k];
    }
    sum
}

/// Passes its slices on.
#[device]
fn difference(a: &[u32], b: &[u32], i: usize) -> u32 {
    window(a, i, 3) - window(b, i, 2)
}

#[kernel]
fn windows(a: &[u32], b: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    if i < a.len() {
        y[i] = difference(a, b, i);
    }
}

fn slices(device: &Device) -> Check {
    let n = 300;
    let a: Vec<u32> = (0..n).map(|i| i * i + 7).collect();
    let b: Vec<u32> = (0..n).map(|i| i * i / 2).collect();
    let mut y = sentinel_filled::<u32>(n as usize);
    windows(&Vector::from_slice(&a), &Vector::from_slice(&b), &mut y)
        .over(n as usize)
        .run_on(device)?;
    let sum = |x: &[u32], i: usize, count: usize| x.iter().skip(i).take(count).sum::<u32>();
    let expected = (0..n as usize).map(|i| sum(&a, i, 3) - sum(&b, i, 2));
    expect("windows", &y, &expected.collect::<Vec<u32>>())
}

/// Writes four elements, and reads one of them back.
#[device]
fn put(y: &mut [u32], at: usize, value: u32) -> u32 {
    for k in 0..4 {
        y[at + k] = value + k as u32;
    }
    y[at + 3]
}

#[kernel]
unsafe fn quadruples(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    if i < x.len() {
        let last = put(y, 4 * i, x[i]);
        if last % 2 == 0 {
            put(y, 4 * i, 0);
        }
    }
}

fn written_slices(device: &Device) -> Check {
    let n = 77;
    let x: Vec<u32> = (0..n).map(|i| i * 31 % 100).collect();
    let mut y = sentinel_filled::<u32>(4 * n as usize);
    let x_on_device = Vector::from_slice(&x);
    // SAFETY: each thread writes four elements of its own.
    unsafe { quadruples(&x_on_device, &mut y) }
        .over(n as usize)
        .run_on(device)?;
    let expected = x.iter().flat_map(|&v| {
        let first = if (v + 3) % 2 == 0 { 0 } else { v };
        (0..4).map(move |k| first + k)
    });
    expect("quadruples", &y, &expected.collect::<Vec<u32>>())
}

/// Divides, and stores the remainder in `rest`.
#[device]
fn divide(a: u32, b: u32, rest: &mut u32) -> u32 {
    if b == 0 {
        *rest = a;
        return 0;
    }
    *rest = a % b;
    a / b
}

/// Swaps the values behind two references.
#[device]
fn swap(a: &mut u32, b: &mut u32) {
    let t = *a;
    *a = *b;
    *b = t;
}

/// Passes references on, and only reads through one of them.
#[device]
fn sort(a: &mut u32, b: &mut u32, by: &u32) {
    if *a % *by > *b % *by {
        swap(a, b);
    }
}

#[kernel]
fn outputs(x: &[u32], q: &mut [u32], r: &mut [u32]) {
    let i = global_idx_x();
    if i < x.len() {
        r[i] = 1000;
        q[i] = divide(x[i], i as u32 % 5, &mut r[i]);
        let (mut a, mut b) = (q[i], r[i]);
        sort(&mut a, &mut b, &7);
        q[i] = a;
        r[i] += 100 * b;
    }
}

fn out_parameters(device: &Device) -> Check {
    let n = 200;
    let x: Vec<u32> = (0..n).map(|i| i * 131 % 1009).collect();
    let (mut q, mut r) = (
        sentinel_filled::<u32>(n as usize),
        sentinel_filled::<u32>(n as usize),
    );
    outputs(&Vector::from_slice(&x), &mut q, &mut r)
        .over(n as usize)
        .run_on(device)?;
    let pair = |(&x, i): (&u32, u32)| {
        let (q, r) = (
            x.checked_div(i % 5).unwrap_or(0),
            x.checked_rem(i % 5).unwrap_or(x),
        );
        let (a, b) = if q % 7 > r % 7 { (r, q) } else { (q, r) };
        (a, r + 100 * b)
    };
    let (expected_q, expected_r): (Vec<u32>, Vec<u32>) = x.iter().zip(0..).map(pair).unzip();
    expect("quotients", &q, &expected_q)?;
    expect("remainders", &r, &expected_r)
}
