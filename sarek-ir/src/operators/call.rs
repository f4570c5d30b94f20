use super::{narrowed, widened};
use crate::numeric::of_floats;
use crate::{Intrinsic, Value};

/// A call of an intrinsic; the first argument is the receiver.
pub fn call(intrinsic: Intrinsic, args: &[Value]) -> Value {
    let rest = &args[1..];
    match args[0] {
        Value::F16(_) | Value::Bf16(_) => half_call(intrinsic, args),
        Value::F32(v) => f32_call(intrinsic, f32::from_bits(v), rest),
        Value::F64(v) => f64_call(intrinsic, f64::from_bits(v), rest),
        Value::I8(v) => i8_call(intrinsic, v, rest),
        Value::U8(v) => u8_call(intrinsic, v, rest),
        Value::I16(v) => i16_call(intrinsic, v, rest),
        Value::U16(v) => u16_call(intrinsic, v, rest),
        Value::I32(v) => i32_call(intrinsic, v, rest),
        Value::I64(v) => i64_call(intrinsic, v, rest),
        Value::U32(v) => u32_call(intrinsic, v, rest),
        Value::U64(v) => u64_call(intrinsic, v, rest),
        Value::Usize(v) => usize_call(intrinsic, v, rest),
        Value::Bool(_) => unreachable!("bool has no {}", intrinsic.name()),
    }
}

/// Computes in `f32`, and rounds the result.
fn half_call(intrinsic: Intrinsic, args: &[Value]) -> Value {
    if intrinsic == Intrinsic::ToBits {
        return Value::U16(args[0].word() as u16);
    }
    let wide: Vec<Value> = args.iter().copied().map(widened).collect();
    narrowed(call(intrinsic, &wide), args[0].scalar())
}

/// The first argument, a `u32`.
fn count(args: &[Value]) -> u32 {
    match args[0] {
        Value::U32(v) => v,
        other => unreachable!("a count is a u32, not {other:?}"),
    }
}

fn exponent(args: &[Value]) -> i32 {
    match args[0] {
        Value::I32(v) => v,
        other => unreachable!("an exponent is an i32, not {other:?}"),
    }
}

macro_rules! float_call {
    ($name:ident, $float:ident, $variant:ident, $bits:ident) => {
        fn $name(intrinsic: Intrinsic, x: $float, args: &[Value]) -> Value {
            let arg = |i: usize| match args[i] {
                Value::$variant(bits) => $float::from_bits(bits),
                other => unreachable!("{} takes no {other:?}", intrinsic.name()),
            };
            let result = match intrinsic {
                Intrinsic::IsNan => return Value::Bool(x.is_nan()),
                Intrinsic::IsInfinite => return Value::Bool(x.is_infinite()),
                Intrinsic::IsFinite => return Value::Bool(x.is_finite()),
                Intrinsic::IsSignNegative => return Value::Bool(x.is_sign_negative()),
                Intrinsic::ToBits => return Value::$bits(x.to_bits()),
                Intrinsic::Abs => x.abs(),
                Intrinsic::Min => x.min(arg(0)),
                Intrinsic::Max => x.max(arg(0)),
                // `clamp` would panic on invalid bounds, which the assertion before it reports.
                Intrinsic::Clamp => match (arg(0), arg(1)) {
                    (lo, _) if x < lo => lo,
                    (_, hi) if x > hi => hi,
                    _ => x,
                },
                Intrinsic::Signum => x.signum(),
                Intrinsic::Sqrt => x.sqrt(),
                Intrinsic::Rsqrt => 1.0 / x.sqrt(),
                Intrinsic::Cbrt => x.cbrt(),
                Intrinsic::Exp => x.exp(),
                Intrinsic::Exp2 => x.exp2(),
                Intrinsic::ExpM1 => x.exp_m1(),
                Intrinsic::Ln => x.ln(),
                Intrinsic::Ln1p => x.ln_1p(),
                Intrinsic::Log2 => x.log2(),
                Intrinsic::Log10 => x.log10(),
                Intrinsic::Sin => x.sin(),
                Intrinsic::Cos => x.cos(),
                Intrinsic::Tan => x.tan(),
                Intrinsic::Asin => x.asin(),
                Intrinsic::Acos => x.acos(),
                Intrinsic::Atan => x.atan(),
                Intrinsic::Atan2 => x.atan2(arg(0)),
                Intrinsic::Sinh => x.sinh(),
                Intrinsic::Cosh => x.cosh(),
                Intrinsic::Tanh => x.tanh(),
                Intrinsic::Powf => x.powf(arg(0)),
                Intrinsic::Powi => x.powi(exponent(args)),
                Intrinsic::Hypot => x.hypot(arg(0)),
                Intrinsic::Floor => x.floor(),
                Intrinsic::Ceil => x.ceil(),
                Intrinsic::Round => x.round(),
                Intrinsic::Trunc => x.trunc(),
                Intrinsic::Fract => x.fract(),
                Intrinsic::MulAdd => x.mul_add(arg(0), arg(1)),
                Intrinsic::Copysign => x.copysign(arg(0)),
                Intrinsic::Pow
                | Intrinsic::FromBits
                | Intrinsic::Bf16FromBits
                | Intrinsic::CountOnes
                | Intrinsic::LeadingZeros
                | Intrinsic::TrailingZeros
                | Intrinsic::RotateLeft
                | Intrinsic::RotateRight
                | Intrinsic::ReverseBits
                | Intrinsic::SwapBytes
                | Intrinsic::WrappingAdd
                | Intrinsic::WrappingSub
                | Intrinsic::WrappingMul
                | Intrinsic::WrappingNeg
                | Intrinsic::WrappingAbs
                | Intrinsic::WrappingShl
                | Intrinsic::WrappingShr
                | Intrinsic::SaturatingAdd
                | Intrinsic::SaturatingSub
                | Intrinsic::SaturatingMul
                | Intrinsic::AbsDiff
                | Intrinsic::UnsignedAbs => {
                    unreachable!("floats have no {}", intrinsic.name())
                }
            };
            Value::$float(result)
        }
    };
}

