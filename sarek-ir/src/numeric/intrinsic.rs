//! The one table of numeric methods.

use crate::Scalar;

/// On which types a method stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeClass {
    /// Floats.
    Float,
    /// Integers, `usize` included.
    Int,
    /// Signed integers.
    SignedInt,
    /// Unsigned integers, `usize` included.
    UnsignedInt,
    /// Signed integers and floats.
    Signed,
    /// All numbers.
    Number,
}

impl TypeClass {
    /// Is the type in the class?
    pub const fn contains(self, ty: Scalar) -> bool {
        match self {
            TypeClass::Float => ty.is_float(),
            TypeClass::Int => ty.is_int(),
            TypeClass::SignedInt => ty.is_signed(),
            TypeClass::UnsignedInt => ty.is_int() && !ty.is_signed(),
            TypeClass::Signed => ty.is_signed() || ty.is_float(),
            TypeClass::Number => ty.is_int() || ty.is_float(),
        }
    }
}

/// The type of an argument after the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgType {
    /// The receiver's type.
    Same,
    /// A fixed type.
    Fixed(Scalar),
}

/// The type of a method's result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultType {
    /// The receiver's type.
    Same,
    /// A fixed type.
    Fixed(Scalar),
    /// The unsigned integer of the receiver's width (`f32` gives `u32`).
    Unsigned,
    /// The float of the receiver's width (`u32` gives `f32`).
    Float,
}

/// How exact a method of floats is where a kernel is [strict](crate::Kernel::strict); those of integers are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exactness {
    /// To the bit, by IEEE 754 or by Rust.
    Exact,
    /// Of zeros with different signs either may come out.
    Zeros,
    /// Made of operations each of which rounds, in a way of the target's.
    Composed,
    /// A transcendental function, or a root that processors have not: of these, targets promise some ulps.
    Elementary,
}

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
        $variant:ident $name:literal $class:ident ($($arg:expr),*) -> $result:expr $(, $exactness:ident)?;
    )*) => {
        /// A numeric method, named as in Rust.
        ///
        /// The first operand is the receiver. None of them has an effect; none faults except as
        /// its Rust namesake does, and those faults are [`crate::Stmt::Assert`]s before it.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Intrinsic {
            $($(#[$doc])* $variant,)*
        }

        impl Intrinsic {
            /// Every intrinsic.
            pub const ALL: &'static [Intrinsic] = &[$(Intrinsic::$variant,)*];

            /// The Rust name of the method.
            pub const fn name(self) -> &'static str {
                match self { $(Intrinsic::$variant => $name,)* }
            }

            /// The types that have the method.
            pub const fn class(self) -> TypeClass {
                match self { $(Intrinsic::$variant => TypeClass::$class,)* }
            }

            /// The types of the arguments after the receiver.
            pub const fn args(self) -> &'static [ArgType] {
                use ArgType::*;
                match self { $(Intrinsic::$variant => const { &[$($arg),*] },)* }
            }

            /// The type of the result.
            pub const fn result(self) -> ResultType {
                use ResultType::*;
                match self { $(Intrinsic::$variant => $result,)* }
            }

            /// How exact it is on floats.
            pub const fn exactness(self) -> Exactness {
                match self { $(Intrinsic::$variant => exactness!($($exactness)?),)* }
            }
        }
    };
}

