//! Casts from each number type to each other one: float to int saturates and maps NaN to 0, narrowing truncates,
//! and int to float rounds to nearest, ties to even.

use crate::check::{Check, Expected, unary};
use crate::input::values;
use crate::{Capability, Case};
use sarek::prelude::*;
use sarek::testing::tolerance::Class;

/// The result that `as` must give, computed from the definition in the Rust reference rather than with `as`.
trait Convert<T> {
    fn convert(self) -> T;
}

macro_rules! casts {
    ($($case:ident $kernel:ident $name:literal [$($need:ident)*] $from:ident $to:ident;)*) => {
        pub const CASES: &[Case] = &[$(Case::new($name, &[$(Capability::$need),*], $case)),*];

        $(
            #[kernel]
            fn $kernel(a: &[$from], out: &mut [$to]) {
                let i = global_idx_x();
                out[i] = a[i] as $to;
            }

            fn $case(device: &Device) -> Check {
                let mut inputs = values::<$from>(81, 300);
                inputs.extend(thresholds().into_iter().map(|x| x as $from));
                unary(
                    [stringify!($to)],
                    &inputs,
                    |a, out, n| $kernel(a, out).over(n).run_on(device),
                    |a| [allowed(Class::of(device), Convert::<$to>::convert(a))],
                )
            }
        )*
    };
}

