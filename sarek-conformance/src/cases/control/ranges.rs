//! `for` over ranges: `..`, `..=`, `rev` and `step_by`. Bounds are evaluated once, and may be the ends of
//! their types.

use crate::check::{Check, Expected, binary, unary};
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("control/ranges", &[], ranges),
    Case::new("control/ranges_signed", &[], signed),
    Case::new("control/ranges_at_the_ends", &[], ends),
    Case::new("control/ranges_i64", &[Capability::I64], wide),
    Case::new("control/range_bounds_once", &[], once),
];

/// Each loop folds its numbers into a hash that depends on their order.
#[kernel]
fn ranges_kernel(a: &[u32], b: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let lo = a[i];
    let hi = b[i];
    let mut h = 1u32;
    for k in lo..hi {
        h = h.wrapping_mul(31).wrapping_add(k);
    }
    out[8 * i] = h;
    let mut h = 1u32;
    for k in lo..=hi {
        h = h.wrapping_mul(31).wrapping_add(k);
    }
    out[8 * i + 1] = h;
    let mut h = 1u32;
    for k in (lo..hi).rev() {
        h = h.wrapping_mul(31).wrapping_add(k);
    }
    out[8 * i + 2] = h;
    let mut h = 1u32;
    for k in (lo..=hi).rev() {
        h = h.wrapping_mul(31).wrapping_add(k);
    }
    out[8 * i + 3] = h;
    let mut h = 1u32;
    for k in (lo..hi).step_by(3) {
        h = h.wrapping_mul(31).wrapping_add(k);
    }
    out[8 * i + 4] = h;
    let mut h = 1u32;
    for k in (lo..=hi).step_by(5) {
        h = h.wrapping_mul(31).wrapping_add(k);
    }
    out[8 * i + 5] = h;
    let mut h = 1u32;
    for k in (lo..hi).rev().step_by(4) {
        h = h.wrapping_mul(31).wrapping_add(k);
    }
    out[8 * i + 6] = h;
    let mut h = 1u32;
    for k in (lo..hi).step_by(4).rev() {
        h = h.wrapping_mul(31).wrapping_add(k);
    }
    out[8 * i + 7] = h;
}

/// The hash of a sequence, from the numbers themselves.
fn hash(numbers: impl IntoIterator<Item = i64>) -> u32 {
    let step = |h: u64, k: i64| (h * 31).wrapping_add(k as u64) % (1 << 32);
    numbers.into_iter().fold(1u64, step) as u32
}

/// The numbers `lo, lo + step, …` below `end`, counted up one at a time.
fn counted(lo: i64, end: i64, step: i64) -> Vec<i64> {
    let mut numbers = vec![];
    let mut k = lo;
    while k < end {
        numbers.push(k);
        k += step;
    }
    numbers
}

/// The numbers `end - 1, end - 1 - step, …` not below `lo`.
fn counted_down(lo: i64, end: i64, step: i64) -> Vec<i64> {
    let mut numbers = vec![];
    let mut k = end - 1;
    while k >= lo {
        numbers.push(k);
        k -= step;
    }
    numbers
}

fn ranges(device: &Device) -> Check {
    let mut inputs = vec![];
    for lo in [0, 1, 7, 100, 4_000_000_000] {
        inputs.extend([0, 1, 2, 3, 4, 5, 8, 17].map(|n| (lo, lo + n)));
        inputs.extend((lo > 0).then(|| (lo, lo - 1)));
    }
    inputs.push((50, 3));
    binary(
        [
            "..",
            "..=",
            "rev",
            "= rev",
            "step_by",
            "= step_by",
            "rev step_by",
            "step_by rev",
        ],
        &inputs,
        |a, b, out, n| ranges_kernel(a, b, out).over(n).run_on(device),
        |a, b| {
            let (lo, hi) = (i64::from(a), i64::from(b));
            let mut stepped_down = counted(lo, hi, 4);
            stepped_down.reverse();
            [
                counted(lo, hi, 1),
                counted(lo, hi + 1, 1),
                counted_down(lo, hi, 1),
                counted_down(lo, hi + 1, 1),
                counted(lo, hi, 3),
                counted(lo, hi + 1, 5),
                counted_down(lo, hi, 4),
                stepped_down,
            ]
            .map(|numbers| Expected::Exactly(hash(numbers)))
        },
    )
}

