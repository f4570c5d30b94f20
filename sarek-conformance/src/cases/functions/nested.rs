//! Recursive functions with a declared maximum depth.

use crate::Case;
use crate::cases::faults::report::{Place, check_place, fault_of};
use crate::check::{Check, ensure, expect, sentinel_filled};
use sarek::FaultKind;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("functions/nested_calls", &[], nested),
    Case::new("functions/faults_of_deep_calls", &[], too_deep),
];

#[device(inline = 11)]
fn factorial(n: u32) -> u32 {
    if n < 2 { 1 } else { n * factorial(n - 1) }
}

const FIB: u32 = line!() + 6;
#[device(inline = 7)]
fn fib(n: u32) -> u32 {
    if n < 2 {
        return n;
    }
    fib(n - 1) + fib(n - 2)
}

#[device(inline = 6)]
fn power(base: u32, exponent: u32) -> u32 {
    match exponent {
        0 => 1,
        e if e % 2 == 0 => {
            let half = power(base, e / 2);
            half.wrapping_mul(half)
        }
        e => base.wrapping_mul(power(base, e - 1)),
    }
}

#[device(inline = 7)]
fn pow2(n: u32) -> u32 {
    if n == 0 { 1 } else { 2 * pow2(n - 1) }
}

/// Sums the elements that it passes, and doubles the sum at each return.
#[device(inline = 3)]
fn walk(x: &[u32], at: usize, seen: &mut u32) {
    *seen += x[at];
    if x[at] > 0 {
        walk(x, at - 1, seen);
        *seen *= 2;
    }
}

/// Makes both kinds of recursive calls: the tail call becomes a loop, the other one nests.
#[device(inline = 3)]
fn mixed<T: Num>(n: u32, x: T) -> u32 {
    if n == 0 {
        return 1;
    }
    if n % 3 != 0 {
        return mixed(n - 1, x + x);
    }
    1 + mixed(n - 1, x)
}

const X: [u32; 8] = [0, 1, 2, 0, 7, 3, 0, 1];

#[kernel]
fn nested_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let n = i as u32;
    let mut seen = 0;
    walk(x, i, &mut seen);
    y[i] = factorial(n + 4) + fib(n) + 3 * power(3, n) + pow2(n) + 1000 * seen + mixed(n, 1.5f32);
}

fn nested(device: &Device) -> Check {
    let mut y = sentinel_filled::<u32>(X.len());
    nested_kernel(&Vector::from_slice(&X), &mut y)
        .over(X.len())
        .run_on(device)?;
    let walked = |at: usize| {
        let first = (0..=at).rev().find(|k| X[*k] == 0).unwrap_or(0);
        let passed: u32 = X[first..=at].iter().sum();
        passed << (at - first)
    };
    let expected = (0..X.len() as u32).map(|i| {
        let (mut a, mut b) = (0, 1);
        for _ in 0..i {
            (a, b) = (b, a + b);
        }
        let factorial: u32 = (1..=i + 4).product();
        let all = factorial + a + (1 << i) + 1000 * walked(i as usize) + 1 + i / 3;
        all.wrapping_add(3u32.pow(i + 1))
    });
    expect("nested", &y, &expected.collect::<Vec<u32>>())
}

#[kernel]
fn too_deep_kernel(y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = fib(i as u32 % 10);
}

fn too_deep(device: &Device) -> Check {
    let mut y = sentinel_filled::<u32>(9);
    too_deep_kernel(&mut y).over(9).run_on(device)?;
    ensure(y.to_vec()?[8] == 21, || "eight are deep enough".into())?;
    let mut y = sentinel_filled::<u32>(10);
    let result = too_deep_kernel(&mut y).over(10).run_on(device);
    let fault = fault_of(result, &mut y)?;
    let (kernel, file) = ("too_deep_kernel", "src/cases/functions/nested.rs");
    check_place(
        &fault,
        &Place {
            kernel,
            file,
            line: FIB,
        },
    )?;
    let expected =
        matches!(&fault.kind, FaultKind::Assert(text) if text.contains("nests more than 7 calls"));
    ensure(expected, || format!("{:?}", fault.kind))
}