casts! {
    i8_i8 i8_i8_kernel "casts/i8/i8" [Storage8] i8 i8;
    i8_u8 i8_u8_kernel "casts/i8/u8" [Storage8] i8 u8;
    i8_i16 i8_i16_kernel "casts/i8/i16" [Storage8 Storage16] i8 i16;
    i8_u16 i8_u16_kernel "casts/i8/u16" [Storage8 Storage16] i8 u16;
    i8_i32 i8_i32_kernel "casts/i8/i32" [Storage8] i8 i32;
    i8_u32 i8_u32_kernel "casts/i8/u32" [Storage8] i8 u32;
    i8_i64 i8_i64_kernel "casts/i8/i64" [Storage8 I64] i8 i64;
    i8_u64 i8_u64_kernel "casts/i8/u64" [Storage8 I64] i8 u64;
    i8_f32 i8_f32_kernel "casts/i8/f32" [Storage8] i8 f32;
    i8_f64 i8_f64_kernel "casts/i8/f64" [Storage8 F64] i8 f64;
    u8_i8 u8_i8_kernel "casts/u8/i8" [Storage8] u8 i8;
    u8_u8 u8_u8_kernel "casts/u8/u8" [Storage8] u8 u8;
    u8_i16 u8_i16_kernel "casts/u8/i16" [Storage8 Storage16] u8 i16;
    u8_u16 u8_u16_kernel "casts/u8/u16" [Storage8 Storage16] u8 u16;
    u8_i32 u8_i32_kernel "casts/u8/i32" [Storage8] u8 i32;
    u8_u32 u8_u32_kernel "casts/u8/u32" [Storage8] u8 u32;
    u8_i64 u8_i64_kernel "casts/u8/i64" [Storage8 I64] u8 i64;
    u8_u64 u8_u64_kernel "casts/u8/u64" [Storage8 I64] u8 u64;
    u8_f32 u8_f32_kernel "casts/u8/f32" [Storage8] u8 f32;
    u8_f64 u8_f64_kernel "casts/u8/f64" [Storage8 F64] u8 f64;
    i16_i8 i16_i8_kernel "casts/i16/i8" [Storage16 Storage8] i16 i8;
    i16_u8 i16_u8_kernel "casts/i16/u8" [Storage16 Storage8] i16 u8;
    i16_i16 i16_i16_kernel "casts/i16/i16" [Storage16] i16 i16;
    i16_u16 i16_u16_kernel "casts/i16/u16" [Storage16] i16 u16;
    i16_i32 i16_i32_kernel "casts/i16/i32" [Storage16] i16 i32;
    i16_u32 i16_u32_kernel "casts/i16/u32" [Storage16] i16 u32;
    i16_i64 i16_i64_kernel "casts/i16/i64" [Storage16 I64] i16 i64;
    i16_u64 i16_u64_kernel "casts/i16/u64" [Storage16 I64] i16 u64;
    i16_f32 i16_f32_kernel "casts/i16/f32" [Storage16] i16 f32;
    i16_f64 i16_f64_kernel "casts/i16/f64" [Storage16 F64] i16 f64;
    u16_i8 u16_i8_kernel "casts/u16/i8" [Storage16 Storage8] u16 i8;
    u16_u8 u16_u8_kernel "casts/u16/u8" [Storage16 Storage8] u16 u8;
    u16_i16 u16_i16_kernel "casts/u16/i16" [Storage16] u16 i16;
    u16_u16 u16_u16_kernel "casts/u16/u16" [Storage16] u16 u16;
    u16_i32 u16_i32_kernel "casts/u16/i32" [Storage16] u16 i32;
    u16_u32 u16_u32_kernel "casts/u16/u32" [Storage16] u16 u32;
    u16_i64 u16_i64_kernel "casts/u16/i64" [Storage16 I64] u16 i64;
    u16_u64 u16_u64_kernel "casts/u16/u64" [Storage16 I64] u16 u64;
    u16_f32 u16_f32_kernel "casts/u16/f32" [Storage16] u16 f32;
    u16_f64 u16_f64_kernel "casts/u16/f64" [Storage16 F64] u16 f64;
    i32_i8 i32_i8_kernel "casts/i32/i8" [Storage8] i32 i8;
    i32_u8 i32_u8_kernel "casts/i32/u8" [Storage8] i32 u8;
    i32_i16 i32_i16_kernel "casts/i32/i16" [Storage16] i32 i16;
    i32_u16 i32_u16_kernel "casts/i32/u16" [Storage16] i32 u16;
    u32_i8 u32_i8_kernel "casts/u32/i8" [Storage8] u32 i8;
    u32_u8 u32_u8_kernel "casts/u32/u8" [Storage8] u32 u8;
    u32_i16 u32_i16_kernel "casts/u32/i16" [Storage16] u32 i16;
    u32_u16 u32_u16_kernel "casts/u32/u16" [Storage16] u32 u16;
    i64_i8 i64_i8_kernel "casts/i64/i8" [I64 Storage8] i64 i8;
    i64_u8 i64_u8_kernel "casts/i64/u8" [I64 Storage8] i64 u8;
    i64_i16 i64_i16_kernel "casts/i64/i16" [I64 Storage16] i64 i16;
    i64_u16 i64_u16_kernel "casts/i64/u16" [I64 Storage16] i64 u16;
    u64_i8 u64_i8_kernel "casts/u64/i8" [I64 Storage8] u64 i8;
    u64_u8 u64_u8_kernel "casts/u64/u8" [I64 Storage8] u64 u8;
    u64_i16 u64_i16_kernel "casts/u64/i16" [I64 Storage16] u64 i16;
    u64_u16 u64_u16_kernel "casts/u64/u16" [I64 Storage16] u64 u16;
    f32_i8 f32_i8_kernel "casts/f32/i8" [Storage8] f32 i8;
    f32_u8 f32_u8_kernel "casts/f32/u8" [Storage8] f32 u8;
    f32_i16 f32_i16_kernel "casts/f32/i16" [Storage16] f32 i16;
    f32_u16 f32_u16_kernel "casts/f32/u16" [Storage16] f32 u16;
    f64_i8 f64_i8_kernel "casts/f64/i8" [F64 Storage8] f64 i8;
    f64_u8 f64_u8_kernel "casts/f64/u8" [F64 Storage8] f64 u8;
    f64_i16 f64_i16_kernel "casts/f64/i16" [F64 Storage16] f64 i16;
    f64_u16 f64_u16_kernel "casts/f64/u16" [F64 Storage16] f64 u16;
    i32_i32 i32_i32_kernel "casts/i32/i32" [] i32 i32;
    i32_u32 i32_u32_kernel "casts/i32/u32" [] i32 u32;
    i32_i64 i32_i64_kernel "casts/i32/i64" [I64] i32 i64;
    i32_u64 i32_u64_kernel "casts/i32/u64" [I64] i32 u64;
    i32_f32 i32_f32_kernel "casts/i32/f32" [] i32 f32;
    i32_f64 i32_f64_kernel "casts/i32/f64" [F64] i32 f64;
    u32_i32 u32_i32_kernel "casts/u32/i32" [] u32 i32;
    u32_u32 u32_u32_kernel "casts/u32/u32" [] u32 u32;
    u32_i64 u32_i64_kernel "casts/u32/i64" [I64] u32 i64;
    u32_u64 u32_u64_kernel "casts/u32/u64" [I64] u32 u64;
    u32_f32 u32_f32_kernel "casts/u32/f32" [] u32 f32;
    u32_f64 u32_f64_kernel "casts/u32/f64" [F64] u32 f64;
    i64_i32 i64_i32_kernel "casts/i64/i32" [I64] i64 i32;
    i64_u32 i64_u32_kernel "casts/i64/u32" [I64] i64 u32;
    i64_i64 i64_i64_kernel "casts/i64/i64" [I64] i64 i64;
    i64_u64 i64_u64_kernel "casts/i64/u64" [I64] i64 u64;
    i64_f32 i64_f32_kernel "casts/i64/f32" [I64] i64 f32;
    i64_f64 i64_f64_kernel "casts/i64/f64" [I64 F64] i64 f64;
    u64_i32 u64_i32_kernel "casts/u64/i32" [I64] u64 i32;
    u64_u32 u64_u32_kernel "casts/u64/u32" [I64] u64 u32;
    u64_i64 u64_i64_kernel "casts/u64/i64" [I64] u64 i64;
    u64_u64 u64_u64_kernel "casts/u64/u64" [I64] u64 u64;
    u64_f32 u64_f32_kernel "casts/u64/f32" [I64] u64 f32;
    u64_f64 u64_f64_kernel "casts/u64/f64" [I64 F64] u64 f64;
    f32_i32 f32_i32_kernel "casts/f32/i32" [] f32 i32;
    f32_u32 f32_u32_kernel "casts/f32/u32" [] f32 u32;
    f32_i64 f32_i64_kernel "casts/f32/i64" [I64] f32 i64;
    f32_u64 f32_u64_kernel "casts/f32/u64" [I64] f32 u64;
    f32_f32 f32_f32_kernel "casts/f32/f32" [] f32 f32;
    f32_f64 f32_f64_kernel "casts/f32/f64" [F64] f32 f64;
    f64_i32 f64_i32_kernel "casts/f64/i32" [F64] f64 i32;
    f64_u32 f64_u32_kernel "casts/f64/u32" [F64] f64 u32;
    f64_i64 f64_i64_kernel "casts/f64/i64" [F64 I64] f64 i64;
    f64_u64 f64_u64_kernel "casts/f64/u64" [F64 I64] f64 u64;
    f64_f32 f64_f32_kernel "casts/f64/f32" [F64] f64 f32;
    f64_f64 f64_f64_kernel "casts/f64/f64" [F64] f64 f64;
}

