//! Kernels in their plain form whose threads all change a few elements by atomic operations: histograms, extremes, bits.

use crate::check::{Check, ensure};
use crate::input::Random;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("counts/bytes", &[Capability::Storage8], bytes),
    Case::new("counts/words", &[], words),
    Case::new("counts/plane", &[], plane),
    Case::new("counts/strided", &[], strided),
    Case::new("counts/extremes", &[], extremes),
    Case::new("counts/bits", &[], bits),
];

/// The launches that are tried; the last one is large enough to be optimized on accelerators.
const SIZES: [usize; 6] = [1, 7, 256, 1000, 4099, 120_001];

#[kernel]
fn bytes_kernel(x: &[u8], bins: &[Atomic<u32>]) {
    let i = global_idx_x();
    if i < x.len() {
        bins[x[i] as usize].fetch_add(1);
    }
}

#[kernel]
fn words_kernel(x: &[u32], bins: &[Atomic<u32>]) {
    bins[x[global_idx_x()] as usize % 37].fetch_sub(3);
}

#[kernel]
fn plane_kernel(w: usize, h: usize, x: &[u32], bins: &[Atomic<u32>]) {
    let (col, row) = (global_idx_x(), global_idx_y());
    if col < w && row < h {
        let bin = x[row * w + col] % 16;
        bins[bin as usize].fetch_add(row as u32 + 1);
    }
}

#[kernel]
fn strided_kernel(x: &[u32], bins: &[Atomic<u32>]) {
    let mut i = global_idx_x();
    while i < x.len() {
        bins[(x[i] % 1000) as usize].fetch_add(1);
        i += global_dim_x();
    }
}

#[kernel]
fn extremes_kernel(x: &[i32], most: &[Atomic<i32>]) {
    let i = global_idx_x();
    if i >= x.len() {
        return;
    }
    most[0].fetch_max(x[i]);
}

#[kernel]
fn bits_kernel(x: &[u32], seen: &[Atomic<u32>]) {
    let i = global_idx_x();
    if i < x.len() {
        seen[(x[i] >> 5 & 7) as usize].fetch_or(1 << (x[i] & 31));
    }
}

/// The counts after a launch for each size, beside those that `count` makes of the same data.
fn each<T: Copy + PartialEq + std::fmt::Debug + sarek::Element>(
    before: &[T],
    launch: &dyn Fn(usize, &mut Vector<T>) -> sarek::Result<()>,
    count: &dyn Fn(usize, &mut [T]),
) -> Check {
    for n in SIZES {
        let mut counts = Vector::from_slice(before);
        launch(n, &mut counts)?;
        let mut expected = before.to_vec();
        count(n, &mut expected);
        let got = counts.to_vec()?;
        ensure(got == expected, || {
            format!("{n}: {got:?} instead of {expected:?}")
        })?;
    }
    Ok(())
}

fn input(n: usize) -> Vec<u32> {
    Random::new(n as u64).values(n)
}

fn bytes(device: &Device) -> Check {
    let data = |n| input(n).into_iter().map(|v| v as u8).collect::<Vec<u8>>();
    each(
        &[7; 256],
        &|n, bins| {
            let x = Vector::from_vec(data(n));
            bytes_kernel(&x, bins).over(n + n % 5).run_on(device)
        },
        &|n, bins| data(n).iter().for_each(|v| bins[*v as usize] += 1),
    )
}

fn words(device: &Device) -> Check {
    each(
        &[5u32; 37],
        &|n, bins| {
            words_kernel(&Vector::from_vec(input(n)), bins)
                .over(n)
                .run_on(device)
        },
        &|n, bins| {
            for v in input(n) {
                let bin = &mut bins[v as usize % 37];
                *bin = bin.wrapping_sub(3);
            }
        },
    )
}

fn plane(device: &Device) -> Check {
    let shape = |n: usize| (n.min(300), n.div_ceil(300));
    let data = |n| {
        let (w, h) = shape(n);
        input(w * h)
    };
    each(
        &[1u32; 16],
        &|n, bins| {
            let (w, h) = shape(n);
            let x = Vector::from_vec(data(n));
            plane_kernel(w, h, &x, bins).over((w, h + 1)).run_on(device)
        },
        &|n, bins| {
            for (i, v) in data(n).iter().enumerate() {
                bins[*v as usize % 16] += (i / shape(n).0) as u32 + 1;
            }
        },
    )
}

fn strided(device: &Device) -> Check {
    each(
        &[0u32; 1000],
        &|n, bins| {
            let x = Vector::from_vec(input(n));
            strided_kernel(&x, bins).over(n.min(7000)).run_on(device)
        },
        &|n, bins| input(n).iter().for_each(|v| bins[*v as usize % 1000] += 1),
    )
}

fn extremes(device: &Device) -> Check {
    let data = |n| input(n).into_iter().map(|v| v as i32).collect::<Vec<i32>>();
    each(
        &[i32::MIN],
        &|n, most| {
            extremes_kernel(&Vector::from_vec(data(n)), most)
                .over(n)
                .run_on(device)
        },
        &|n, most| most[0] = data(n).into_iter().max().unwrap_or(i32::MIN),
    )
}

fn bits(device: &Device) -> Check {
    each(
        &[1u32; 8],
        &|n, seen| {
            bits_kernel(&Vector::from_vec(input(n)), seen)
                .over(n)
                .run_on(device)
        },
        &|n, seen| {
            for v in input(n) {
                seen[(v >> 5 & 7) as usize] |= 1 << (v & 31);
            }
        },
    )
}
