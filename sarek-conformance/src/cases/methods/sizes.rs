//! Methods of `usize`: every device gives the results of 64 bits, even if all values fit 32.

use crate::check::{Check, Expected, binary};
use crate::input::{Random, pairs};
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("methods/usize/wide", &[Capability::I64], wide),
    Case::new("methods/usize/small", &[Capability::I64], small),
    Case::new("methods/usize/narrow", &[], narrow),
    Case::new("methods/usize/zeros", &[Capability::I64], zeros),
    Case::new("methods/usize/widened", &[Capability::I64], widened),
    Case::new(
        "methods/usize/rest",
        &[Capability::I64, Capability::F64],
        rest,
    ),
];

/// Number of results for each input.
const EACH: usize = 24;

#[kernel]
fn wide_kernel(a: &[u64], b: &[u64], out: &mut [u64]) {
    let i = global_idx_x();
    let x = a[i] as usize;
    let y = b[i] as usize;
    let by = b[i] as u32;
    out[24 * i] = x.count_ones() as u64;
    out[24 * i + 1] = x.count_zeros() as u64;
    out[24 * i + 2] = x.leading_zeros() as u64;
    out[24 * i + 3] = x.leading_ones() as u64;
    out[24 * i + 4] = x.trailing_zeros() as u64;
    out[24 * i + 5] = x.trailing_ones() as u64;
    out[24 * i + 6] = x.rotate_left(by) as u64;
    out[24 * i + 7] = x.rotate_right(by) as u64;
    out[24 * i + 8] = x.reverse_bits() as u64;
    out[24 * i + 9] = x.swap_bytes() as u64;
    out[24 * i + 10] = x.wrapping_add(y) as u64;
    out[24 * i + 11] = x.wrapping_sub(y) as u64;
    out[24 * i + 12] = x.wrapping_mul(y) as u64;
    out[24 * i + 13] = x.wrapping_neg() as u64;
    out[24 * i + 14] = x.wrapping_shl(by) as u64;
    out[24 * i + 15] = x.wrapping_shr(by) as u64;
    out[24 * i + 16] = x.saturating_add(y) as u64;
    out[24 * i + 17] = x.saturating_sub(y) as u64;
    out[24 * i + 18] = x.saturating_mul(y) as u64;
    out[24 * i + 19] = x.abs_diff(y) as u64;
    out[24 * i + 20] = !x as u64;
    out[24 * i + 21] = (x.min(y) ^ x.max(y) | x.clamp(3, 90)) as u64;
    out[24 * i + 22] = (x % 7).pow(by % 20) as u64;
    out[24 * i + 23] = x.is_power_of_two() as u64
        + 2 * x.is_multiple_of(y % 5) as u64
        + 4 * x.div_ceil(y | 1) as u64;
}

/// The expected results, computed with `u64`, which has the same width.
fn reference(x: u64, y: u64) -> [Expected<u64>; EACH] {
    let by = y as u32;
    let multiple = match y % 5 {
        0 => x == 0,
        n => x / n * n == x,
    };
    let floor = x / (y | 1);
    let ceil = floor + u64::from(floor * (y | 1) != x);
    [
        x.count_ones().into(),
        (64 - x.count_ones()).into(),
        x.leading_zeros().into(),
        x.leading_ones().into(),
        x.trailing_zeros().into(),
        x.trailing_ones().into(),
        x.rotate_left(by),
        x.rotate_right(by),
        x.reverse_bits(),
        x.swap_bytes(),
        x.wrapping_add(y),
        x.wrapping_sub(y),
        x.wrapping_mul(y),
        x.wrapping_neg(),
        x.wrapping_shl(by),
        x.wrapping_shr(by),
        x.saturating_add(y),
        x.saturating_sub(y),
        x.saturating_mul(y),
        x.abs_diff(y),
        u64::MAX - x,
        x.min(y) ^ x.max(y) | x.clamp(3, 90),
        (0..by % 20).fold(1, |power, _| power * (x % 7)),
        u64::from(x.count_ones() == 1) + 2 * u64::from(multiple) + ceil.wrapping_mul(4),
    ]
    .map(Expected::Exactly)
}

fn run(device: &Device, mut inputs: Vec<(u64, u64)>) -> Check {
    // Only the last formula may overflow.
    inputs.retain(|(x, y)| x / (y | 1) < 1 << 60);
    let names: [&str; EACH] = std::array::from_fn(|_| "a method");
    binary(
        names,
        &inputs,
        |a, b, out, n| wide_kernel(a, b, out).over(n).run_on(device),
        reference,
    )
}

fn wide(device: &Device) -> Check {
    run(device, pairs::<u64, u64>(38, 300))
}

fn small(device: &Device) -> Check {
    let mut random = Random::new(39);
    let mut next = || random.below(300);
    run(device, (0..300).map(|_| (next(), next())).collect())
}

/// The launch shows that all values fit 32 bits, so devices may compute in 32 bits; the results must be those of 64.
#[kernel]
fn narrow_kernel(a: &[u32], b: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let x = (a[i] & 0x7fff) as usize;
    let y = (b[i] & 0xff) as usize;
    out[9 * i] = x.count_ones();
    out[9 * i + 1] = x.count_zeros();
    out[9 * i + 2] = x.saturating_sub(y) as u32;
    out[9 * i + 3] = x.saturating_mul(y) as u32;
    out[9 * i + 4] = x.abs_diff(y) as u32;
    out[9 * i + 5] = (x >> (b[i] % 32)) as u32;
    out[9 * i + 6] = x.wrapping_shr(b[i] % 32) as u32;
    out[9 * i + 7] = x.is_power_of_two() as u32;
    out[9 * i + 8] = x.div_ceil(y + 1) as u32;
}