/// Numbers around every bound of an integer type, and around the sizes from which floats skip integers.
fn thresholds() -> Vec<f64> {
    let powers = [
        7, 8, 15, 16, 23, 24, 25, 30, 31, 32, 33, 52, 53, 54, 62, 63, 64, 65, 100,
    ];
    let near = |k: i32| {
        let p = 2f64.powi(k);
        [
            p - 1.5,
            p - 1.0,
            p - 0.5,
            p,
            p + 0.5,
            p + 1.0,
            p + 2.0,
            p + 3.0,
            p * 1.5,
        ]
    };
    powers
        .into_iter()
        .flat_map(near)
        .flat_map(|x| [x, -x])
        .collect()
}

/// Accepts anything for a subnormal result where the class may flush it; every other result must be exact.
fn allowed<T: Default + Flushable>(class: Class, value: T) -> Expected<T> {
    if value.is_subnormal_float() && !class.keeps_subnormals() {
        Expected::Anything
    } else {
        Expected::Exactly(value)
    }
}

trait Flushable {
    fn is_subnormal_float(&self) -> bool {
        false
    }
}

impl Flushable for f32 {
    fn is_subnormal_float(&self) -> bool {
        self.is_subnormal()
    }
}

impl Flushable for f64 {
    fn is_subnormal_float(&self) -> bool {
        self.is_subnormal()
    }
}

