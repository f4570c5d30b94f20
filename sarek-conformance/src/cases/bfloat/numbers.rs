//! Every `bf16` in conversions, classifications and methods.

use super::{defined, expected, is_flushed, number, round, words};
use crate::check::{Check, Expected, expect_within, sentinel_filled, unary};
use crate::{Capability, Case};
use sarek::prelude::*;
use sarek::testing::tolerance::{Class, Tolerance};

pub const CASES: &[Case] = &[
    Case::new("bfloat/widened", &[], widened),
    Case::new("bfloat/narrowed", &[], narrowed),
    Case::new("bfloat/narrowed_f64", &[Capability::F64], narrowed_f64),
    Case::new("bfloat/bits", &[], bits),
    Case::new("bfloat/tests", &[], tests),
    Case::new("bfloat/methods", &[], methods),
    Case::new("bfloat/integers", &[], integers),
    Case::new("bfloat/long_integers", &[Capability::I64], long_integers),
];

/// The bits of every `bf16`, NaNs included.
fn all() -> Vec<u32> {
    (0..=u16::MAX).map(u32::from).collect()
}

#[kernel]
fn widened_kernel(a: &[u32], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = bf16::from_bits(a[i] as u16).to_f32();
}

fn widened(device: &Device) -> Check {
    let class = Class::of(device);
    unary(
        ["to_f32"],
        &all(),
        |a, out, n| widened_kernel(a, out).over(n).run_on(device),
        |a| [expected(class, number(a))],
    )
}

#[kernel]
fn narrowed_kernel(a: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = bf16::from_f32(a[i]).to_f32();
}

/// Every number, every tie between neighbours, and the numbers next to each tie, each with its rounded result.
fn near_ties(next: impl Fn(f64) -> [f64; 2]) -> Vec<(f64, f32)> {
    let mut all = vec![];
    for low in 0..0x7f80_u16 {
        // Rounding takes infinity for the number that would follow the largest one.
        let above = match low {
            0x7f7f => 2f64.powi(128),
            _ => defined(low + 1),
        };
        let tie = (defined(low) + above) / 2.0;
        let [before, after] = next(tie);
        all.extend([
            (defined(low), low),
            (before, low),
            (tie, low + (low & 1)),
            (after, low + 1),
        ]);
    }
    let both = |(x, bits): (f64, u16)| [(x, bits), (-x, bits | 0x8000)];
    let all = all.into_iter().flat_map(both);
    let all = all.map(|(x, bits)| (x, defined(bits) as f32));
    all.chain([
        (f64::INFINITY, f32::INFINITY),
        (f64::NAN, f32::NAN),
        (f32::MAX.into(), f32::INFINITY),
    ])
    .collect()
}

fn narrowed(device: &Device) -> Check {
    let class = Class::of(device);
    let cases = near_ties(|tie| {
        let tie = tie as f32;
        [tie.next_down().into(), tie.next_up().into()]
    });
    let inputs: Vec<f32> = cases.iter().map(|(x, _)| *x as f32).collect();
    let expected =
        inputs
            .iter()
            .zip(&cases)
            .map(|(x, (_, nearest))| match is_flushed(class, &[*x]) {
                true => Expected::Near(0.0, FLUSHED),
                false => expected(class, *nearest),
            });
    let mut out = sentinel_filled(inputs.len());
    narrowed_kernel(&Vector::from_slice(&inputs), &mut out)
        .over(inputs.len())
        .run_on(device)?;
    let input = |i: usize| format!(" {:e}", inputs[i]);
    expect_within("from_f32", &out, &expected.collect::<Vec<_>>(), &input)
}

/// Accepts zero and every subnormal number.
const FLUSHED: Tolerance = Tolerance {
    ulps: 0.0,
    absolute: 0.0,
    flush: true,
};

#[kernel]
fn narrowed_f64_kernel(a: &[f64], out: &mut [f64]) {
    let i = global_idx_x();
    // Converting there and back a second time must not change the result.
    out[i] = bf16::from_f64(bf16::from_f64(a[i]).to_f64()).to_f64();
}

