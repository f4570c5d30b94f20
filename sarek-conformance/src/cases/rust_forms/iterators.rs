//! Loops over slices, arrays and chains of iterators, and methods that end such chains.

use super::each;
use crate::Case;
use crate::check::{Check, ensure};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("rust/loops_over_slices", &[], loops),
    Case::new("rust/adapters", &[], adapters),
    Case::new("rust/sums_and_searches", &[], ends),
    Case::new("rust/sums_of_floats", &[], floats),
    Case::new("rust/iterators_are_evaluated_once", &[], once),
    Case::new("rust/parts_that_do_not_fit", &[], parts),
];

#[kernel]
fn loops_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let mut total = 0;
    for v in x {
        total += *v;
    }
    for (k, v) in x.iter().enumerate() {
        if *v == 3 {
            continue;
        }
        total += v * (k as u32 + 1);
    }
    for d in [1, 10] {
        total += d;
    }
    let mut parts = [1, 2, 3];
    for p in parts.iter_mut() {
        *p += y[i];
    }
    for &p in &parts {
        total += p;
    }
    'all: for a in x {
        for &b in x.iter() {
            if a + b == 11 {
                break 'all;
            }
        }
        total += 1;
    }
    y[i] = total;
}

fn loops(device: &Device) -> Check {
    let run = |x: &Vector<u32>, y: &mut Vector<u32>, n| loops_kernel(x, y).over(n).run_on(device);
    each("loops", run, |x, _, y| {
        let mut total = 11 + 6 + 3 * y;
        for k in 0..x.len() {
            total += x[k];
            total += if x[k] == 3 { 0 } else { x[k] * (k as u32 + 1) };
        }
        for k in 0..x.len() {
            let mut met = false;
            for l in 0..x.len() {
                met |= x[k] + x[l] == 11;
            }
            if met {
                break;
            }
            total += 1;
        }
        total
    })
}

#[kernel]
fn adapters_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let mut digits = 0u32;
    for v in x[..=i].iter().rev().take(3) {
        digits = 100 * digits + *v;
    }
    let mut products = 0;
    for (a, b) in x.iter().zip(x.iter().skip(1)) {
        products += a * b;
    }
    let mut places = 0;
    for (k, v) in x.iter().step_by(2).rev().enumerate() {
        places += v * k as u32;
    }
    let mut rises = 0;
    for pair in x.windows(2) {
        if pair[0] < pair[1] {
            rises += 1;
        }
    }
    let mut threes = 0;
    for (k, part) in x.chunks_exact(3).enumerate() {
        threes += part[0] * part[2] + k as u32;
    }
    y[i] = digits + products + places + 7 * rises + threes;
}

fn adapters(device: &Device) -> Check {
    let run =
        |x: &Vector<u32>, y: &mut Vector<u32>, n| adapters_kernel(x, y).over(n).run_on(device);
    each("adapters", run, |x, i, _| {
        let n = x.len();
        let (mut digits, mut total, mut k) = (0, 0, i + 1);
        while k > 0 && i + 1 - k < 3 {
            k -= 1;
            digits = 100 * digits + x[k];
        }
        for k in 1..n {
            total += x[k - 1] * x[k];
            total += if x[k - 1] < x[k] { 7 } else { 0 };
        }
        let last = (n - 1) / 2;
        for k in 0..last + 1 {
            total += x[2 * (last - k)] * k as u32;
        }
        for k in 0..n / 3 {
            total += x[3 * k] * x[3 * k + 2] + k as u32;
        }
        digits + total
    })
}

#[kernel]
fn ends_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let by = y[i];
    let sum: u32 = x.iter().sum();
    let even = x
        .iter()
        .filter(|v| **v % 2 == 0)
        .map(|v| v * by)
        .sum::<u32>();
    let squares = (0..4u32).map(|v| v * v).filter(|v| *v != 4).sum::<u32>();
    let most = x.iter().copied().max().unwrap_or(0);
    let least = *x.iter().min().unwrap();
    let folded = x.iter().fold(1u32, |a, v| a.wrapping_mul(3) ^ v);
    let place = x.iter().position(|&v| v == by).map_or(99, |p| p as u32);
    let some = x.iter().any(|&v| v > by) as u32 + 2 * x.iter().all(|v| *v > 1) as u32;
    let count = x.iter().skip(1).step_by(2).count() as u32;
    let [a, b] = [by, by + 1].map(|v| v * v);
    y[i] = folded ^ (sum + even + squares + 3 * most + least + place + some + count + a * b);
}

