//! Intrinsics: numeric methods that are nodes of the IR.
//!
//! To add one, write a row here, its spelling in each dialect (`write/c/functions.rs`, `write/wgsl/functions.rs`), its value on the
//! host (`operators/call.rs`), and its form on 8 and 16 bits (`passes/widen_small.rs`). The compiler reports each missing place.

use super::{ArgType, Body, Exactness, Group, Method, ResultType, TypeClass};
use crate::Scalar;

macro_rules! exactness {
    () => {
        Exactness::Exact
    };
    ($exactness:ident) => {
        Exactness::$exactness
    };
}

macro_rules! intrinsics {
    ($(
        $(#[$doc:meta])*
        $variant:ident $name:literal $group:ident $class:ident
            ($($arg:ident $(($arg_type:expr))?),*) -> $result:ident $(($type:expr))? $(, $exactness:ident)?;
    )*) => {
        /// A numeric method, named as in Rust.
        ///
        /// The first operand is the receiver. No method has a side effect. A method faults only where the Rust method of the
        /// same name panics; a [`crate::Stmt::Assert`] before the call checks for that case.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Intrinsic {
            $($(#[$doc])* $variant,)*
        }

        impl Intrinsic {
            /// Every intrinsic.
            pub const ALL: &'static [Intrinsic] = &[$(Intrinsic::$variant,)*];
        }

        /// The rows of the table, in the order of the variants.
        pub(super) const ROWS: &[Method] = &[$({
            let kind = (Group::$group, TypeClass::$class);
            let args = &[$(ArgType::$arg $(($arg_type))?),*];
            let result = ResultType::$result $(($type))?;
            let body = Body::Intrinsic(Intrinsic::$variant);
            let row = Method::new($name, kind, args, result, body);
            Method {
                faults: matches!(Intrinsic::$variant, Intrinsic::Clamp),
                ..row.exactness(exactness!($($exactness)?))
            }
        },)*];
    };
}

/// The methods that only floats have, as a pattern.
macro_rules! of_floats {
    () => {
        $crate::Intrinsic::Sqrt
            | $crate::Intrinsic::Rsqrt
            | $crate::Intrinsic::Cbrt
            | $crate::Intrinsic::Exp
            | $crate::Intrinsic::Exp2
            | $crate::Intrinsic::ExpM1
            | $crate::Intrinsic::Ln
            | $crate::Intrinsic::Ln1p
            | $crate::Intrinsic::Log2
            | $crate::Intrinsic::Log10
            | $crate::Intrinsic::Sin
            | $crate::Intrinsic::Cos
            | $crate::Intrinsic::Tan
            | $crate::Intrinsic::Asin
            | $crate::Intrinsic::Acos
            | $crate::Intrinsic::Atan
            | $crate::Intrinsic::Atan2
            | $crate::Intrinsic::Sinh
            | $crate::Intrinsic::Cosh
            | $crate::Intrinsic::Tanh
            | $crate::Intrinsic::Powf
            | $crate::Intrinsic::Powi
            | $crate::Intrinsic::Hypot
            | $crate::Intrinsic::Floor
            | $crate::Intrinsic::Ceil
            | $crate::Intrinsic::Round
            | $crate::Intrinsic::Trunc
            | $crate::Intrinsic::Fract
            | $crate::Intrinsic::MulAdd
            | $crate::Intrinsic::Copysign
            | $crate::Intrinsic::IsNan
            | $crate::Intrinsic::IsInfinite
            | $crate::Intrinsic::IsFinite
            | $crate::Intrinsic::IsSignNegative
            | $crate::Intrinsic::ToBits
    };
}
pub(crate) use of_floats;

const I: Scalar = Scalar::I32;
const U: Scalar = Scalar::U32;
const B: Scalar = Scalar::Bool;

intrinsics! {
    /// Absolute value; wraps at `MIN`.
    Abs "abs" Basic Signed () -> Same;
    /// The smaller operand; if one is NaN, the other.
    Min "min" Basic Number (Same) -> Same, Zeros;
    /// The larger operand; if one is NaN, the other.
    Max "max" Basic Number (Same) -> Same, Zeros;
    /// Clamps to `lo..=hi`; an assertion before the call checks the bounds. NaN stays NaN.
    Clamp "clamp" Basic Number (Same, Same) -> Same;
    /// -1, 0 or 1 for integers; ±1 by the sign bit for floats, NaN for NaN.
    Signum "signum" Basic Signed () -> Same;
    /// Integer power by repeated multiplication, wrapping.
    Pow "pow" Power Int (Fixed(U)) -> Same;
    /// Square root, correctly rounded.
    Sqrt "sqrt" Basic Float () -> Same, Rounded;
    /// `1 / sqrt(x)`.
    Rsqrt "rsqrt" Basic Float () -> Same, Composed;
    /// Cube root.
    Cbrt "cbrt" Basic Float () -> Same, Elementary;
    /// `e^x`.
    Exp "exp" Power Float () -> Same, Elementary;
    /// `2^x`.
    Exp2 "exp2" Power Float () -> Same, Elementary;
    /// `e^x - 1`, accurate near 0.
    ExpM1 "exp_m1" Power Float () -> Same, Elementary;
    /// Natural logarithm.
    Ln "ln" Power Float () -> Same, Elementary;
    /// `ln(1 + x)`, accurate near 0.
    Ln1p "ln_1p" Power Float () -> Same, Elementary;
    /// Logarithm to base 2.
    Log2 "log2" Power Float () -> Same, Elementary;
    /// Logarithm to base 10.
    Log10 "log10" Power Float () -> Same, Elementary;
    /// Sine of radians.
    Sin "sin" Angle Float () -> Same, Elementary;
    /// Cosine of radians.
    Cos "cos" Angle Float () -> Same, Elementary;
    /// Tangent of radians.
    Tan "tan" Angle Float () -> Same, Elementary;
    /// Arc sine.
    Asin "asin" Angle Float () -> Same, Elementary;
    /// Arc cosine.
    Acos "acos" Angle Float () -> Same, Elementary;
    /// Arc tangent.
    Atan "atan" Angle Float () -> Same, Elementary;
    /// Angle of a point, whose `y` is the receiver and whose `x` is the argument.
    Atan2 "atan2" Angle Float (Same) -> Same, Elementary;
    /// Hyperbolic sine.
    Sinh "sinh" Angle Float () -> Same, Elementary;
    /// Hyperbolic cosine.
    Cosh "cosh" Angle Float () -> Same, Elementary;
    /// Hyperbolic tangent.
    Tanh "tanh" Angle Float () -> Same, Elementary;
    /// Power with a float exponent, as C's `pow`.
    Powf "powf" Power Float (Same) -> Same, Elementary;
    /// Power with an integer exponent.
    Powi "powi" Power Float (Fixed(I)) -> Same, Composed;
    /// `sqrt(x² + y²)` without undue overflow.
    Hypot "hypot" Basic Float (Same) -> Same, Elementary;
    /// Largest integer not above the number.
    Floor "floor" Rounding Float () -> Same;
    /// Smallest integer not below the number.
    Ceil "ceil" Rounding Float () -> Same;
    /// Nearest integer, halves away from zero.
    Round "round" Rounding Float () -> Same;
    /// Integer part.
    Trunc "trunc" Rounding Float () -> Same;
    /// `x - x.trunc()`.
    Fract "fract" Rounding Float () -> Same;
    /// `self * a + b`, rounded once.
    MulAdd "mul_add" Basic Float (Same, Same) -> Same, Rounded;
    /// The receiver with the argument's sign bit.
    Copysign "copysign" Basic Float (Same) -> Same;
    /// True for NaN.
    IsNan "is_nan" Bits Float () -> Fixed(B);
    /// True for an infinity.
    IsInfinite "is_infinite" Bits Float () -> Fixed(B);
    /// True for a number that is neither NaN nor infinite.
    IsFinite "is_finite" Bits Float () -> Fixed(B);
    /// True if the sign bit is set.
    IsSignNegative "is_sign_negative" Bits Float () -> Fixed(B);
    /// The bits as an unsigned integer.
    ToBits "to_bits" Bits Float () -> Unsigned;
    /// The float with these bits: `f32::from_bits(u32)`, whose argument is the receiver.
    FromBits "from_bits" Bits UnsignedInt () -> Float;
    /// The `bf16` with these bits. It needs a variant of its own, since `f16` has the same width.
    Bf16FromBits "from_bits" Bits UnsignedInt () -> Fixed(Scalar::Bf16);
    /// Number of one bits.
    CountOnes "count_ones" Bits Int () -> Fixed(U);
    /// Number of zero bits from the top.
    LeadingZeros "leading_zeros" Bits Int () -> Fixed(U);
    /// Number of zero bits from the bottom.
    TrailingZeros "trailing_zeros" Bits Int () -> Fixed(U);
    /// Rotation to the left; the count is taken modulo the width.
    RotateLeft "rotate_left" Bits Int (Fixed(U)) -> Same;
    /// Rotation to the right; the count is taken modulo the width.
    RotateRight "rotate_right" Bits Int (Fixed(U)) -> Same;
    /// Bits in reverse order.
    ReverseBits "reverse_bits" Bits Int () -> Same;
    /// Bytes in reverse order.
    SwapBytes "swap_bytes" Bits Int () -> Same;
    /// Addition that wraps in every build.
    WrappingAdd "wrapping_add" Wrapping Int (Same) -> Same;
    /// Subtraction that wraps in every build.
    WrappingSub "wrapping_sub" Wrapping Int (Same) -> Same;
    /// Multiplication that wraps in every build.
    WrappingMul "wrapping_mul" Wrapping Int (Same) -> Same;
    /// Negation that wraps in every build.
    WrappingNeg "wrapping_neg" Wrapping Int () -> Same;
    /// Absolute value that wraps at `MIN` in every build.
    WrappingAbs "wrapping_abs" Wrapping SignedInt () -> Same;
    /// Shift to the left with a masked count, in every build.
    WrappingShl "wrapping_shl" Wrapping Int (Fixed(U)) -> Same;
    /// Shift to the right with a masked count, in every build.
    WrappingShr "wrapping_shr" Wrapping Int (Fixed(U)) -> Same;
    /// Addition that stops at the type's bounds.
    SaturatingAdd "saturating_add" Saturating Int (Same) -> Same;
    /// Subtraction that stops at the type's bounds.
    SaturatingSub "saturating_sub" Saturating Int (Same) -> Same;
    /// Multiplication that stops at the type's bounds.
    SaturatingMul "saturating_mul" Saturating Int (Same) -> Same;
    /// Distance of two numbers, unsigned.
    AbsDiff "abs_diff" Basic Int (Same) -> Unsigned;
    /// Absolute value as an unsigned integer.
    UnsignedAbs "unsigned_abs" Basic SignedInt () -> Unsigned;
}

impl Intrinsic {
    /// The row of the table.
    pub const fn row(self) -> &'static Method {
        &ROWS[self as usize]
    }

    /// The Rust name of the method.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The types that have the method.
    pub const fn class(self) -> TypeClass {
        self.row().on
    }

    /// The types of the arguments after the receiver.
    pub const fn args(self) -> &'static [ArgType] {
        self.row().args
    }

    /// The type of the result.
    pub const fn result(self) -> ResultType {
        self.row().result
    }

    /// The exactness on floats.
    pub const fn exactness(self) -> Exactness {
        self.row().exactness
    }

    /// The intrinsic for a method of this name on this type. It includes elementary functions on 16-bit floats, which linked kernels call.
    pub fn method(name: &str, on: Scalar) -> Option<Intrinsic> {
        Intrinsic::ALL
            .iter()
            .copied()
            .find(|i| i.name() == name && i.class().contains(on) && !i.is_from_bits())
    }

    /// True for a transcendental function, or a root that processors lack.
    pub const fn is_elementary(self) -> bool {
        matches!(self.exactness(), Exactness::Elementary)
    }

    /// True if the result follows from the bits of the float alone, without arithmetic.
    pub const fn reads_bits(self) -> bool {
        use Intrinsic::*;
        matches!(
            self,
            IsNan | IsInfinite | IsFinite | IsSignNegative | ToBits
        )
    }

    /// The intrinsic for `from_bits` of a float type.
    pub const fn from_bits(float: Scalar) -> Intrinsic {
        match float {
            Scalar::Bf16 => Intrinsic::Bf16FromBits,
            _ => Intrinsic::FromBits,
        }
    }

    /// True for `from_bits`, which is an associated function and not a method.
    pub const fn is_from_bits(self) -> bool {
        matches!(self, Intrinsic::FromBits | Intrinsic::Bf16FromBits)
    }

    /// True if this type has the method. `from_bits` needs a float of the same width.
    pub const fn stands_on(self, on: Scalar) -> bool {
        let has_float = match self {
            Intrinsic::FromBits => !matches!(on, Scalar::Usize | Scalar::U8),
            Intrinsic::Bf16FromBits => matches!(on, Scalar::U16),
            _ => true,
        };
        self.class().contains(on) && has_float
    }

    /// The type of the result for a receiver of type `on`.
    pub const fn result_type(self, on: Scalar) -> Scalar {
        self.result().of(on)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_of_floats_is_their_class() {
        for intrinsic in Intrinsic::ALL {
            let is_of_floats = matches!(intrinsic, of_floats!());
            assert_eq!(
                is_of_floats,
                intrinsic.class() == TypeClass::Float,
                "{intrinsic:?}"
            );
        }
    }
}
