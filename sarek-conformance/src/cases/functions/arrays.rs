//! Functions that take shared arrays and local arrays.

use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("functions/arrays", &[], arrays),
    Case::new("functions/array_literals", &[], array_literals),
];

/// The sum of `count` elements from `first` on, cyclically.
#[device]
fn ring(x: &[u32], first: usize, count: usize) -> u32 {
    let mut sum = 0;
    for k in 0..count {
        sum += x[(first + k) % x.len()];
    }
    sum
}

/// Moves all elements up by one, and puts `value` in front.
#[device]
fn push(x: &mut [u32], value: u32) {
    let mut k = x.len() - 1;
    while k > 0 {
        x[k] = x[k - 1];
        k -= 1;
    }
    x[0] = value;
}

/// The first of `N` elements from `at` on, plus twice the last of them, through a local array.
#[device]
fn last_of<const N: usize>(x: &[u32], at: usize) -> u32 {
    let mut copy = [0u32; N];
    for k in 0..N {
        push(&mut copy, x[(at + k) % x.len()]);
    }
    copy[N - 1] + 2 * copy[0]
}

#[kernel(block = 64)]
unsafe fn rings(x: &[u32], y: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    let (t, i) = (thread_idx_x(), global_idx_x());
    let mut own = [1u32; 5];
    tile[t] = x[i];
    push(&mut own, x[i]);
    barrier();
    push(&mut own, ring(tile, t, 5));
    barrier();
    tile[t] = own[0] + own[1];
    barrier();
    y[i] = ring(&own, 2, 4) + last_of::<3>(tile, t);
}

fn arrays(device: &Device) -> Check {
    let n = 64 * 5;
    let x: Vec<u32> = (0..n).map(|i| i * 37 % 101).collect();
    let input = Vector::from_slice(&x);
    let mut y = sentinel_filled::<u32>(n as usize);
    // SAFETY: each thread writes elements of its own, between barriers.
    unsafe { rings(&input, &mut y) }.grid(5).run_on(device)?;
    let mut expected = vec![];
    for block in x.chunks(64) {
        let at = |i: usize| block[i % 64];
        let ring: Vec<u32> = (0..64).map(|t| (0..5).map(|k| at(t + k)).sum()).collect();
        let tile: Vec<u32> = (0..64).map(|t| ring[t] + block[t]).collect();
        // In the end, the local array is [ring, x, 1, 1, 1].
        expected.extend((0..64).map(|t| 3 + ring[t] + tile[t] + 2 * tile[(t + 2) % 64]));
    }
    expect("rings", &y, &expected)
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Weight {
    of: u32,
    by: u32,
}

/// The sum of the products of both fields.
#[device]
fn weighed(weights: &[Weight]) -> u32 {
    let mut sum = 0;
    for k in 0..weights.len() {
        sum += weights[k].of * weights[k].by;
    }
    sum
}

/// Passes array literals to functions as slices.
#[device]
fn shifted(x: &[u32], at: usize) -> u32 {
    ring(&[x[at], 3, weighed(&[Weight { of: 2, by: x[at] }])], 1, 2)
}

#[kernel]
fn literals(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    if i < y.len() {
        let mut sum = shifted(x, i);
        for k in 0..2 {
            // Each round makes new arrays. The inner call runs between the elements of the outer call's array.
            sum += ring(&[x[i], sum, ring(&[7; 5], k, 3)], k, 2) * ring(&[sum], 0, 1);
            push(&mut [sum, 1], 5);
        }
        y[i] = sum;
    }
}

fn array_literals(device: &Device) -> Check {
    let n = 90;
    let x: Vec<u32> = (0..n).map(|i| i % 7).collect();
    let mut y = sentinel_filled::<u32>(n as usize);
    literals(&Vector::from_slice(&x), &mut y)
        .over(n as usize)
        .run_on(device)?;
    let expected = x.iter().map(|&v| {
        let first = 3 + 2 * v;
        let second = first + (v + first) * first;
        second + (second + 21) * second
    });
    expect("literals", &y, &expected.collect::<Vec<u32>>())
}
