//! Traits that bound the type parameters of generic kernels.

use std::fmt::Debug;
use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign,
    Mul, MulAssign, Neg, Not, Rem, RemAssign, Shl, Shr, Sub, SubAssign,
};

use half::{bf16, f16};

use super::{Element, Number, ScalarArg};
use crate::math::{Divide, Elementary, Half, narrow, wide};

use crate::math::of_rows::{by_f32, declare, rows};

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// A scalar that vectors can hold: `bool`, an integer of fixed width, or a float.
#[diagnostic::on_unimplemented(
    message = "SRK0315: `{Self}` is not a scalar that vectors hold",
    label = "not a scalar of vectors",
    note = "why: each instance of a generic kernel is rendered for devices, which know only these types",
    note = "instead: use one of bool, i8 to i64, u8 to u64, f16, bf16, f32 and f64"
)]
pub trait Scalar:
    Sealed + Number + Element + ScalarArg + Default + Debug + PartialEq + PartialOrd
{
}

/// A number that vectors can hold: `i8` to `i64`, `u8` to `u64`, `f16`, `bf16`, `f32`, `f64`.
#[diagnostic::on_unimplemented(
    message = "SRK0315: `{Self}` is not a number that vectors hold",
    label = "not a number of vectors",
    note = "why: each instance of a generic kernel is rendered for devices, which know only these types",
    note = "instead: use one of i8 to i64, u8 to u64, f16, bf16, f32 and f64"
)]
#[allow(missing_docs)] // the conversions work like `as`
pub trait Num:
    Scalar
    + Divide
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + RemAssign
{
    /// The value 0.
    const ZERO: Self;
    /// The value 1.
    const ONE: Self;
    /// The smallest finite value.
    const MIN: Self;
    /// The largest finite value.
    const MAX: Self;

    fn from_i32(value: i32) -> Self;
    fn from_u32(value: u32) -> Self;
    fn from_i64(value: i64) -> Self;
    fn from_u64(value: u64) -> Self;
    fn from_usize(value: usize) -> Self;
    fn from_f32(value: f32) -> Self;
    fn from_f64(value: f64) -> Self;
    fn to_i32(self) -> i32;
    fn to_u32(self) -> u32;
    fn to_i64(self) -> i64;
    fn to_u64(self) -> u64;
    fn to_usize(self) -> usize;
    fn to_f32(self) -> f32;
    fn to_f64(self) -> f64;
}

/// An integer that vectors can hold.
#[diagnostic::on_unimplemented(
    message = "SRK0315: `{Self}` is not an integer that vectors hold",
    label = "not an integer of vectors",
    note = "why: each instance of a generic kernel is rendered for devices, which know only these types",
    note = "instead: use one of i8 to i64 and u8 to u64"
)]
pub trait Int:
    Num
    + Eq
    + Ord
    + Not<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + BitAndAssign
    + BitOrAssign
    + BitXorAssign
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// The number of bits.
    const BITS: u32;

    sarek_ir::intrinsic_rows! { rows [declare Int] }
}

/// A float that vectors can hold: `f16`, `bf16`, `f32` or `f64`.
///
/// The methods of `f16` and `bf16` compute in `f32` and round the result.
#[diagnostic::on_unimplemented(
    message = "SRK0315: `{Self}` is not a float that vectors hold",
    label = "not a float of vectors",
    note = "why: each instance of a generic kernel is rendered for devices, which know only these types",
    note = "instead: use one of f16, bf16, f32 and f64"
)]
pub trait Float: Num + Neg<Output = Self> + Elementary {
    /// The distance from 1 to the next larger value.
    const EPSILON: Self;
    /// The ratio of a circle's circumference to its diameter.
    const PI: Self;
    /// Infinity.
    const INFINITY: Self;

    sarek_ir::intrinsic_rows! { rows [declare Float] }
}