macro_rules! between_integers {
    ($($from:ident: $($to:ident)*;)*) => {$($(
        impl Convert<$to> for $from {
            fn convert(self) -> $to {
                let modulus = 1i128 << $to::BITS;
                let wrapped = i128::from(self).rem_euclid(modulus);
                let signed = if wrapped > i128::from($to::MAX) { wrapped - modulus } else { wrapped };
                $to::try_from(signed).expect("reduced to the type's range")
            }
        }
    )*)*};
}

between_integers! {
    i8: i8 u8 i16 u16 i32 u32 i64 u64;
    u8: i8 u8 i16 u16 i32 u32 i64 u64;
    i16: i8 u8 i16 u16 i32 u32 i64 u64;
    u16: i8 u8 i16 u16 i32 u32 i64 u64;
    i32: i8 u8 i16 u16 i32 u32 i64 u64;
    u32: i8 u8 i16 u16 i32 u32 i64 u64;
    i64: i8 u8 i16 u16 i32 u32 i64 u64;
    u64: i8 u8 i16 u16 i32 u32 i64 u64;
}

macro_rules! floats_to_integers {
    ($($from:ident: $($to:ident)*;)*) => {$($(
        impl Convert<$to> for $from {
            fn convert(self) -> $to {
                let x = f64::from(self).trunc();
                if x.is_nan() {
                    return 0;
                }
                let (low, high) = ($to::MIN as i128, $to::MAX as i128);
                let inside = x > -2f64.powi(100) && x < 2f64.powi(100);
                let whole = if inside { integer(x) } else if x < 0.0 { low } else { high };
                $to::try_from(whole.max(low).min(high)).expect("kept in the type's range")
            }
        }
    )*)*};
}

floats_to_integers! {
    f32: i8 u8 i16 u16 i32 u32 i64 u64;
    f64: i8 u8 i16 u16 i32 u32 i64 u64;
}

/// The value of a whole number of at most 100 bits, read from the bits of the float.
fn integer(x: f64) -> i128 {
    let exponent = (x.to_bits() >> 52 & 0x7ff) as i32 - 1075;
    let mantissa = i128::from(x.to_bits() & ((1 << 52) - 1) | 1 << 52);
    let magnitude = match exponent {
        0.. => mantissa << exponent,
        -52..0 => mantissa >> -exponent,
        _ => 0,
    };
    if x < 0.0 { -magnitude } else { magnitude }
}

macro_rules! integers_to_floats {
    ($($from:ident)*) => {$(
        impl Convert<f32> for $from {
            fn convert(self) -> f32 {
                nearest(self.into(), f32::MANTISSA_DIGITS) as f32
            }
        }

        impl Convert<f64> for $from {
            fn convert(self) -> f64 {
                nearest(self.into(), f64::MANTISSA_DIGITS)
            }
        }
    )*};
}

integers_to_floats!(i8 u8 i16 u16 i32 u32 i64 u64);

/// Rounds to `digits` binary digits, ties to even; the result is exact in `f64`.
fn nearest(x: i128, digits: u32) -> f64 {
    let magnitude = x.unsigned_abs();
    let excess = (128 - magnitude.leading_zeros()).saturating_sub(digits);
    let unit = 1u128 << excess;
    let (kept, rest) = (magnitude / unit, magnitude % unit);
    let up = 2 * rest > unit || (2 * rest == unit && kept % 2 == 1);
    let rounded = (kept + u128::from(up)) as f64 * unit as f64;
    if x < 0 { -rounded } else { rounded }
}

macro_rules! same_float {
    ($($from:ident $to:ident)*) => {$(
        impl Convert<$to> for $from {
            fn convert(self) -> $to {
                // This is rustc's own conversion, as IEEE 754 allows only one result.
                self as $to
            }
        }
    )*};
}

same_float!(f32 f32 f32 f64 f64 f32 f64 f64);

macro_rules! never_subnormal {
    ($($t:ident)*) => {$(impl Flushable for $t {})*};
}

never_subnormal!(i8 u8 i16 u16 i32 u32 i64 u64);
