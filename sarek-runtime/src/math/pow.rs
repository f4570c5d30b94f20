//! `powf` and `powi`.

use super::exp::exp2_short;
use super::log::log2_short;
use super::parts::{limit, low_bits, round};

/// Computes `2^(y log2 |x|)` in `f64`, with the sign and the special cases of C's `pow`.
#[inline(always)]
pub(super) fn powf_f32(x: f32, y: f32) -> f32 {
    let (ax, wide) = (x.abs(), f64::from(y));
    let log = log2_short(f64::from(ax));
    let log = if ax == 0.0 { f64::NEG_INFINITY } else { log };
    let log = if ax < f32::INFINITY {
        log
    } else {
        f64::from(ax)
    };
    let one = y == 0.0 || x == 1.0 || (ax == 1.0 && y.abs() == f32::INFINITY);
    let power = wide * log;
    let power = if one { 0.0 } else { power };
    let result = exp2_short(limit(power, -200.0, 200.0));
    // All larger floats are even integers.
    let n = limit(wide, -1e15, 1e15);
    let (whole, odd) = (round(n) == n, low_bits(n) & 1);
    let negative = x.is_sign_negative();
    let sign = if negative && whole { odd << 63 } else { 0 };
    let result = f64::from_bits(result.to_bits() ^ sign) as f32;
    let undefined = x < 0.0 && x > f32::NEG_INFINITY && !whole;
    if undefined { f32::NAN } else { result }
}