/// The methods that floats alone have, as a pattern.
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
    Abs "abs" Signed () -> Same;
    /// The smaller; the other operand when one is NaN.
    Min "min" Number (Same) -> Same, Zeros;
    /// The larger; the other operand when one is NaN.
    Max "max" Number (Same) -> Same, Zeros;
    /// Clamps to `lo..=hi`; an assertion before it checks the bounds. NaN stays NaN.
    Clamp "clamp" Number (Same, Same) -> Same;
    /// -1, 0 or 1 for integers; ±1 by the sign bit for floats, NaN for NaN.
    Signum "signum" Signed () -> Same;
    /// Integer power by repeated multiplication, wrapping.
    Pow "pow" Int (Fixed(U)) -> Same;
    /// Square root, correctly rounded.
    Sqrt "sqrt" Float () -> Same;
    /// `1 / sqrt(x)`.
    Rsqrt "rsqrt" Float () -> Same, Composed;
    /// Cube root.
    Cbrt "cbrt" Float () -> Same, Elementary;
    /// `e^x`.
    Exp "exp" Float () -> Same, Elementary;
    /// `2^x`.
    Exp2 "exp2" Float () -> Same, Elementary;
    /// `e^x - 1`, accurate near 0.
    ExpM1 "exp_m1" Float () -> Same, Elementary;
    /// Natural logarithm.
    Ln "ln" Float () -> Same, Elementary;
    /// `ln(1 + x)`, accurate near 0.
    Ln1p "ln_1p" Float () -> Same, Elementary;
    /// Logarithm to base 2.
    Log2 "log2" Float () -> Same, Elementary;
    /// Logarithm to base 10.
    Log10 "log10" Float () -> Same, Elementary;
    /// Sine of radians.
    Sin "sin" Float () -> Same, Elementary;
    /// Cosine of radians.
    Cos "cos" Float () -> Same, Elementary;
    /// Tangent of radians.
    Tan "tan" Float () -> Same, Elementary;
    /// Arc sine.
    Asin "asin" Float () -> Same, Elementary;
    /// Arc cosine.
    Acos "acos" Float () -> Same, Elementary;
    /// Arc tangent.
    Atan "atan" Float () -> Same, Elementary;
    /// Angle of the point (`x` = argument, `y` = receiver).
    Atan2 "atan2" Float (Same) -> Same, Elementary;
    /// Hyperbolic sine.
    Sinh "sinh" Float () -> Same, Elementary;
    /// Hyperbolic cosine.
    Cosh "cosh" Float () -> Same, Elementary;
    /// Hyperbolic tangent.
    Tanh "tanh" Float () -> Same, Elementary;
    /// Power with a float exponent; C's `pow`.
    Powf "powf" Float (Same) -> Same, Elementary;
    /// Power with an integer exponent.
    Powi "powi" Float (Fixed(I)) -> Same, Composed;
    /// `sqrt(x² + y²)` without undue overflow.
    Hypot "hypot" Float (Same) -> Same, Elementary;
    /// Largest integer not above.
    Floor "floor" Float () -> Same;
    /// Smallest integer not below.
    Ceil "ceil" Float () -> Same;
    /// Nearest integer, halves away from zero.
    Round "round" Float () -> Same;
    /// Integer part.
    Trunc "trunc" Float () -> Same;
    /// `x - x.trunc()`.
    Fract "fract" Float () -> Same;
    /// `self * a + b`, rounded once.
    MulAdd "mul_add" Float (Same, Same) -> Same;
    /// The receiver with the argument's sign bit.
    Copysign "copysign" Float (Same) -> Same;
    /// Is it NaN?
    IsNan "is_nan" Float () -> Fixed(B);
    /// Is it an infinity?
    IsInfinite "is_infinite" Float () -> Fixed(B);
    /// Is it neither NaN nor infinite?
    IsFinite "is_finite" Float () -> Fixed(B);
    /// Is the sign bit set?
    IsSignNegative "is_sign_negative" Float () -> Fixed(B);
    /// The bits as an unsigned integer.
    ToBits "to_bits" Float () -> Unsigned;
    /// The float of these bits: `f32::from_bits(u32)`, the receiver being the argument.
    FromBits "from_bits" UnsignedInt () -> Float;
    /// The same of `bf16`, which is no wider than `f16`.
    Bf16FromBits "from_bits" UnsignedInt () -> Fixed(Scalar::Bf16);
    /// Number of one bits.
    CountOnes "count_ones" Int () -> Fixed(U);
    /// Number of zero bits from the top.
    LeadingZeros "leading_zeros" Int () -> Fixed(U);
    /// Number of zero bits from the bottom.
    TrailingZeros "trailing_zeros" Int () -> Fixed(U);
    /// Rotation to the left; the count is taken modulo the width.
    RotateLeft "rotate_left" Int (Fixed(U)) -> Same;
    /// Rotation to the right; the count is taken modulo the width.
    RotateRight "rotate_right" Int (Fixed(U)) -> Same;
    /// Bits in reverse order.
    ReverseBits "reverse_bits" Int () -> Same;
    /// Bytes in reverse order.
    SwapBytes "swap_bytes" Int () -> Same;
    /// Addition that wraps in every build.
    WrappingAdd "wrapping_add" Int (Same) -> Same;
    /// Subtraction that wraps in every build.
    WrappingSub "wrapping_sub" Int (Same) -> Same;
    /// Multiplication that wraps in every build.
    WrappingMul "wrapping_mul" Int (Same) -> Same;
    /// Negation that wraps in every build.
    WrappingNeg "wrapping_neg" Int () -> Same;
    /// Absolute value that wraps at `MIN` in every build.
    WrappingAbs "wrapping_abs" SignedInt () -> Same;
    /// Shift to the left, the count masked, in every build.
    WrappingShl "wrapping_shl" Int (Fixed(U)) -> Same;
    /// Shift to the right, the count masked, in every build.
    WrappingShr "wrapping_shr" Int (Fixed(U)) -> Same;
    /// Addition that stops at the type's bounds.
    SaturatingAdd "saturating_add" Int (Same) -> Same;
    /// Subtraction that stops at the type's bounds.
    SaturatingSub "saturating_sub" Int (Same) -> Same;
    /// Multiplication that stops at the type's bounds.
    SaturatingMul "saturating_mul" Int (Same) -> Same;
    /// Distance of two numbers, unsigned.
    AbsDiff "abs_diff" Int (Same) -> Unsigned;
    /// Absolute value as an unsigned integer.
    UnsignedAbs "unsigned_abs" SignedInt () -> Unsigned;
}

