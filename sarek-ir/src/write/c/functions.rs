use std::borrow::Cow;

use crate::{Intrinsic, Scalar};

/// The function or helper for an intrinsic in C; functions of C itself have C's names. A dialect overrides it where its
/// name differs.
pub fn function(intrinsic: Intrinsic, ty: Scalar) -> Option<Cow<'static, str>> {
    use Intrinsic as I;
    let name = match intrinsic {
        I::Abs if ty.is_float() => "fabs",
        I::Min if ty.is_float() => "fmin",
        I::Max if ty.is_float() => "fmax",
        I::Min => "min",
        I::Max => "max",
        I::Sqrt => "sqrt",
        I::Rsqrt => "rsqrt",
        I::Cbrt => "cbrt",
        I::Exp => "exp",
        I::Exp2 => "exp2",
        I::ExpM1 => "expm1",
        I::Ln => "log",
        I::Ln1p => "log1p",
        I::Log2 => "log2",
        I::Log10 => "log10",
        I::Sin => "sin",
        I::Cos => "cos",
        I::Tan => "tan",
        I::Asin => "asin",
        I::Acos => "acos",
        I::Atan => "atan",
        I::Atan2 => "atan2",
        I::Sinh => "sinh",
        I::Cosh => "cosh",
        I::Tanh => "tanh",
        I::Powf => "pow",
        I::Hypot => "hypot",
        I::Floor => "floor",
        I::Ceil => "ceil",
        I::Round => "round",
        I::Trunc => "trunc",
        I::MulAdd => "fma",
        I::Copysign => "copysign",
        I::Abs
        | I::Clamp
        | I::Signum
        | I::Pow
        | I::Powi
        | I::Fract
        | I::IsNan
        | I::IsInfinite
        | I::IsFinite
        | I::IsSignNegative
        | I::ToBits
        | I::FromBits
        | I::CountOnes
        | I::LeadingZeros
        | I::TrailingZeros
        | I::RotateLeft
        | I::RotateRight
        | I::ReverseBits
        | I::SwapBytes
        | I::SaturatingAdd
        | I::SaturatingSub
        | I::SaturatingMul
        | I::AbsDiff
        | I::UnsignedAbs => return Some(format!("srk_{}_{ty}", intrinsic.name()).into()),
        I::Bf16FromBits => "srk_from_bits_bf16",
        I::WrappingAbs => return Some(format!("srk_abs_{ty}").into()),
        I::WrappingAdd
        | I::WrappingSub
        | I::WrappingMul
        | I::WrappingNeg
        | I::WrappingShl
        | I::WrappingShr => unreachable!("written as operators"),
    };
    Some(name.into())
}
