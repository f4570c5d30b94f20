//! `sinh`, `cosh`, `tanh`.
//!
//! With `x = n ln 2 + r` as for the exponential, the addition theorems give both functions from the
//! hyperbolic functions of `n ln 2` and of `r`. The former are sums of powers of two, the latter
//! are short polynomials. There is no cancellation, not even near 0.

use super::exp::{half_exp_m1, reduce};
use super::parts::{limit, polynomial, power_of_two, upper_half};

/// A quarter of `(sinh x, cosh x)`, for `0 <= x <= 712` or NaN.
#[inline(always)]
fn quarters(x: f64) -> (f64, f64) {
    let (n, r, c) = reduce(x);
    let z = r * r;
    let sinh_r = r
        + (r * z
            * polynomial!(z; 0.16666666666666666, 0.008333333333333337, 0.00019841269841253104,
                2.755731926539033e-6, 2.5052056617487035e-8, 1.6090874480317225e-10)
            + c);
    // The leading 1 is left out.
    let cosh_r = z * polynomial!(z; 0.5, 0.041666666666666685, 0.0013888888888873355,
            2.480158734904062e-5, 2.755725196938294e-7, 2.092172060743521e-9);
    let up = power_of_two(n - 3.0);
    let down = power_of_two(-limit(n, 0.0, 200.0) - 3.0);
    let (sum, difference) = (up + down, up - down);
    (
        difference + (difference * cosh_r + sum * sinh_r),
        sum + (sum * cosh_r + difference * sinh_r),
    )
}

#[inline(always)]
pub(super) fn sinh_f64(x: f64) -> f64 {
    let (sinh, _) = quarters(limit(x.abs(), 0.0, 711.0));
    let result = (4.0 * sinh).copysign(x);
    if x.abs() < 1e-9 { x } else { result }
}

#[inline(always)]
pub(super) fn cosh_f64(x: f64) -> f64 {
    let (_, cosh) = quarters(limit(x.abs(), 0.0, 711.0));
    4.0 * cosh
}

/// Computes `t / (t + 2)` with `t = e^2x - 1`; the quotient is corrected for the rounding errors of
/// its operands.
#[inline(always)]
pub(super) fn tanh_f64(x: f64) -> f64 {
    let ax = limit(x.abs(), 0.0, 22.0);
    let (sum, rest) = half_exp_m1(2.0 * ax);
    let over = sum + rest;
    let over_lost = (sum - over) + rest;
    let under = 1.0 + over;
    let from = under - over;
    let under_lost = ((over - (under - from)) + (1.0 - from)) + over_lost;
    let reciprocal = 1.0 / under;
    let q = over * reciprocal;
    let (q_hi, under_hi) = (upper_half(q), upper_half(under));
    let (q_lo, under_lo) = (q - q_hi, under - under_hi);
    let product_missed =
        ((over - q_hi * under_hi) - q_hi * under_lo - q_lo * under_hi) - q_lo * under_lo;
    let result = q + (product_missed + (over_lost - q * under_lost)) * reciprocal;
    if x.abs() < 1e-9 {
        x
    } else {
        result.copysign(x)
    }
}
