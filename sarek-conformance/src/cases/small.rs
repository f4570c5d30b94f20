//! Integers of 8 and 16 bits as locals and arguments, also on devices without buffers of them.

use crate::Case;
use crate::check::{Check, Expected, binary, expect, sentinel_filled, unary};
use crate::input::{SIZES, pairs, values};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("small/operators/i8", &[], i8_operators),
    Case::new("small/operators/u8", &[], u8_operators),
    Case::new("small/operators/i16", &[], i16_operators),
    Case::new("small/operators/u16", &[], u16_operators),
    Case::new("small/methods/i8", &[], i8_methods),
    Case::new("small/methods/u8", &[], u8_methods),
    Case::new("small/methods/i16", &[], i16_methods),
    Case::new("small/methods/u16", &[], u16_methods),
    Case::new("small/chains", &[], chains),
    Case::new("small/floats", &[], floats),
    Case::new("small/arguments", &[], arguments),
    Case::new("small/loops", &[], loops),
    Case::new("small/literals", &[], literals),
];

/// The number of type `$t` with the same low bits, from the definition.
macro_rules! wrapped {
    ($t:ident, $x:expr) => {{
        let modulus = 1i128 << $t::BITS;
        let low = $x.rem_euclid(modulus);
        let top = i128::from($t::MAX);
        if low > top { low - modulus } else { low }
    }};
}

macro_rules! operators {
    ($t:ident $case:ident $kernel:ident) => {
        #[kernel]
        fn $kernel(a: &[i32], b: &[i32], out: &mut [i32]) {
            let i = global_idx_x();
            let x = a[i] as $t;
            let y = b[i] as $t;
            out[12 * i] = x.wrapping_add(y) as i32;
            out[12 * i + 1] = x.wrapping_sub(y) as i32;
            // The product of two `u16` overflows an `int`.
            out[12 * i + 2] = x.wrapping_mul(y) as i32;
            out[12 * i + 3] = !x as i32;
            out[12 * i + 4] = (x & y | (x ^ y)) as i32;
            out[12 * i + 5] = (x << (y & 7)) as i32;
            out[12 * i + 6] = (x >> (y & 7)) as i32;
            out[12 * i + 7] = (x < y) as i32;
            out[12 * i + 8] = (!x > y) as i32;
            let mut half = x / 2;
            half /= 3;
            out[12 * i + 9] = half as i32;
            out[12 * i + 10] = x.wrapping_neg().rem_euclid(7) as i32;
            // Bits above the type's width are dropped before the shift.
            out[12 * i + 11] = (x.wrapping_mul(y).wrapping_add(y) >> 2) as i32;
        }

        fn $case(device: &Device) -> Check {
            binary(
                [
                    "+",
                    "-",
                    "*",
                    "!",
                    "| &",
                    "<<",
                    ">>",
                    "<",
                    "! >",
                    "/",
                    "rem_euclid",
                    "* + >>",
                ],
                &pairs::<i32, i32>(91, 300),
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |a, b| {
                    let to = |v: i128| wrapped!($t, v);
                    let (x, y) = (to(a.into()), to(b.into()));
                    let (not, power) = (to(-1 - x), 1i128 << y.rem_euclid(8));
                    [
                        to(x + y),
                        to(x - y),
                        to(x * y),
                        not,
                        to((x & y) + (x ^ y)),
                        to(x * power),
                        x.div_euclid(power),
                        (x < y).into(),
                        (not > y).into(),
                        x / 2 / 3,
                        to(-x).rem_euclid(7),
                        to(x * y + y).div_euclid(4),
                    ]
                    .map(|r| Expected::Exactly(r as i32))
                },
            )
        }
    };
}

operators!(i8 i8_operators operators_i8);
operators!(u8 u8_operators operators_u8);
operators!(i16 i16_operators operators_i16);
operators!(u16 u16_operators operators_u16);