fn ends(device: &Device) -> Check {
    let run = |x: &Vector<u32>, y: &mut Vector<u32>, n| ends_kernel(x, y).over(n).run_on(device);
    each("ends", run, |x, _, by| {
        let n = x.len();
        let (mut most, mut least, mut folded, mut place) = (0, 100, 1u32, 99);
        let (mut above, mut large, mut total) = (0, 2, 10);
        for k in 0..n {
            total += x[k];
            total += if x[k] % 2 == 0 { x[k] * by } else { 0 };
            most = if x[k] > most { x[k] } else { most };
            least = if x[k] < least { x[k] } else { least };
            folded = folded.wrapping_mul(3) ^ x[k];
            place = if place == 99 && x[k] == by {
                k as u32
            } else {
                place
            };
            above = if x[k] > by { 1 } else { above };
            large = if x[k] > 1 { large } else { 0 };
        }
        let count = n / 2;
        let squares = by * by * (by + 1) * (by + 1);
        folded ^ (total + 3 * most + least + place + above + large + count as u32 + squares)
    })
}

#[kernel]
fn floats_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let none: f32 = x[..0].iter().map(|v| *v as f32).sum();
    let halves: f32 = x[..=i].iter().map(|v| *v as f32 * 0.5).sum();
    let product: f32 = x.iter().take(2).map(|v| *v as f32).product();
    y[i] = (2.0 * halves + product) as u32 + none.is_sign_negative() as u32;
}

fn floats(device: &Device) -> Check {
    let run = |x: &Vector<u32>, y: &mut Vector<u32>, n| floats_kernel(x, y).over(n).run_on(device);
    each("floats", run, |x, i, _| {
        let mut total = if x.len() > 1 { x[0] * x[1] } else { x[0] };
        for k in 0..i + 1 {
            total += x[k];
        }
        // The sum of no floats is -0.
        total + 1
    })
}

#[device]
fn next(count: &mut usize) -> usize {
    *count += 1;
    *count
}

/// An array by value is copied, and what stands in the source of an iterator runs once.
#[kernel]
fn once_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let mut own = [y[i], 2, 3];
    let mut total = 0;
    for v in own {
        own[1] = 20;
        own[2] = 10;
        total += v;
    }
    for v in own.into_iter() {
        own[2] = 7;
        total += v;
    }
    let mut count = 0;
    for w in x[next(&mut count) - 1..].windows(2) {
        total += w[0];
    }
    for c in x[next(&mut count) - 2..].chunks_exact(2) {
        total += c[1];
    }
    y[i] = total + own[2] + 100 * count as u32;
}

fn once(device: &Device) -> Check {
    let run = |x: &Vector<u32>, y: &mut Vector<u32>, n| once_kernel(x, y).over(n).run_on(device);
    each("evaluated once", run, |x, _, y| {
        let mut total = y + 5 + y + 30;
        for k in 1..x.len() {
            total += x[k - 1];
        }
        for k in 0..x.len() / 2 {
            total += x[2 * k + 1];
        }
        total + 7 + 200
    })
}

#[kernel]
fn parts_kernel(from: usize, to: usize, x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let mut total = 0;
    for v in x[from..to].iter() {
        total += v;
    }
    let part = &x[from..to];
    y[i] = total + part.len() as u32;
}

/// A part that does not fit is a fault, reads no other memory, and does not make its thread run for long.
fn parts(device: &Device) -> Check {
    let x = Vector::from_slice(&[1u32, 2, 3, 4]);
    let run = |from, to| {
        let mut y = Vector::<u32>::zeros(3);
        parts_kernel(from, to, &x, &mut y).over(3).run_on(device)?;
        y.to_vec()
    };
    ensure(run(1, 3)? == [7; 3], || {
        "a part in the middle is wrong".into()
    })?;
    ensure(run(4, 4)? == [0; 3], || {
        "the part at the end is wrong".into()
    })?;
    for (from, to) in [(3, 2), (0, 5), (5, 5), (9, 1 << 31), (1 << 31, 0)] {
        ensure(run(from, to).is_err(), || {
            format!("the part {from}..{to} of 4 elements is no fault")
        })?;
    }
    Ok(())
}
