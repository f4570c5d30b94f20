//! Chains of `as`, none of whose links may be dropped.

use crate::check::{Check, Expected, unary};
use crate::input::values;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("casts/chains/32", &[], narrow),
    Case::new("casts/chains/64", &[Capability::I64], wide),
    Case::new("casts/chains/float", &[], float),
    Case::new(
        "casts/chains/f64",
        &[Capability::F64, Capability::I64],
        double,
    ),
    Case::new("casts/chains/words", &[Capability::I64], words),
    Case::new(
        "casts/chains/words/f64",
        &[Capability::F64, Capability::I64],
        words_f64,
    ),
];

#[kernel]
fn narrow_kernel(a: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    out[3 * i] = a[i] as u32 as i32;
    out[3 * i + 1] = a[i] as f32 as i32;
    out[3 * i + 2] = a[i] as u32 as f32 as i32;
}

fn narrow(device: &Device) -> Check {
    unary(
        ["u32 i32", "f32 i32", "u32 f32 i32"],
        &values::<i32>(82, 300),
        |a, out, n| narrow_kernel(a, out).over(n).run_on(device),
        |a| {
            let through = |x: i64| (x as f32 as f64).min(2_147_483_647.0) as i32;
            let unsigned = if a < 0 {
                i64::from(a) + (1 << 32)
            } else {
                a.into()
            };
            [a, through(a.into()), through(unsigned)].map(Expected::Exactly)
        },
    )
}

#[kernel]
fn wide_kernel(a: &[i64], out: &mut [i64]) {
    let i = global_idx_x();
    out[4 * i] = a[i] as i32 as i64;
    out[4 * i + 1] = a[i] as u32 as i64;
    out[4 * i + 2] = a[i] as i32 as u32 as i64;
    out[4 * i + 3] = a[i] as u32 as i32 as i64;
}

fn wide(device: &Device) -> Check {
    unary(
        ["i32 i64", "u32 i64", "i32 u32 i64", "u32 i32 i64"],
        &values::<i64>(83, 300),
        |a, out, n| wide_kernel(a, out).over(n).run_on(device),
        |a| {
            let low = a.rem_euclid(1 << 32);
            let signed = if low < 1 << 31 { low } else { low - (1 << 32) };
            [signed, low, low, signed].map(Expected::Exactly)
        },
    )
}

#[kernel]
fn float_kernel(a: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    out[3 * i] = a[i] as i32 as f32;
    out[3 * i + 1] = a[i] as u32 as f32;
    out[3 * i + 2] = a[i] as i32 as u32 as f32;
}

fn float(device: &Device) -> Check {
    unary(
        ["i32 f32", "u32 f32", "i32 u32 f32"],
        &values::<f32>(84, 300),
        |a, out, n| float_kernel(a, out).over(n).run_on(device),
        |a| {
            let whole = if a.is_nan() {
                0.0
            } else {
                f64::from(a).trunc() + 0.0
            };
            let signed = whole.clamp(-2_147_483_648.0, 2_147_483_647.0);
            let unsigned = whole.clamp(0.0, 4_294_967_295.0);
            let wrapped = if signed < 0.0 {
                signed + 4_294_967_296.0
            } else {
                signed
            };
            [signed, unsigned, wrapped].map(|x| Expected::Exactly(x as f32))
        },
    )
}

#[kernel]
fn double_kernel(a: &[f64], out: &mut [f64]) {
    let i = global_idx_x();
    out[4 * i] = a[i] as f32 as f64;
    out[4 * i + 1] = a[i] as i64 as f64;
    out[4 * i + 2] = a[i] as i64 as i32 as f64;
    out[4 * i + 3] = a[i] as u64 as f32 as f64;
}

fn double(device: &Device) -> Check {
    let mut inputs = values::<f64>(85, 300);
    // The device may flush a subnormal `f32` in between.
    inputs.retain(|&a| !(a as f32).is_subnormal());
    unary(
        ["f32 f64", "i64 f64", "i64 i32 f64", "u64 f32 f64"],
        &inputs,
        |a, out, n| double_kernel(a, out).over(n).run_on(device),
        |a| {
            let whole = if a.is_nan() { 0.0 } else { a.trunc() + 0.0 };
            let bound = 2f64.powi(63);
            let signed = whole.clamp(-bound, bound);
            let exact = if signed == bound {
                i128::from(i64::MAX)
            } else {
                signed as i128
            };
            let low = exact.rem_euclid(1 << 32);
            let low = if low < 1 << 31 { low } else { low - (1 << 32) };
            let unsigned = whole.clamp(0.0, 2.0 * bound) as f32;
            [f64::from(a as f32), signed, low as f64, f64::from(unsigned)].map(Expected::Exactly)
        },
    )
}

// Takes low bits of integers that a float has rounded. Neither the rounding nor the width of the cast may be dropped.
macro_rules! words {
    ($case:ident $kernel:ident $float:ident) => {
        #[kernel]
        fn $kernel(a: &[u64], out: &mut [u64]) {
            let i = global_idx_x();
            out[4 * i] = a[i] as $float as u64;
            out[4 * i + 1] = a[i] as $float as u64 as u32 as u64;
            out[4 * i + 2] = 1 << (a[i] as $float as u64 & 63);
            out[4 * i + 3] = a[i] as i64 as $float as i64 as u32 as u64;
        }

        fn $case(device: &Device) -> Check {
            unary(
                ["u64", "u64 u32", "u64 & 63", "i64 u32"],
                &values::<u64>(86, 300),
                |a, out, n| $kernel(a, out).over(n).run_on(device),
                |a| {
                    let rounded = (a as $float as i128).min(u64::MAX.into());
                    let signed = (a as i64 as $float as i128).min(i64::MAX.into());
                    let low = |x: i128| x.rem_euclid(1 << 32);
                    let expected = [rounded, low(rounded), 1 << (rounded % 64), low(signed)];
                    expected.map(|x| Expected::Exactly(x as u64))
                },
            )
        }
    };
}

words!(words words_kernel f32);
words!(words_f64 words_f64_kernel f64);