fn narrowed_f64(device: &Device) -> Check {
    let class = Class::of(device);
    // Some inputs differ from the tie only in the low word of the `f64`, others in the high word.
    let mut cases = near_ties(|tie| [tie.next_down(), tie.next_up()]);
    cases.extend(near_ties(|tie| {
        [-1.0, 1.0].map(|sign| tie * (1.0 + sign * 2f64.powi(-12)))
    }));
    // The conversion goes through an `f32`, which the device may flush to zero.
    let is_kept = |x: f64| class.keeps_subnormals() || x.abs() >= f32::MIN_POSITIVE.into();
    let cases: Vec<_> = cases
        .into_iter()
        .filter(|(x, nearest)| is_kept(*x) && is_kept((*nearest).into()))
        .collect();
    let inputs: Vec<f64> = cases.iter().map(|case| case.0).collect();
    // The expected results are those of the `half` crate, which ignores the low word of the fraction.
    let expected = inputs
        .iter()
        .map(|x| Expected::Exactly(bf16::from_f64(*x).to_f64()));
    let mut out = sentinel_filled(inputs.len());
    narrowed_f64_kernel(&Vector::from_slice(&inputs), &mut out)
        .over(inputs.len())
        .run_on(device)?;
    let input = |i: usize| format!(" {:e}", inputs[i]);
    expect_within("from_f64", &out, &expected.collect::<Vec<_>>(), &input)
}

#[kernel]
fn bits_kernel(a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let x = bf16::from_bits(a[i] as u16);
    out[3 * i] = x.to_bits() as u32;
    out[3 * i + 1] = x.to_f32().to_bits();
    // Only the upper half of this `f32` is set, so nothing is rounded.
    out[3 * i + 2] = bf16::from_f32(f32::from_bits(a[i] << 16)).to_bits() as u32;
}

fn bits(device: &Device) -> Check {
    let class = Class::of(device);
    unary(
        ["to_bits", "to_f32", "from_f32"],
        &all(),
        |a, out, n| bits_kernel(a, out).over(n).run_on(device),
        |a| match number(a).is_nan() || is_flushed(class, &[number(a)]) {
            true => [Expected::Anything; 3],
            false => [a, a << 16, a].map(Expected::Exactly),
        },
    )
}

#[kernel]
fn tests_kernel(a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let x = bf16::from_bits(a[i] as u16);
    let mut found = 0;
    if x.is_nan() {
        found += 1;
    }
    if x.is_infinite() {
        found += 2;
    }
    if x.is_finite() {
        found += 4;
    }
    if x.is_sign_negative() {
        found += 8;
    }
    if x.is_sign_positive() {
        found += 16;
    }
    if x == bf16::ZERO {
        found += 32;
    }
    out[i] = found;
}

fn tests(device: &Device) -> Check {
    let class = Class::of(device);
    unary(
        ["what it is"],
        &all(),
        |a, out, n| tests_kernel(a, out).over(n).run_on(device),
        |a| {
            let kind = match a & 0x7fff {
                // A conversion may lose the sign of a NaN.
                0x7f81.. => return [Expected::Anything],
                0x7f80 => 2,
                0 => 4 + 32,
                _ => 4,
            };
            let sign = if a >= 0x8000 { 8 } else { 16 };
            [match is_flushed(class, &[number(a)]) {
                true => Expected::Anything,
                false => Expected::Exactly(kind + sign),
            }]
        },
    )
}

#[kernel]
fn methods_kernel(a: &[u32], out: &mut [f32]) {
    let i = global_idx_x();
    let x = bf16::from_bits(a[i] as u16);
    out[10 * i] = (-x).to_f32();
    out[10 * i + 1] = x.abs().to_f32();
    out[10 * i + 2] = x.signum().to_f32();
    out[10 * i + 3] = x.floor().to_f32();
    out[10 * i + 4] = x.ceil().to_f32();
    out[10 * i + 5] = x.round().to_f32();
    out[10 * i + 6] = x.trunc().to_f32();
    out[10 * i + 7] = x.fract().to_f32();
    out[10 * i + 8] = x.clamp(bf16::NEG_ONE, bf16::PI).to_f32();
    out[10 * i + 9] = x.sqrt().to_f32();
}

