//! Casts to and from `usize`, which has 64 bits wherever the difference shows.

use crate::check::{Check, Expected, unary};
use crate::input::values;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("casts/usize/i32", &[Capability::I64], i32_case),
    Case::new("casts/usize/i64", &[Capability::I64], i64_case),
    Case::new("casts/usize/f32", &[Capability::I64], f32_case),
];

#[kernel]
fn i32_kernel(a: &[i32], out: &mut [u64]) {
    let i = global_idx_x();
    out[3 * i] = a[i] as usize as u64;
    out[3 * i + 1] = a[i] as u32 as usize as u64;
    out[3 * i + 2] = a[i] as usize as i32 as u64;
}

fn i32_case(device: &Device) -> Check {
    unary(
        ["usize u64", "u32 usize u64", "usize i32 u64"],
        &values::<i32>(86, 200),
        |a, out, n| i32_kernel(a, out).over(n).run_on(device),
        |a| {
            let extended = i128::from(a).rem_euclid(1 << 64) as u64;
            [extended, extended % (1 << 32), extended].map(Expected::Exactly)
        },
    )
}

#[kernel]
fn i64_kernel(a: &[i64], out: &mut [i64]) {
    let i = global_idx_x();
    out[3 * i] = a[i] as usize as i64;
    out[3 * i + 1] = a[i] as usize as u32 as i64;
    out[3 * i + 2] = (a[i] as usize >> 40) as i64;
}

fn i64_case(device: &Device) -> Check {
    unary(
        ["usize i64", "usize u32 i64", "usize >> 40"],
        &values::<i64>(87, 200),
        |a, out, n| i64_kernel(a, out).over(n).run_on(device),
        |a| {
            let unsigned = i128::from(a).rem_euclid(1 << 64);
            [
                a,
                (unsigned % (1 << 32)) as i64,
                (unsigned / (1 << 40)) as i64,
            ]
            .map(Expected::Exactly)
        },
    )
}

#[kernel]
fn f32_kernel(a: &[f32], out: &mut [u64]) {
    let i = global_idx_x();
    out[2 * i] = a[i] as usize as u64;
    out[2 * i + 1] = (a[i] as usize as f32) as u64;
}

fn f32_case(device: &Device) -> Check {
    unary(
        ["usize u64", "usize f32 u64"],
        &values::<f32>(88, 200),
        |a, out, n| f32_kernel(a, out).over(n).run_on(device),
        |a| {
            let whole = if a.is_nan() {
                0
            } else {
                (f64::from(a).clamp(0.0, 1e30)) as u128
            };
            let cut = u64::try_from(whole).unwrap_or(u64::MAX);
            [cut, cut].map(Expected::Exactly)
        },
    )
}