float_call!(f32_call, f32, F32, U32);
float_call!(f64_call, f64, F64, U64);

/// `$variant` is the variant of the type, and `$unsigned` that of the unsigned type of the same width. The last
/// arguments are functions that only some types have.
macro_rules! int_call {
    ($name:ident, $int:ident, $variant:ident, $unsigned:ident,
     $abs:expr, $signum:expr, $unsigned_abs:expr, $from_bits:expr) => {
        fn $name(intrinsic: Intrinsic, x: $int, args: &[Value]) -> Value {
            let arg = |i: usize| match args[i] {
                Value::$variant(v) => v,
                other => unreachable!("{} takes no {other:?}", intrinsic.name()),
            };
            let result = match intrinsic {
                Intrinsic::CountOnes => return Value::U32(x.count_ones()),
                Intrinsic::LeadingZeros => return Value::U32(x.leading_zeros()),
                Intrinsic::TrailingZeros => return Value::U32(x.trailing_zeros()),
                Intrinsic::AbsDiff => return Value::$unsigned(x.abs_diff(arg(0))),
                Intrinsic::Min => x.min(arg(0)),
                Intrinsic::Max => x.max(arg(0)),
                Intrinsic::Clamp => x.max(arg(0)).min(arg(1)),
                Intrinsic::Pow => x.wrapping_pow(count(args)),
                Intrinsic::RotateLeft => x.rotate_left(count(args) % $int::BITS),
                Intrinsic::RotateRight => x.rotate_right(count(args) % $int::BITS),
                Intrinsic::ReverseBits => x.reverse_bits(),
                Intrinsic::SwapBytes => x.swap_bytes(),
                Intrinsic::WrappingAdd => x.wrapping_add(arg(0)),
                Intrinsic::WrappingSub => x.wrapping_sub(arg(0)),
                Intrinsic::WrappingMul => x.wrapping_mul(arg(0)),
                Intrinsic::WrappingNeg => x.wrapping_neg(),
                Intrinsic::WrappingShl => x.wrapping_shl(count(args)),
                Intrinsic::WrappingShr => x.wrapping_shr(count(args)),
                Intrinsic::SaturatingAdd => x.saturating_add(arg(0)),
                Intrinsic::SaturatingSub => x.saturating_sub(arg(0)),
                Intrinsic::SaturatingMul => x.saturating_mul(arg(0)),
                Intrinsic::Abs | Intrinsic::WrappingAbs => $abs(x),
                Intrinsic::Signum => $signum(x),
                Intrinsic::UnsignedAbs => return Value::$unsigned($unsigned_abs(x)),
                Intrinsic::FromBits => return $from_bits(x),
                Intrinsic::Bf16FromBits => return Value::Bf16(x as u16),
                of_floats!() => unreachable!("integers have no {}", intrinsic.name()),
            };
            Value::$variant(result)
        }
    };
}

fn no_sign<T, R>(_: T) -> R {
    unreachable!("unsigned integers have no methods of signed ones")
}

fn no_bits<T>(_: T) -> Value {
    unreachable!("only u16, u32 and u64 hold the bits of a float")
}

int_call!(
    i8_call,
    i8,
    I8,
    U8,
    i8::wrapping_abs,
    i8::signum,
    i8::unsigned_abs,
    no_bits
);
int_call!(u8_call, u8, U8, U8, no_sign, no_sign, no_sign, no_bits);
int_call!(
    i16_call,
    i16,
    I16,
    U16,
    i16::wrapping_abs,
    i16::signum,
    i16::unsigned_abs,
    no_bits
);
int_call!(
    u16_call,
    u16,
    U16,
    U16,
    no_sign,
    no_sign,
    no_sign,
    Value::F16
);
int_call!(
    i32_call,
    i32,
    I32,
    U32,
    i32::wrapping_abs,
    i32::signum,
    i32::unsigned_abs,
    no_bits
);
int_call!(
    i64_call,
    i64,
    I64,
    U64,
    i64::wrapping_abs,
    i64::signum,
    i64::unsigned_abs,
    no_bits
);
int_call!(
    u32_call,
    u32,
    U32,
    U32,
    no_sign,
    no_sign,
    no_sign,
    Value::F32
);
int_call!(
    u64_call,
    u64,
    U64,
    U64,
    no_sign,
    no_sign,
    no_sign,
    Value::F64
);
int_call!(
    usize_call, u64, Usize, Usize, no_sign, no_sign, no_sign, no_bits
);