macro_rules! methods {
    ($t:ident $case:ident $kernel:ident) => {
        #[kernel]
        fn $kernel(a: &[i32], b: &[i32], out: &mut [i32]) {
            let i = global_idx_x();
            let x = a[i] as $t;
            let y = b[i] as $t;
            let count = b[i] as u32;
            out[12 * i] = x.count_ones() as i32;
            out[12 * i + 1] = x.leading_zeros() as i32;
            out[12 * i + 2] = x.trailing_zeros() as i32;
            out[12 * i + 3] = x.rotate_left(count) as i32;
            out[12 * i + 4] = x.swap_bytes().reverse_bits().swap_bytes().reverse_bits() as i32;
            out[12 * i + 5] = x.saturating_add(y) as i32;
            out[12 * i + 6] = x.saturating_sub(y) as i32;
            out[12 * i + 7] = x.saturating_mul(y) as i32;
            out[12 * i + 8] = x.abs_diff(y) as i32;
            out[12 * i + 9] = x.min(y).clamp(3, 90) as i32;
            out[12 * i + 10] = x.wrapping_shl(count) as i32;
            out[12 * i + 11] = x.wrapping_shr(count) as i32;
        }

        fn $case(device: &Device) -> Check {
            binary(
                [
                    "count_ones",
                    "leading_zeros",
                    "trailing_zeros",
                    "rotate_left",
                    "there and back",
                    "saturating_add",
                    "saturating_sub",
                    "saturating_mul",
                    "abs_diff",
                    "min clamp",
                    "wrapping_shl",
                    "wrapping_shr",
                ],
                &pairs::<i32, i32>(92, 300),
                |a, b, out, n| $kernel(a, b, out).over(n).run_on(device),
                |a, b| {
                    let (x, y) = (wrapped!($t, i128::from(a)), wrapped!($t, i128::from(b)));
                    let width = $t::BITS as usize;
                    let bits: Vec<bool> = (0..width).map(|k| x >> k & 1 == 1).collect();
                    let saturated = |v: i128| v.min($t::MAX.into()).max($t::MIN.into());
                    let count = b.rem_euclid(width as i32) as usize;
                    let turned = (0..width)
                        .filter(|k| bits[(k + width - count) % width])
                        .fold(0i128, |all, k| all + (1 << k));
                    [
                        bits.iter().filter(|b| **b).count() as i128,
                        bits.iter().rev().take_while(|b| !**b).count() as i128,
                        bits.iter().take_while(|b| !**b).count() as i128,
                        wrapped!($t, turned),
                        x,
                        saturated(x + y),
                        saturated(x - y),
                        saturated(x * y),
                        (x - y).abs(),
                        x.min(y).clamp(3, 90),
                        wrapped!($t, x * (1 << count)),
                        x.div_euclid(1 << count),
                    ]
                    .map(|r| Expected::Exactly(r as i32))
                },
            )
        }
    };
}

methods!(i8 i8_methods methods_i8);
methods!(u8 u8_methods methods_u8);
methods!(i16 i16_methods methods_i16);
methods!(u16 u16_methods methods_u16);

/// Chains of `as`, none of whose links may be dropped.
#[kernel]
fn chains_kernel(a: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    out[8 * i] = a[i] as u8 as i32;
    out[8 * i + 1] = a[i] as i8 as i32;
    out[8 * i + 2] = a[i] as u8 as i8 as i32;
    out[8 * i + 3] = a[i] as i8 as u16 as i32;
    out[8 * i + 4] = a[i] as i8 as u32 as u16 as i16 as i32;
    out[8 * i + 5] = a[i] as u16 as u8 as u32 as i32;
    out[8 * i + 6] = a[i] as i16 as i8 as u8 as i32;
    out[8 * i + 7] = (a[i] as u8 as usize + a[i] as u16 as usize) as i32;
}

fn chains(device: &Device) -> Check {
    unary(
        [
            "u8",
            "i8",
            "u8 i8",
            "i8 u16",
            "i8 u32 u16 i16",
            "u16 u8 u32",
            "i16 i8 u8",
            "usize",
        ],
        &values::<i32>(93, 300),
        |a, out, n| chains_kernel(a, out).over(n).run_on(device),
        |a| {
            let a = i128::from(a);
            let (byte, signed) = (wrapped!(u8, a), wrapped!(i8, a));
            let extended = wrapped!(u16, signed);
            let sum = byte + wrapped!(u16, a);
            [byte, signed, signed, extended, signed, byte, byte, sum]
                .map(|r| Expected::Exactly(r as i32))
        },
    )
}

/// A float out of range gives the nearest bound, and NaN gives 0.
#[kernel]
fn floats_kernel(a: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    out[5 * i] = a[i] as i8 as f32;
    out[5 * i + 1] = a[i] as u8 as f32;
    out[5 * i + 2] = a[i] as i16 as f32;
    out[5 * i + 3] = a[i] as u16 as f32;
    out[5 * i + 4] = a[i] as i32 as u8 as f32;
}

