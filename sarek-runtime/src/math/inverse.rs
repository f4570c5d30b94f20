//! `asin`, `acos`, `atan`, `atan2`.
//!
//! The arc tangent of a quotient is reduced by π/4 or π/2, so that a quotient below tan(π/8)
//! remains (Moshier's Cephes, `atan.c`); this takes one division in all. Arc sine and cosine of
//! arguments above ½ come from the square root of (1 - x) / 2 (fdlibm, `e_asin.c`). The polynomials
//! are minimax.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use super::parts::polynomial;

/// The difference of π/2 and its nearest `f64`.
const FRAC_PI_2_LO: f64 = 6.123233995736766e-17;

/// Computes `asin(s) - s` for `z = s²` up to ¼.
#[inline(always)]
fn asin_tail(s: f64, z: f64) -> f64 {
    s * z
        * polynomial!(z; 0.16666666666666763, 0.07499999999970079, 0.04464285717530411,
            0.030381942674390556, 0.022372215932318005, 0.01735159499885277,
            0.013981024834257548, 0.011397239550932355, 0.010789629628738119,
            0.0036709953796399547, 0.021793584630070473, -0.02112091711609803,
            0.03270480262955633)
}

#[inline(always)]
pub(super) fn asin_f64(x: f64) -> f64 {
    let ax = x.abs();
    let large = ax > 0.5;
    let half = (1.0 - ax) * 0.5;
    let root = half.sqrt();
    let (s, z) = (
        if large { root } else { ax },
        if large { half } else { ax * ax },
    );
    let tail = asin_tail(s, z);
    let turned = FRAC_PI_2 - (2.0 * s + (2.0 * tail - FRAC_PI_2_LO));
    (if large { turned } else { s + tail }).copysign(x)
}

#[inline(always)]
pub(super) fn acos_f64(x: f64) -> f64 {
    let ax = x.abs();
    let large = ax > 0.5;
    let half = (1.0 - ax) * 0.5;
    let root = half.sqrt();
    let (s, z) = (
        if large { root } else { x },
        if large { half } else { x * x },
    );
    let tail = asin_tail(s, z);
    let middle = FRAC_PI_2 - (s - (FRAC_PI_2_LO - tail));
    let right = 2.0 * (s + tail);
    let left = 2.0 * middle;
    let outer = if x < 0.0 { left } else { right };
    if large { outer } else { middle }
}

/// The arc tangent of `a / b`; neither is negative, and both are at most 2^1022.
#[inline(always)]
fn atan_quotient(a: f64, b: f64) -> f64 {
    let steep = a > 2.414213562373095 * b;
    let middle = a > 0.41421356237309503 * b;
    let (mut over, mut under, mut base, mut base_lo) = (a, b, 0.0, 0.0);
    let (minus, plus) = (a - b, a + b);
    over = if middle { minus } else { over };
    under = if middle { plus } else { under };
    base = if middle { FRAC_PI_4 } else { base };
    base_lo = if middle { 0.5 * FRAC_PI_2_LO } else { base_lo };
    over = if steep { -b } else { over };
    under = if steep { a } else { under };
    base = if steep { FRAC_PI_2 } else { base };
    base_lo = if steep { FRAC_PI_2_LO } else { base_lo };
    let q = over / under;
    let z = q * q;
    let tail = q
        * z
        * polynomial!(z; -0.33333333333333326, 0.1999999999999769, -0.14285714285390552,
            0.11111111088336185, -0.0909090815023795, 0.07692282887658553,
            -0.06666228661053801, 0.05877040429603752, -0.05218524272392432,
            0.045040367411608925, -0.03348579968089902, 0.01520667207274239);
    base + (q + (tail + base_lo))
}

#[inline(always)]
pub(super) fn atan_f64(x: f64) -> f64 {
    atan_quotient(x.abs(), 1.0).copysign(x)
}

#[inline(always)]
pub(super) fn atan2_f64(y: f64, x: f64) -> f64 {
    let (a, b) = (y.abs(), x.abs());
    let equal = a == b && (a == f64::INFINITY || a == 0.0);
    // The quotient of two infinities counts as 1, that of two zeros as 0.
    let one_or_zero = if a == 0.0 { 0.0 } else { 1.0 };
    let (a, b) = (
        if equal { one_or_zero } else { a },
        if equal { 1.0 } else { b },
    );
    let most = if a > b { a } else { b };
    let scale = if most > 1e300 {
        9.094947017729282e-13
    } else {
        1.0
    };
    let scale = if most < 1e-290 {
        18_446_744_073_709_551_616.0
    } else {
        scale
    };
    let angle = atan_quotient(a * scale, b * scale);
    let turned = PI - (angle - 2.0 * FRAC_PI_2_LO);
    (if x.is_sign_negative() { turned } else { angle }).copysign(y)
}
