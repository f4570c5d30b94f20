//! `cbrt` and `hypot`.

use super::parts::polynomial;

/// Kahan's method as in FreeBSD's `s_cbrt.c`, whose polynomial this is. Dividing the exponent by 3
/// gives 5 bits, the polynomial gives 23, and a Newton step doubles that.
#[inline(always)]
pub(super) fn cbrt_f64(x: f64) -> f64 {
    const EXPONENT: u32 = 715_094_163; // (1023 - 1023 / 3 - 0.03306235651) * 2^20
    let ax = x.abs();
    let small = ax < f64::MIN_POSITIVE;
    let scaled = ax * 18_014_398_509_481_984.0; // 2^54
    let a = if small { scaled } else { ax };
    let third = ((a.to_bits() >> 32) as u32 / 3).wrapping_add(EXPONENT);
    let t = f64::from_bits(u64::from(third) << 32);
    let r = (t * t) * (t / a);
    let t = t * polynomial!(r; 1.87595182427177009643, -1.88497979543377169875,
            1.621429720105354466140, -0.758397934778766047437, 0.145996192886612446982);
    // Rounded to 23 bits, so that its square is exact.
    let t = f64::from_bits(t.to_bits().wrapping_add(0x8000_0000) & 0xffff_ffff_c000_0000);
    let r = a / (t * t);
    let t = t + t * ((r - t) / (t + t + r));
    let unscaled = t * 3.814697265625e-6; // 2^-18
    let result = (if small { unscaled } else { t }).copysign(x);
    // Zero, infinity and NaN are their own cube roots.
    let ordinary = ax > 0.0 && ax < f64::INFINITY;
    if ordinary { result } else { x }
}

/// Squares of `f32`s are exact in `f64`, and within its range.
#[inline(always)]
pub(super) fn hypot_f32(x: f32, y: f32) -> f32 {
    let (a, b) = (f64::from(x), f64::from(y));
    let infinite = x.abs() == f32::INFINITY || y.abs() == f32::INFINITY;
    let result = (a * a + b * b).sqrt() as f32;
    if infinite { f32::INFINITY } else { result }
}

/// Scales by a power of two if squares could leave the range.
#[inline(always)]
pub(super) fn hypot_f64(x: f64, y: f64) -> f64 {
    const UP: f64 = 4.149515568880993e180; // 2^600
    const DOWN: f64 = 2.409919865102884e-181; // 2^-600
    let (a, b) = (x.abs(), y.abs());
    let most = if a > b { a } else { b };
    let (large, small) = (most > 1e150, most < 1e-130);
    let scale = if small { UP } else { 1.0 };
    let scale = if large { DOWN } else { scale };
    let back = if small { DOWN } else { 1.0 };
    let back = if large { UP } else { back };
    let (p, q) = (a * scale, b * scale);
    let result = (p * p + q * q).sqrt() * back;
    let infinite = a == f64::INFINITY || b == f64::INFINITY;
    if infinite { f64::INFINITY } else { result }
}
