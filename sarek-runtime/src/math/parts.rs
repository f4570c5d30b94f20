//! Shared building blocks: polynomials, rounding, powers of two, exponents and mantissas.

/// Evaluates `c0 + x * (c1 + x * (c2 + …))` by Horner's scheme.
macro_rules! polynomial {
    ($x:expr; $c:expr) => { $c };
    ($x:expr; $c:expr, $($rest:expr),+ $(,)?) => { $c + $x * polynomial!($x; $($rest),+) };
}
pub(super) use polynomial;

/// Adding it rounds a number, and leaves the integer in the low bits of the sum.
const SHIFT_32: f32 = 12_582_912.0; // 1.5 * 2^23
const SHIFT_64: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52

/// Rounds to the nearest integer, for `|x| < 2^22`.
#[inline(always)]
pub(super) fn round_f32(x: f32) -> f32 {
    (x + SHIFT_32) - SHIFT_32
}

/// Rounds to the nearest integer, for `|x| < 2^51`.
#[inline(always)]
pub(super) fn round(x: f64) -> f64 {
    (x + SHIFT_64) - SHIFT_64
}

/// The low bits of an integer below `2^51` in magnitude, in two's complement.
#[inline(always)]
pub(super) fn low_bits(n: f64) -> u64 {
    (n + SHIFT_64).to_bits()
}

/// `2^n` for an integer from -126 to 127.
#[inline(always)]
fn power_of_two_f32(n: u32) -> f32 {
    f32::from_bits(n.wrapping_add(127) << 23)
}

/// `2^n` for an integer from -1022 to 1023.
#[inline(always)]
pub(super) fn power_of_two(n: f64) -> f64 {
    f64::from_bits(low_bits(n).wrapping_add(1023) << 52)
}

/// `x * 2^n`, rounded once, for an integer from -252 to 254.
#[inline(always)]
pub(super) fn scale_f32(x: f32, n: f32) -> f32 {
    let n = (n + SHIFT_32).to_bits().wrapping_sub(SHIFT_32.to_bits());
    let half = (n as i32 >> 1) as u32;
    x * power_of_two_f32(half) * power_of_two_f32(n.wrapping_sub(half))
}

/// `x * 2^n`, rounded once, for an integer from -2044 to 2046.
#[inline(always)]
pub(super) fn scale(x: f64, n: f64) -> f64 {
    let half = round(0.5 * n);
    x * power_of_two(half) * power_of_two(n - half)
}

/// Clamps to `lo..=hi`; NaN stays NaN.
#[inline(always)]
pub(super) fn limit<T: PartialOrd>(x: T, lo: T, hi: T) -> T {
    let x = if x < lo { lo } else { x };
    if x > hi { hi } else { x }
}

/// Returns `(k, m)` with `x = 2^k m` and `√½ <= m < √2`, for positive finite `x`.
#[inline(always)]
pub(super) fn exponent_and_mantissa_f32(x: f32) -> (f32, f32) {
    const ROOT_HALF: u32 = 0x3f35_04f3;
    const TWO_23: u32 = 0x4b00_0000;
    let small = x < f32::MIN_POSITIVE;
    let scaled = x * 16_777_216.0;
    let bits = (if small { scaled } else { x }).to_bits();
    let bias = if small { 127.0 + 24.0 } else { 127.0 };
    let bits = bits.wrapping_add(0x3f80_0000 - ROOT_HALF);
    let k = f32::from_bits((bits >> 23) | TWO_23) - (8_388_608.0 + bias);
    let m = f32::from_bits((bits & 0x007f_ffff) + ROOT_HALF);
    (k, m)
}

/// Returns `(k, m)` with `x = 2^k m` and `√½ <= m < √2`, for positive finite `x`.
#[inline(always)]
pub(super) fn exponent_and_mantissa(x: f64) -> (f64, f64) {
    const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    const TWO_52: u64 = 0x4330_0000_0000_0000;
    let small = x < f64::MIN_POSITIVE;
    let scaled = x * 18_014_398_509_481_984.0;
    let bits = (if small { scaled } else { x }).to_bits();
    let bias = if small { 1023.0 + 54.0 } else { 1023.0 };
    let bits = bits.wrapping_add(0x3ff0_0000_0000_0000 - ROOT_HALF);
    let k = f64::from_bits((bits >> 52) | TWO_52) - (4_503_599_627_370_496.0 + bias);
    let m = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) + ROOT_HALF);
    (k, m)
}

/// The number with its lowest 27 bits cleared: products of two such numbers are exact.
#[inline(always)]
pub(super) fn upper_half(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & 0xffff_ffff_f800_0000)
}
