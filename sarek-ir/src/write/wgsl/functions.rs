use std::borrow::Cow;

use crate::{Intrinsic, Scalar};

/// WGSL's own function, or a helper where WGSL specifies less than Rust: for NaN, infinities, zeros, negative bases and
/// halves. naga's `f64` has no elementary functions.
pub(super) fn function(intrinsic: Intrinsic, ty: Scalar) -> Option<Cow<'static, str>> {
    use Intrinsic as I;
    let name = match intrinsic {
        I::Min | I::Max if ty.is_int() => intrinsic.name(),
        I::Sqrt => "sqrt",
        I::Rsqrt => "inverseSqrt",
        I::MulAdd => "fma",
        I::ToBits if ty.is_half() => return Some(format!("srk_to_bits_{ty}").into()),
        I::FromBits if ty == Scalar::U16 => return Some("srk_from_bits_u16".into()),
        I::Bf16FromBits => "srk_from_bits_bf16",
        I::ToBits if ty == Scalar::F32 => "bitcast<u32>",
        I::ToBits => "bitcast<u64>",
        I::FromBits if ty == Scalar::U32 => "bitcast<f32>",
        I::FromBits => "bitcast<f64>",
        I::Exp
        | I::Exp2
        | I::ExpM1
        | I::Ln
        | I::Ln1p
        | I::Log2
        | I::Log10
        | I::Sin
        | I::Cos
        | I::Tan
        | I::Asin
        | I::Acos
        | I::Atan
        | I::Atan2
        | I::Sinh
        | I::Cosh
        | I::Tanh
        | I::Powf
        | I::Cbrt
            if ty == Scalar::F64 =>
        {
            return None;
        }
        I::Exp => "exp",
        I::Exp2 => "exp2",
        I::Ln => "log",
        I::Log2 => "log2",
        I::Sin => "sin",
        I::Cos => "cos",
        I::Tan => "tan",
        I::WrappingAbs => return Some(format!("srk_abs_{ty}").into()),
        I::Abs
        | I::Min
        | I::Max
        | I::Clamp
        | I::Signum
        | I::Pow
        | I::Cbrt
        | I::ExpM1
        | I::Ln1p
        | I::Log10
        | I::Asin
        | I::Acos
        | I::Atan
        | I::Atan2
        | I::Sinh
        | I::Cosh
        | I::Tanh
        | I::Powf
        | I::Powi
        | I::Hypot
        | I::Floor
        | I::Ceil
        | I::Trunc
        | I::Round
        | I::Fract
        | I::Copysign
        | I::IsNan
        | I::IsInfinite
        | I::IsFinite
        | I::IsSignNegative
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
        I::WrappingAdd
        | I::WrappingSub
        | I::WrappingMul
        | I::WrappingNeg
        | I::WrappingShl
        | I::WrappingShr => unreachable!("written as operators"),
    };
    Some(name.into())
}