impl Intrinsic {
    /// The intrinsic behind a method of this name on this type.
    pub fn method(name: &str, on: Scalar) -> Option<Intrinsic> {
        Intrinsic::ALL
            .iter()
            .copied()
            .find(|i| i.name() == name && i.class().contains(on) && !i.is_from_bits())
    }

    /// Is it a transcendental function, or a root that processors have not?
    pub const fn is_elementary(self) -> bool {
        matches!(self.exactness(), Exactness::Elementary)
    }

    /// Does it tell of a float what its bits tell?
    pub const fn reads_bits(self) -> bool {
        use Intrinsic::*;
        matches!(
            self,
            IsNan | IsInfinite | IsFinite | IsSignNegative | ToBits
        )
    }

    /// `from_bits` of a float type.
    pub const fn from_bits(float: Scalar) -> Intrinsic {
        match float {
            Scalar::Bf16 => Intrinsic::Bf16FromBits,
            _ => Intrinsic::FromBits,
        }
    }

    /// Is it a function from bits, not a method?
    pub const fn is_from_bits(self) -> bool {
        matches!(self, Intrinsic::FromBits | Intrinsic::Bf16FromBits)
    }

    /// Is there such a method on this type? Not every width of bits is that of a float.
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
        match (self.result(), on) {
            (ResultType::Same, _) => on,
            (ResultType::Fixed(s), _) => s,
            (ResultType::Unsigned, Scalar::I8 | Scalar::U8) => Scalar::U8,
            (ResultType::Unsigned, Scalar::I16 | Scalar::U16 | Scalar::F16 | Scalar::Bf16) => {
                Scalar::U16
            }
            (ResultType::Unsigned, Scalar::I32 | Scalar::U32 | Scalar::F32) => Scalar::U32,
            (ResultType::Unsigned, Scalar::Usize) => Scalar::Usize,
            (ResultType::Unsigned, _) => Scalar::U64,
            (ResultType::Float, Scalar::U16) => Scalar::F16,
            (ResultType::Float, Scalar::U32) => Scalar::F32,
            (ResultType::Float, _) => Scalar::F64,
        }
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