/// A method that the type has itself.
macro_rules! forward {
    // std has no such function.
    ($of:ident {$($doc:tt)*} rsqrt() -> Self) => {
        #[inline(always)]
        fn rsqrt(self) -> Self {
            Self::ONE / self.sqrt()
        }
    };
    ($of:ident {$($doc:tt)*} $name:ident($($arg:ident: $ty:ty),*) -> $out:ty) => {
        #[inline(always)]
        fn $name(self, $($arg: $ty),*) -> $out {
            Self::$name(self, $($arg),*)
        }
    };
}

impl Sealed for bool {}
impl Scalar for bool {}

macro_rules! conversions {
    ($t:ident: $($from:ident $to:ident $ty:ident;)*) => {$(
        #[inline(always)]
        fn $from(value: $ty) -> $t {
            value as $t
        }

        #[inline(always)]
        fn $to(self) -> $ty {
            self as $ty
        }
    )*};
}

macro_rules! numbers {
    ($($t:ident $zero:literal $one:literal;)*) => {$(
        impl Sealed for $t {}
        impl Scalar for $t {}

        impl Num for $t {
            const ZERO: $t = $zero;
            const ONE: $t = $one;
            const MIN: $t = $t::MIN;
            const MAX: $t = $t::MAX;

            conversions! { $t:
                from_i32 to_i32 i32;
                from_u32 to_u32 u32;
                from_i64 to_i64 i64;
                from_u64 to_u64 u64;
                from_usize to_usize usize;
                from_f32 to_f32 f32;
                from_f64 to_f64 f64;
            }
        }
    )*};
}

numbers! {
    i8 0 1;
    u8 0 1;
    i16 0 1;
    u16 0 1;
    i32 0 1;
    u32 0 1;
    i64 0 1;
    u64 0 1;
    f32 0.0 1.0;
    f64 0.0 1.0;
}

macro_rules! ints {
    ($($t:ident)*) => {$(
        impl Int for $t {
            const BITS: u32 = $t::BITS;

            sarek_ir::intrinsic_rows! { rows [forward Int] }
        }
    )*};
}

ints!(i8 u8 i16 u16 i32 u32 i64 u64);

macro_rules! floats {
    ($($t:ident)*) => {$(
        impl Float for $t {
            const EPSILON: $t = $t::EPSILON;
            const PI: $t = std::$t::consts::PI;
            const INFINITY: $t = $t::INFINITY;

            sarek_ir::intrinsic_rows! { rows [forward Float] }
        }
    )*};
}

floats!(f32 f64);

macro_rules! half_conversions {
    ($t:ident: $($from:ident $to:ident $ty:ident;)*) => {$(
        // The conversion goes through `f32`, as in the `half` crate.
        #[inline(always)]
        fn $from(value: $ty) -> $t {
            narrow(value as f32)
        }

        #[inline(always)]
        fn $to(self) -> $ty {
            wide(self) as $ty
        }
    )*};
}

macro_rules! halves {
    ($($t:ident)*) => {$(
        impl Sealed for $t {}
        impl Scalar for $t {}

        impl Num for $t {
            const ZERO: $t = $t::ZERO;
            const ONE: $t = $t::ONE;
            const MIN: $t = $t::MIN;
            const MAX: $t = $t::MAX;

            half_conversions! { $t:
                from_i32 to_i32 i32;
                from_u32 to_u32 u32;
                from_i64 to_i64 i64;
                from_u64 to_u64 u64;
                from_usize to_usize usize;
                from_f32 to_f32 f32;
            }

            #[inline(always)]
            fn from_f64(value: f64) -> $t {
                $t::narrow_f64(value)
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                wide(self).into()
            }
        }

        impl Float for $t {
            const EPSILON: $t = $t::EPSILON;
            const PI: $t = $t::PI;
            const INFINITY: $t = $t::INFINITY;

            sarek_ir::intrinsic_rows! { rows [by_f32 Float] }
        }
    )*};
}

halves!(f16 bf16);