fn methods(device: &Device) -> Check {
    let class = Class::of(device);
    unary(
        [
            "-", "abs", "signum", "floor", "ceil", "round", "trunc", "fract", "clamp", "sqrt",
        ],
        &all(),
        |a, out, n| methods_kernel(a, out).over(n).run_on(device),
        |a| {
            let x = number(a);
            if is_flushed(class, &[x]) {
                return [Expected::Anything; 10];
            }
            let mut all = [
                -x,
                x.abs(),
                x.signum(),
                x.floor(),
                x.ceil(),
                x.round(),
                x.trunc(),
                x.fract(),
                x.clamp(-1.0, round(std::f32::consts::PI)),
                x.sqrt(),
            ]
            .map(|exact| Expected::Exactly(round(exact)));
            all[7] = match x.is_finite() {
                true => Expected::Equal(round(x.fract())),
                false => Expected::Anything,
            };
            all
        },
    )
}

#[kernel]
fn integers_kernel(a: &[i32], out: &mut [f32]) {
    let i = global_idx_x();
    let v = a[i];
    out[6 * i] = bf16::from_f32(v as f32).to_f32();
    out[6 * i + 1] = bf16::from_f32(v as u32 as f32).to_f32();
    out[6 * i + 2] = bf16::from(v as i8).to_f32();
    out[6 * i + 3] = bf16::from(v as u8).to_f32();
    out[6 * i + 4] = by_way_of(bf16::from_f32(0.5), v);
    // A float outside the range of the integer type saturates.
    out[6 * i + 5] = bf16::from_bits(v as u16).to_f32() as i32 as f32;
}

/// Converts an integer to a float and back.
#[device]
fn by_way_of<T: Float>(least: T, v: i32) -> f32 {
    let there = T::from_i32(v).max(least) + T::from_u32(v as u32 & 255);
    there.to_u32() as f32 + there.to_i32() as f32
}

fn integers(device: &Device) -> Check {
    let mut inputs: Vec<i32> = words(201, 500).iter().map(|&word| word as i32).collect();
    inputs.extend((0..31).flat_map(|k| [1 << k, (1 << k) + 1, -(1 << k) - 1, 3 << k]));
    inputs.extend([i32::MIN, i32::MAX, 16_777_217, 33_423_361, -33_423_361]);
    unary(
        ["i32", "u32", "i8", "u8", "generic", "to i32"],
        &inputs,
        |a, out, n| integers_kernel(a, out).over(n).run_on(device),
        |v| {
            let there = round(v as f32).max(0.5);
            let there = round(there + round((v & 255) as f32));
            let there = there as u32 as f32 + there as i32 as f32;
            let back = number(v as u32 & 0xffff) as i32 as f32;
            [
                round(v as f32),
                round(v as u32 as f32),
                (v as i8).into(),
                (v as u8).into(),
                there,
                back,
            ]
            .map(Expected::Exactly)
        },
    )
}

#[kernel]
fn long_integers_kernel(a: &[i64], out: &mut [f32]) {
    let i = global_idx_x();
    let (v, x) = (a[i], bf16::from_f32(a[i] as f32));
    out[4 * i] = x.to_f32();
    out[4 * i + 1] = bf16::from_f32(v as u64 as f32).to_f32();
    out[4 * i + 2] = x.to_f32() as i64 as f32;
    out[4 * i + 3] = x.to_f32() as u64 as f32;
}

fn long_integers(device: &Device) -> Check {
    let powers = (0..63).flat_map(|k| [1i64 << k, (1 << k) + 1, -(1 << k) - 1, 255 << k]);
    let inputs: Vec<i64> = powers.chain([i64::MIN, i64::MAX, -1]).collect();
    unary(
        ["i64", "u64", "to i64", "to u64"],
        &inputs,
        |a, out, n| long_integers_kernel(a, out).over(n).run_on(device),
        |v| {
            let x = round(v as f32);
            [x, round(v as u64 as f32), x as i64 as f32, x as u64 as f32].map(Expected::Exactly)
        },
    )
}
