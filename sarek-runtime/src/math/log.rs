//! `ln`, `ln_1p`, `log2`, `log10`.
//!
//! The argument is `x = 2^k m` with `m` near 1. For `f32` the result comes from a minimax
//! polynomial in `f = m - 1`. For `f64` it is the series of `2 artanh(f / (2 + f))` as a minimax
//! polynomial, combined as fdlibm's `e_log.c` explains; for other bases the mantissa's logarithm is
//! in two parts, as in FreeBSD's `k_log.h`.

use super::parts::{exponent_and_mantissa, exponent_and_mantissa_f32, polynomial};

const LN_2_HI: f64 = 0.69314718060195446;
const LN_2_LO: f64 = -4.2009150726810846e-11;

macro_rules! special {
    ($name:ident, $t:ident) => {
        /// Replaces a logarithm's result where `x` is not positive and finite.
        #[inline(always)]
        fn $name(x: $t, result: $t) -> $t {
            let result = if x < $t::INFINITY { result } else { x };
            let other = if x == 0.0 { $t::NEG_INFINITY } else { $t::NAN };
            if x > 0.0 { result } else { other }
        }
    };
}
special!(special_f32, f32);
special!(special_f64, f64);

/// Returns `(k, f, g)` with `ln x = k ln 2 + f + g`; `f` is exact.
#[inline(always)]
fn logarithm_f32(x: f32) -> (f32, f32, f32) {
    let (k, m) = exponent_and_mantissa_f32(x);
    let f = m - 1.0;
    let z = f * f;
    let q = polynomial!(f; 0.333333135, -0.250000089, 0.200021178, -0.166679934, 0.142195582,
        -0.124056071, 0.118881524, -0.116756171, 0.0674663708);
    (k, f, f * z * q - 0.5 * z)
}

#[inline(always)]
pub(super) fn ln_f32(x: f32) -> f32 {
    const LN_2_HI: f32 = 0.693145751953125;
    const LN_2_LO: f32 = 1.4286068e-6;
    let (k, f, g) = logarithm_f32(x);
    special_f32(x, k * LN_2_HI + (f + (g + k * LN_2_LO)))
}

/// Computes `k * step + (f + g) * factor`, with both constants in two parts. The first part of
/// `step` has 15 bits, that of `factor` 12.
#[inline(always)]
fn to_base_f32(x: f32, step: (f32, f32), factor: (f32, f32)) -> f32 {
    let (k, f, g) = logarithm_f32(x);
    let f_hi = f32::from_bits(f.to_bits() & 0xffff_f000);
    let hi = f_hi * factor.0;
    let lo = (f - f_hi) * factor.0 + f * factor.1 + g * (factor.0 + factor.1);
    let base = k * step.0;
    let sum = base + hi;
    let lost = (base - sum) + hi;
    special_f32(x, sum + (lost + (lo + k * step.1)))
}

#[inline(always)]
pub(super) fn log2_f32(x: f32) -> f32 {
    to_base_f32(x, (1.0, 0.0), (1.44287109375, -0.000176052861))
}

#[inline(always)]
pub(super) fn log10_f32(x: f32) -> f32 {
    to_base_f32(
        x,
        (0.301025390625, 4.60503898e-6),
        (0.434326171875, -3.1689971748e-5),
    )
}

/// Returns `(half, rest)` with `ln(1 + f) = f - half + rest`, for `√½ <= 1 + f <= √2`.
#[inline(always)]
fn logarithm(f: f64) -> (f64, f64) {
    let s = f / (2.0 + f);
    let z = s * s;
    let r = z * polynomial!(z; 0.6666666666666734, 0.39999999999414626, 0.28571428742407556,
            0.22222198570545296, 0.1818356448579157, 0.15314046021406724, 0.14795998680357048);
    let half = 0.5 * f * f;
    (half, s * (half + r))
}

#[inline(always)]
pub(super) fn ln_f64(x: f64) -> f64 {
    let (k, m) = exponent_and_mantissa(x);
    let f = m - 1.0;
    let (half, rest) = logarithm(f);
    special_f64(x, k * LN_2_HI - ((half - (rest + k * LN_2_LO)) - f))
}

#[inline(always)]
pub(super) fn ln_1p_f64(x: f64) -> f64 {
    let u = 1.0 + x;
    let (k, m) = exponent_and_mantissa(u);
    let f = m - 1.0;
    // The rounding error of `u`, relative to `u`.
    let lost = if x < 1.0 {
        x - (u - 1.0)
    } else {
        1.0 - (u - x)
    };
    let c = lost / u;
    let near = k == 0.0;
    let (f, c) = (if near { x } else { f }, if near { 0.0 } else { c });
    let (half, rest) = logarithm(f);
    let result = special_f64(u, k * LN_2_HI - ((half - (rest + (k * LN_2_LO + c))) - f));
    if x.abs() < 1e-17 { x } else { result }
}

/// The same as [`to_base_f32`]; the first part of each constant has 31 or 32 bits.
#[inline(always)]
fn to_base(x: f64, step: (f64, f64), factor: (f64, f64)) -> f64 {
    let (k, m) = exponent_and_mantissa(x);
    let f = m - 1.0;
    let (half, rest) = logarithm(f);
    let hi = f64::from_bits((f - half).to_bits() & 0xffff_ffff_0000_0000);
    let lo = ((f - hi) - half) + rest;
    let tail = (lo + hi) * factor.1 + lo * factor.0;
    let (base, hi) = (k * step.0, hi * factor.0);
    let sum = base + hi;
    let lost = (base - sum) + hi;
    special_f64(x, sum + (lost + (tail + k * step.1)))
}

#[inline(always)]
pub(super) fn log2_f64(x: f64) -> f64 {
    to_base(x, (1.0, 0.0), (1.4426950411871076, -2.9814415565887414e-10))
}

#[inline(always)]
pub(super) fn log10_f64(x: f64) -> f64 {
    let step = (0.30102999566588551, -1.9043128467164274e-12);
    to_base(x, step, (0.4342944819945842, -9.1332375115289542e-11))
}

/// The logarithm to base 2 of a positive finite number, with an error of 2^-38.
#[inline(always)]
pub(super) fn log2_short(x: f64) -> f64 {
    let (k, m) = exponent_and_mantissa(x);
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let q = polynomial!(z; 2.0, 0.6666666564586485, 0.4000033514019338, 0.2853730959772596,
        0.23582160494076304);
    k + s * q * std::f64::consts::LOG2_E
}