fn floats(device: &Device) -> Check {
    let mut inputs = values::<f32>(94, 300);
    inputs.extend((-600..600).map(|k| k as f32 / 2.0));
    unary(
        ["i8", "u8", "i16", "u16", "i32 u8"],
        &inputs,
        |a, out, n| floats_kernel(a, out).over(n).run_on(device),
        |a| {
            let whole = if a.is_nan() {
                0.0
            } else {
                f64::from(a).trunc() + 0.0
            };
            let int = whole.clamp(-2_147_483_648.0, 2_147_483_647.0);
            [
                whole.clamp(-128.0, 127.0),
                whole.clamp(0.0, 255.0),
                whole.clamp(-32_768.0, 32_767.0),
                whole.clamp(0.0, 65_535.0),
                int.rem_euclid(256.0) + 0.0,
            ]
            .map(|r| Expected::Exactly(r as f32))
        },
    )
}

#[kernel]
fn arguments_kernel(a: i8, b: u8, c: i16, mut d: u16, flag: bool, out: &mut [i32]) {
    let i = global_idx_x();
    if i < out.len() {
        if flag {
            d = d.wrapping_add(1);
        }
        out[i] = a as i32 - b as i32 + c as i32 * d as i32 + i as u8 as i32;
    }
}

fn arguments(device: &Device) -> Check {
    for n in SIZES {
        for (a, b, c, d) in [
            (-128, 255, -32_768, 65_535),
            (127, 0, 32_767, 1),
            (-1, 1, -1, 0),
        ] {
            for flag in [false, true] {
                let mut out = sentinel_filled(n);
                arguments_kernel(a, b, c, d, flag, &mut out)
                    .over(n)
                    .run_on(device)?;
                let next = (i64::from(d) + i64::from(flag)) % 65_536;
                let sum = i64::from(a) - i64::from(b) + i64::from(c) * next;
                let expected: Vec<i32> = (0..n).map(|i| (sum + i as i64 % 256) as i32).collect();
                expect(&format!("({a}, {b}, {c}, {d}, {flag})"), &out, &expected)?;
            }
        }
    }
    Ok(())
}

/// Loops that run up to the ends of their types.
#[kernel]
fn loops_kernel(a: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    let first = a[i] as u8;
    let mut sum = 0;
    for k in first..=255 {
        sum += k as i32;
    }
    for k in -128..a[i] as i8 {
        sum += k as i32;
    }
    for k in (65_530..65_535u16).rev() {
        sum ^= k as i32;
    }
    let mut turns = first;
    while turns > 200 {
        turns -= 1;
        sum += 1;
    }
    out[i] = sum;
}

fn loops(device: &Device) -> Check {
    unary(
        ["sum"],
        &values::<i32>(95, 100),
        |a, out, n| loops_kernel(a, out).over(n).run_on(device),
        |a| {
            let first = i64::from(a).rem_euclid(256);
            let end = if first < 128 { first } else { first - 256 };
            let up: i64 = (first..256).sum();
            let down: i64 = (-128..end).sum();
            let mixed = (65_530..65_535i64).fold(up + down, |sum, k| sum ^ k);
            [Expected::Exactly((mixed + (first - 200).max(0)) as i32)]
        },
    )
}

const MASK: u8 = 0xf0;

#[kernel]
fn literals_kernel(out: &mut [i32]) {
    const NEGATIVE: i16 = -300;
    let i = global_idx_x();
    let least: i8 = -128;
    let small = 200u8;
    let one = 1;
    out[10 * i] = least as i32;
    out[10 * i + 1] = (small & MASK) as i32;
    out[10 * i + 2] = NEGATIVE as i32;
    out[10 * i + 3] = (small.wrapping_add(one) >> 3) as i32;
    out[10 * i + 4] = u16::MAX as i32;
    out[10 * i + 5] = i8::MIN as i32 - i8::MAX as i32;
    out[10 * i + 6] = -1i16 as u16 as i32;
    out[10 * i + 7] = 44u8 as i32 + 0xff_i32;
    out[10 * i + 8] = i16::BITS as i32;
    out[10 * i + 9] = (least.wrapping_abs() as u8 >> 1) as i32;
}

fn literals(device: &Device) -> Check {
    let expected = [-128, 192, -300, 25, 65_535, -255, 65_535, 299, 16, 64];
    let mut out = sentinel_filled(expected.len());
    literals_kernel(&mut out).over(1).run_on(device)?;
    expect("literals", &out, &expected)
}
