//! `bf16`: every number in conversions and methods, pairs of numbers in operators, and values in every kind of place.
//!
//! The cases that run on every device build `bf16`s from 32-bit words and return `f32`s, which hold every `bf16`.

mod memory;
mod numbers;
mod operators;

use crate::Case;
use crate::check::Expected;
use crate::input::Sample;
use sarek::bf16;
use sarek::testing::tolerance::{Class, Tolerance};

pub const CASES: &[&[Case]] = &[numbers::CASES, operators::CASES, memory::CASES];

/// The value of these bits, from the definition of the format.
fn defined(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 7 & 0xff), f64::from(bits & 0x7f));
    let size = match exponent {
        0 => fraction * 2f64.powi(-133),
        0xff if fraction == 0.0 => f64::INFINITY,
        0xff => f64::NAN,
        e => (128.0 + fraction) * 2f64.powi(e - 134),
    };
    if bits < 0x8000 { size } else { -size }
}

/// Rounds to the nearest `bf16`, and returns it as an `f32`.
fn round(x: f32) -> f32 {
    bf16::from_f32(x).to_f32()
}

/// Expects this `f32`, or zero if it is subnormal and the device flushes subnormals.
fn expected(class: Class, x: f32) -> Expected<f32> {
    match x.is_subnormal() && !class.keeps_subnormals() {
        true => Expected::Near(
            x.into(),
            Tolerance {
                ulps: 0.0,
                absolute: 0.0,
                flush: true,
            },
        ),
        false => Expected::Exactly(x),
    }
}

/// True if a device may replace one of these numbers by zero.
fn is_flushed(class: Class, numbers: &[f32]) -> bool {
    !class.keeps_subnormals() && numbers.iter().any(|x| x.is_subnormal())
}

/// Edge values and random ones, as words.
fn words(seed: u64, random: usize) -> Vec<u32> {
    let all = crate::input::values::<bf16>(seed, random);
    all.into_iter().map(|x| x.to_bits().into()).collect()
}

/// Each pair of edge values, and random pairs, as words.
fn pairs(seed: u64, random: usize) -> Vec<(u32, u32)> {
    let all = crate::input::pairs::<bf16, bf16>(seed, random);
    all.into_iter()
        .map(|(x, y)| (x.to_bits().into(), y.to_bits().into()))
        .collect()
}

/// The `bf16` whose bits are the low half of a word, as an `f32`.
fn number(word: u32) -> f32 {
    defined(word as u16) as f32
}

/// True if both have the same bits, or both are NaN.
fn is_same(a: bf16, b: bf16) -> bool {
    a.same(b)
}
