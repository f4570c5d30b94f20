//! `usize`: 64 bits wide wherever a value needs them.

use crate::check::{Check, Expected, binary};
use crate::input::{Random, pairs};
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("operators/usize/wide", &[Capability::I64], wide),
    Case::new("operators/usize/narrow", &[], narrow),
];

#[kernel]
fn wide_kernel(a: &[u64], b: &[u64], out: &mut [u64]) {
    let i = global_idx_x();
    let x = a[i] as usize;
    let y = b[i] as usize;
    out[8 * i] = x.wrapping_add(y) as u64;
    out[8 * i + 1] = x.wrapping_mul(y) as u64;
    out[8 * i + 2] = (x & y) as u64;
    out[8 * i + 3] = (x >> 33 | y << 31) as u64;
    out[8 * i + 4] = (x / (y | 1)) as u64;
    out[8 * i + 5] = (x > y) as u64;
    out[8 * i + 6] = x.leading_zeros() as u64;
    out[8 * i + 7] = x.saturating_add(y) as u64;
}

fn wide(device: &Device) -> Check {
    binary(
        [
            "wrapping_add",
            "wrapping_mul",
            "&",
            "shifts",
            "/",
            ">",
            "leading_zeros",
            "saturating",
        ],
        &pairs::<u64, u64>(36, 200),
        |a, b, out, n| wide_kernel(a, b, out).over(n).run_on(device),
        |x, y| {
            let (p, q) = (u128::from(x), u128::from(y));
            let sum = p + q;
            [
                sum as u64,
                (p.wrapping_mul(q)) as u64,
                !(!x | !y),
                (x / (1 << 33)) | ((q * (1 << 31)) as u64),
                if y % 2 == 0 { x / (y + 1) } else { x / y },
                u64::from(p > q),
                (0..64).rev().take_while(|k| p >> k == 0).count() as u64,
                if sum > u128::from(u64::MAX) {
                    u64::MAX
                } else {
                    sum as u64
                },
            ]
            .map(Expected::Exactly)
        },
    )
}

/// Values that fit 32 bits at every step, also for devices without 64-bit integers.
#[kernel]
fn narrow_kernel(a: &[u32], b: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let x = (a[i] & 0x7fff) as usize;
    let y = (b[i] & 0xff) as usize;
    out[5 * i] = (x + y) as u32;
    out[5 * i + 1] = (x * y) as u32;
    out[5 * i + 2] = (x / (y + 1)) as u32;
    out[5 * i + 3] = (x % (y + 1)) as u32;
    out[5 * i + 4] = x.min(y) as u32;
}

fn narrow(device: &Device) -> Check {
    let mut random = Random::new(37);
    let inputs: Vec<(u32, u32)> = (0..300)
        .map(|_| (random.bits() as u32, random.bits() as u32))
        .collect();
    binary(
        ["+", "*", "/", "%", "min"],
        &inputs,
        |a, b, out, n| narrow_kernel(a, b, out).over(n).run_on(device),
        |a, b| {
            let (x, y) = (a % 0x8000, b % 0x100);
            let quotient = x / (y + 1);
            [
                x + y,
                x * y,
                quotient,
                x - quotient * (y + 1),
                if x < y { x } else { y },
            ]
            .map(Expected::Exactly)
        },
    )
}
