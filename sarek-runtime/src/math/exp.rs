//! `exp`, `exp2`, `exp_m1`.
//!
//! The reduction is `x = n ln 2 + r` with an integer `n`. ln 2 has two parts, so that `n` times the
//! first is exact (Cody and Waite, *Software Manual for the Elementary Functions*, 1980, chapter
//! 6). A minimax polynomial gives `e^r`. The result is scaled in two steps, so that subnormal
//! results are rounded once.

use super::parts::{limit, polynomial, power_of_two, round, round_f32, scale, scale_f32};

const LN_2_HI: f64 = 0.69314718060195446;
const LN_2_LO: f64 = -4.2009150726810846e-11;

#[inline(always)]
pub(super) fn exp_f32(x: f32) -> f32 {
    const LN_2_HI: f32 = 0.693145751953125;
    const LN_2_LO: f32 = 1.4286068e-6;
    let x = limit(x, -104.0, 89.0);
    let n = round_f32(x * std::f32::consts::LOG2_E);
    let r = (x - n * LN_2_HI) - n * LN_2_LO;
    let q = polynomial!(r; 0.5, 0.166666657, 0.0416662917, 0.00833349954, 0.00139449758, 0.000197896559);
    scale_f32(1.0 + (r + r * r * q), n)
}

#[inline(always)]
pub(super) fn exp2_f32(x: f32) -> f32 {
    const LN_2_LO: f32 = -1.9046543e-9;
    let x = limit(x, -151.0, 129.0);
    let n = round_f32(x);
    let r = x - n;
    let q = polynomial!(r; 0.240226507, 0.0555041023, 0.00961803831, 0.00133339351, 0.000154667548, 1.5196124e-5);
    let tail = r * LN_2_LO + r * r * q;
    scale_f32(1.0 + (r * std::f32::consts::LN_2 + tail), n)
}

/// Reduces to `x = n ln 2 + r + c`, where `c` is the rounding error of `r`.
#[inline(always)]
pub(super) fn reduce(x: f64) -> (f64, f64, f64) {
    let n = round(x * std::f64::consts::LOG2_E);
    let hi = x - n * LN_2_HI;
    let lo = n * LN_2_LO;
    let r = hi - lo;
    (n, r, (hi - r) - lo)
}

/// Computes `e^r - 1 - r` for `|r| <= ln 2 / 2`.
#[inline(always)]
fn beyond_linear(r: f64) -> f64 {
    r * r
        * polynomial!(r; 0.5, 0.1666666666666643, 0.04166666666660351, 0.008333333333501437,
            0.0013888888927004299, 0.00019841269463731815, 2.480150839334193e-5,
            2.755764242205024e-6, 2.762531208076832e-7, 2.497813141544925e-8)
}

#[inline(always)]
pub(super) fn exp_f64(x: f64) -> f64 {
    let x = limit(x, -746.0, 710.0);
    let (n, r, c) = reduce(x);
    scale(1.0 + (r + (beyond_linear(r) + c)), n)
}

#[inline(always)]
pub(super) fn exp2_f64(x: f64) -> f64 {
    const LN_2_LO: f64 = 2.3190468138462996e-17;
    let x = limit(x, -1076.0, 1025.0);
    let n = round(x);
    let r = x - n;
    let q = polynomial!(r; 0.24022650695910072, 0.05550410866482156, 0.009618129107628335,
        0.0013333558146437186, 0.0001540353039402484, 1.5252733794907462e-5,
        1.3215485818412254e-6, 1.0178084205436231e-7, 7.055474907685799e-9,
        4.4506404843911076e-10, 2.4622107079402614e-11);
    let tail = r * LN_2_LO + r * r * q;
    scale(1.0 + (r * std::f64::consts::LN_2 + tail), n)
}

/// Half of `e^x - 1`, as a sum whose second part is far smaller, for `-40 <= x <= 710` or NaN.
///
/// It is half of `2^n (e^r - 1) + (2^n - 1)`: accurate to the last bits near 0, where `n` is 0.
/// Half, because 2^1024 is not representable.
#[inline(always)]
pub(super) fn half_exp_m1(x: f64) -> (f64, f64) {
    let (n, r, c) = reduce(x);
    let half = power_of_two(n - 1.0);
    let base = half - 0.5;
    let linear = half * r;
    let sum = base + linear;
    // |base| >= |linear| or base = 0, so this is the rounding error of the sum.
    let lost = (base - sum) + linear;
    (sum, lost + half * (beyond_linear(r) + c))
}

#[inline(always)]
pub(super) fn exp_m1_f64(x: f64) -> f64 {
    let (sum, rest) = half_exp_m1(limit(x, -40.0, 710.0));
    let result = 2.0 * (sum + rest);
    if x.abs() < 1e-17 { x } else { result }
}

/// Computes `2^x` for a finite `|x| <= 1000`, with an error of 2^-34, which suffices for rounding
/// to an `f32`.
#[inline(always)]
pub(super) fn exp2_short(x: f64) -> f64 {
    let n = round(x);
    let r = x - n;
    let q = polynomial!(r; std::f64::consts::LN_2, 0.2402265102429075, 0.05550410596127587,
        0.009618042687232875, 0.0013333823541157768, 0.00015465611372993322,
        1.5213136865191196e-5);
    (1.0 + r * q) * power_of_two(n)
}
