//! `bf16`: all of them under conversions and methods, pairs under operators, and wherever values stand.
//!
//! What runs on every device takes the bits from words and gives `f32`s, which hold every `bf16`.

mod memory;
mod numbers;
mod operators;

use crate::Case;
use crate::check::Due;
use crate::input::Sample;
use sarek::bf16;
use sarek::testing::tolerance::{Class, Tolerance};

pub const CASES: &[&[Case]] = &[numbers::CASES, operators::CASES, memory::CASES];

/// From the definition of the format.
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

/// The nearest one, as an `f32`.
fn round(x: f32) -> f32 {
    bf16::from_f32(x).to_f32()
}

/// This `f32`; if it is subnormal, zero on devices that flush.
fn due(class: Class, x: f32) -> Due<f32> {
    match x.is_subnormal() && !class.keeps_subnormals() {
        true => Due::Near(
            x.into(),
            Tolerance {
                ulps: 0.0,
                absolute: 0.0,
                flush: true,
            },
        ),
        false => Due::Exactly(x),
    }
}

/// May a device take one of these for zero?
fn is_flushed(class: Class, numbers: &[f32]) -> bool {
    !class.keeps_subnormals() && numbers.iter().any(|x| x.is_subnormal())
}

/// Edge values and random ones, as words.
fn words(seed: u64, random: usize) -> Vec<u32> {
    let all = crate::input::values::<bf16>(seed, random);
    all.into_iter().map(|x| x.to_bits().into()).collect()
}

/// Each edge value beside each, and random ones, as words.
fn pairs(seed: u64, random: usize) -> Vec<(u32, u32)> {
    let all = crate::input::pairs::<bf16, bf16>(seed, random);
    all.into_iter()
        .map(|(x, y)| (x.to_bits().into(), y.to_bits().into()))
        .collect()
}

/// The number of a word.
fn number(word: u32) -> f32 {
    defined(word as u16) as f32
}

/// Are both the same, or no numbers?
fn is_same(a: bf16, b: bf16) -> bool {
    a.same(b)
}
