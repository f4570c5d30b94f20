//! `sin`, `cos`, `tan` of `f32`.
//!
//! Payne and Hanek's argument reduction (*SIGNUM Newsletter* 18, 1983), here for three ranges of
//! magnitude. The product of an `f32` and a 26-bit piece of 2/π is exact in `f64`. Multiples of
//! four quarter turns do not matter, so for a large argument the leading bits of 2/π are left out.
//! Every `f32` is reduced with an error of at most 2^-58 quarter turns.
//!
//! The functions of `f64` are std's: a reduction for all arguments needs a table, and costs more
//! than the call where vectors are short.

use std::f64::consts::FRAC_PI_2;

use super::parts::{low_bits, polynomial, round};

/// For magnitudes from 0, 2^43 and 2^86: a scale that makes the argument an integer (except the
/// first), and 2/π divided by that scale, modulo 4, in pieces of 26, 26, 26 and 53 bits.
const TURNS: [(f32, [f64; 5]); 3] = [
    (
        0.0,
        [
            1.0,
            0.6366197466850281,
            2.5682552973194106e-08,
            2.937095479631555e-16,
            6.074026489649846e-24,
        ],
    ),
    (
        8796093022208.0,
        [
            9.5367431640625e-07,
            0.2144300937652588,
            1.5209137949057094e-08,
            3.412464133916061e-17,
            1.2676879378635024e-23,
        ],
    ),
    (
        7.737125245533627e+25,
        [
            1.0842021724855044e-19,
            0.9924876093864441,
            5.424463100922594e-08,
            6.5054453072290315e-16,
            1.0688701468713467e-24,
        ],
    ),
];

/// Splits `x` into a number of quarter turns, of which only the two low bits matter, and the
/// remaining radians.
#[inline(always)]
fn reduce(x: f32) -> (u64, f64) {
    let ax = x.abs();
    let [mut scale, mut first, mut second, mut third, mut fourth] = TURNS[0].1;
    for (from, turns) in &TURNS[1..] {
        let beyond = ax >= *from;
        scale = if beyond { turns[0] } else { scale };
        first = if beyond { turns[1] } else { first };
        second = if beyond { turns[2] } else { second };
        third = if beyond { turns[3] } else { third };
        fourth = if beyond { turns[4] } else { fourth };
    }
    let x = f64::from(x);
    let scaled = x * scale;
    let a = scaled * first;
    // At this size the product is a multiple of 4.
    let a = if scaled.abs() < 562_949_953_421_312.0 {
        a
    } else {
        0.0
    }; // 2^49
    let whole_a = round(a);
    let b = (a - whole_a) + scaled * second;
    let whole_b = round(b);
    let c = (b - whole_b) + scaled * third;
    let whole_c = round(c);
    let rest = (c - whole_c) + scaled * fourth;
    // A small argument needs no reduction, and 2/π is too inexact for it.
    let small = ax < std::f32::consts::FRAC_PI_4;
    let n = low_bits(whole_a + whole_b + whole_c);
    let r = rest * FRAC_PI_2;
    (if small { 0 } else { n }, if small { x } else { r })
}

/// Returns `(sin r, cos r)` for `|r| <= π/4`, with an error of 2^-33.
#[inline(always)]
fn sin_cos(r: f64) -> (f64, f64) {
    let z = r * r;
    let sin = r
        * (1.0
            + z * polynomial!(z; -0.16666666640590805, 0.008333329280703246,
                -0.00019839304425991002, 2.7180462638253e-6));
    let cos = 1.0 - z * 0.5
        + z * z * polynomial!(z; 0.041666645583241305, -0.001388731090313096, 2.443250290495646e-5);
    (sin, cos)
}

/// The sine of `r` plus `n` quarter turns.
#[inline(always)]
fn quarter(n: u64, (sin, cos): (f64, f64)) -> f32 {
    let value = if n & 1 == 0 { sin } else { cos };
    f64::from_bits(value.to_bits() ^ ((n & 2) << 62)) as f32
}

#[inline(always)]
pub(super) fn sin_f32(x: f32) -> f32 {
    let (n, r) = reduce(x);
    quarter(n, sin_cos(r))
}

#[inline(always)]
pub(super) fn cos_f32(x: f32) -> f32 {
    let (n, r) = reduce(x);
    quarter(n.wrapping_add(1), sin_cos(r))
}

#[inline(always)]
pub(super) fn tan_f32(x: f32) -> f32 {
    let (n, r) = reduce(x);
    let (sin, cos) = sin_cos(r);
    let odd = n & 1 == 1;
    let (over, under) = (if odd { -cos } else { sin }, if odd { sin } else { cos });
    (over / under) as f32
}