#[kernel]
fn signed_kernel(a: &[i32], out: &mut [u32]) {
    let i = global_idx_x();
    let n = a[i];
    let mut h = 1u32;
    for k in -n..n {
        h = h.wrapping_mul(31).wrapping_add(k as u32);
    }
    out[3 * i] = h;
    let mut h = 1u32;
    for k in (-3..=n).rev() {
        h = h.wrapping_mul(31).wrapping_add(k as u32);
    }
    out[3 * i + 1] = h;
    let mut h = 1u32;
    for k in (-10..n).step_by(7) {
        h = h.wrapping_mul(31).wrapping_add(k as u32);
    }
    out[3 * i + 2] = h;
}

fn signed(device: &Device) -> Check {
    let inputs: Vec<i32> = (-15..15).collect();
    unary(
        ["..", "rev", "step_by"],
        &inputs,
        |a, out, n| signed_kernel(a, out).over(n).run_on(device),
        |a| {
            let n = i64::from(a);
            let numbers = [
                counted(-n, n, 1),
                counted_down(-3, n + 1, 1),
                counted(-10, n, 7),
            ];
            numbers.map(|numbers| Expected::Exactly(hash(numbers)))
        },
    )
}

/// Ranges that end with the last number of their type, where a counter that went further would wrap.
#[kernel]
fn ends_kernel(a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let d = a[i];
    let mut count = 0;
    for _ in u32::MAX - d..=u32::MAX {
        count += 1;
    }
    out[6 * i] = count;
    let mut count = 0;
    for _ in (i32::MAX - d as i32)..=i32::MAX {
        count += 1;
    }
    out[6 * i + 1] = count;
    let mut count = 0;
    for _ in (0..=d).rev() {
        count += 1;
    }
    out[6 * i + 2] = count;
    let mut count = 0;
    for _ in (i32::MIN..=i32::MIN + d as i32).rev() {
        count += 1;
    }
    out[6 * i + 3] = count;
    let mut count = 0;
    for _ in (u32::MAX - d..=u32::MAX).step_by(2) {
        count += 1;
    }
    out[6 * i + 4] = count;
    let mut count = 0;
    for _ in (0..u32::MAX).step_by(1 << 30) {
        count += 1;
    }
    out[6 * i + 5] = count;
}

fn ends(device: &Device) -> Check {
    let inputs: Vec<u32> = (0..20).collect();
    unary(
        [
            "u32 MAX",
            "i32 MAX",
            "rev to 0",
            "i32 MIN rev",
            "step_by",
            "wide step_by",
        ],
        &inputs,
        |a, out, n| ends_kernel(a, out).over(n).run_on(device),
        |d| [d + 1, d + 1, d + 1, d + 1, d / 2 + 1, 4].map(Expected::Exactly),
    )
}

#[kernel]
fn wide_kernel(a: &[i64], out: &mut [i64]) {
    let i = global_idx_x();
    let start = a[i];
    let mut sum = 0i64;
    for k in start..start + 10 {
        sum = sum.wrapping_mul(3).wrapping_add(k);
    }
    out[2 * i] = sum;
    let mut count = 0;
    for _ in (i64::MAX - 3..=i64::MAX).rev() {
        count += 1;
    }
    out[2 * i + 1] = count;
}

fn wide(device: &Device) -> Check {
    unary(
        ["sum", "count"],
        &[0, -5, 1 << 40, -(1 << 40), (1 << 32) - 5],
        |a, out, n| wide_kernel(a, out).over(n).run_on(device),
        |a| {
            let sum: i64 = (0..10).map(|k| 3i64.pow(9 - k as u32) * (a + k)).sum();
            [sum, 4].map(Expected::Exactly)
        },
    )
}

/// The body changes the variables that the bounds were computed from.
#[kernel]
#[allow(unused_parens)]
fn once_kernel(a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let mut end = a[i];
    let mut rounds = 0;
    for k in 0..end {
        end = k;
        rounds += 1;
    }
    out[2 * i] = rounds + end;
    let mut calls = 0;
    let mut rounds = 0;
    for _ in (0..{
        calls += 1;
        a[i]
    }) {
        rounds += calls;
    }
    out[2 * i + 1] = rounds;
}

fn once(device: &Device) -> Check {
    let inputs: Vec<u32> = (0..20).collect();
    unary(
        ["variable", "block"],
        &inputs,
        |a, out, n| once_kernel(a, out).over(n).run_on(device),
        |a| [a + a.saturating_sub(1), a].map(Expected::Exactly),
    )
}