fn narrow(device: &Device) -> Check {
    let names: [&str; 9] = std::array::from_fn(|_| "a method");
    binary(
        names,
        &narrow_inputs(),
        |a, b, out, n| narrow_kernel(a, b, out).over(n).run_on(device),
        |a, b| {
            let (x, y) = (u64::from(a & 0x7fff), u64::from(b & 0xff));
            let ones = x.count_ones();
            [
                ones,
                64 - ones,
                x.saturating_sub(y) as u32,
                (x * y) as u32,
                x.abs_diff(y) as u32,
                (x >> (b % 32)) as u32,
                (x >> (b % 32)) as u32,
                u32::from(ones == 1),
                x.div_ceil(y + 1) as u32,
            ]
            .map(Expected::Exactly)
        },
    )
}

/// The same for counts of zero bits, of which a 64-bit number has more.
#[kernel]
fn zeros_kernel(a: &[u32], b: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let x = (a[i] & 0x7fff) as usize;
    let y = (b[i] & 0xff) as usize;
    out[4 * i] = x.leading_zeros();
    out[4 * i + 1] = x.trailing_zeros();
    out[4 * i + 2] = i.leading_zeros() + a.len().leading_zeros();
    out[4 * i + 3] = (x * y).trailing_zeros();
}

fn zeros(device: &Device) -> Check {
    let inputs = narrow_inputs();
    let n = inputs.len() as u64;
    let index = std::cell::Cell::new(0u64);
    binary(
        ["leading", "trailing", "of lengths", "of products"],
        &inputs,
        |a, b, out, n| zeros_kernel(a, b, out).over(n).run_on(device),
        |a, b| {
            let i = index.replace(index.get() + 1);
            let (x, y) = (u64::from(a & 0x7fff), u64::from(b & 0xff));
            [
                x.leading_zeros(),
                x.trailing_zeros(),
                i.leading_zeros() + n.leading_zeros(),
                (x * y).trailing_zeros(),
            ]
            .map(Expected::Exactly)
        },
    )
}

fn narrow_inputs() -> Vec<(u32, u32)> {
    let mut random = Random::new(40);
    let mut inputs: Vec<(u32, u32)> = (0..300)
        .map(|_| (random.bits() as u32, random.bits() as u32))
        .collect();
    inputs.extend([(0, 0), (0, 1), (1, 0), (1 << 14, 40)]);
    inputs
}

/// Small numbers from which the methods make large ones.
#[kernel]
fn widened_kernel(a: &[u32], b: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let x = (a[i] & 0x7fff) as usize;
    let y = (b[i] & 0xff) as usize;
    out[7 * i] = (!x >> 60) as u32;
    out[7 * i + 1] = x.rotate_left(40).trailing_zeros();
    out[7 * i + 2] = x.wrapping_sub(y) as u32;
    out[7 * i + 3] = (x.wrapping_sub(y) > 0xffff_ffff) as u32;
    out[7 * i + 4] = (i.wrapping_sub(1) as f32 * 0.0) as u32;
    out[7 * i + 5] = (x >> (b[i] % 64)) as u32;
    out[7 * i + 6] = x.wrapping_shr(b[i]) as u32;
}

fn widened(device: &Device) -> Check {
    binary(
        [
            "!",
            "rotate_left",
            "wrapping_sub",
            "wrapping_sub >",
            "wrapping_sub as",
            ">>",
            "wrapping_shr",
        ],
        &narrow_inputs(),
        |a, b, out, n| widened_kernel(a, b, out).over(n).run_on(device),
        |a, b| {
            let (x, y) = (u64::from(a & 0x7fff), u64::from(b & 0xff));
            [
                15,
                x.rotate_left(40).trailing_zeros(),
                x.wrapping_sub(y) as u32,
                u32::from(x < y),
                0,
                (x >> (b % 64)) as u32,
                (x >> (b % 64)) as u32,
            ]
            .map(Expected::Exactly)
        },
    )
}

/// Euclidean division, and casts from and to all widths.
#[kernel]
fn rest_kernel(a: &[u64], b: &[u64], out: &mut [u64]) {
    let i = global_idx_x();
    let x = a[i] as usize;
    let y = b[i] as usize;
    out[7 * i] = x.div_euclid(y | 1) as u64;
    out[7 * i + 1] = x.rem_euclid(y | 1) as u64;
    out[7 * i + 2] = (x as f64).to_bits();
    out[7 * i + 3] = (x as f64 * 1.5) as usize as u64;
    out[7 * i + 4] = x as i8 as usize as u64;
    out[7 * i + 5] = x as i16 as usize as u64;
    out[7 * i + 6] = (x as f32 as usize as u64) ^ (x as u16 as usize as u64);
}

fn rest(device: &Device) -> Check {
    binary(
        [
            "div_euclid",
            "rem_euclid",
            "f64",
            "* 1.5",
            "i8",
            "i16",
            "f32 u16",
        ],
        &pairs::<u64, u64>(41, 300),
        |a, b, out, n| rest_kernel(a, b, out).over(n).run_on(device),
        |x, y| {
            let by = y | 1;
            // Signed numbers are sign-extended.
            let signed = |bits: u32| {
                let low = x % (1 << bits);
                let sign = low >> (bits - 1);
                low.wrapping_sub(sign << bits)
            };
            let half = x as f64 * 1.5;
            let saturated = if half >= 2f64.powi(64) {
                u64::MAX
            } else {
                half as u64
            };
            [
                x / by,
                x - x / by * by,
                (x as f64).to_bits(),
                saturated,
                signed(8),
                signed(16),
                (x as f32 as u64) ^ (x % (1 << 16)),
            ]
            .map(Expected::Exactly)
        },
    )
}
