//! The values of the table's columns: types, forms of results, exactness.

use crate::Scalar;

/// Types that share a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeClass {
    /// Floats.
    Float,
    /// `f32` and `f64`.
    WideFloat,
    /// Integers, `usize` included.
    Int,
    /// Signed integers.
    SignedInt,
    /// Unsigned integers, `usize` included.
    UnsignedInt,
    /// Unsigned integers that have a signed counterpart: all but `usize`.
    FixedUnsignedInt,
    /// Signed integers and floats.
    Signed,
    /// All numbers.
    Number,
    /// One type.
    Only(Scalar),
}

impl TypeClass {
    /// True if the type is in the class.
    pub const fn contains(self, ty: Scalar) -> bool {
        match self {
            TypeClass::Float => ty.is_float(),
            TypeClass::WideFloat => matches!(ty, Scalar::F32 | Scalar::F64),
            TypeClass::Int => ty.is_int(),
            TypeClass::SignedInt => ty.is_signed(),
            TypeClass::UnsignedInt => ty.is_int() && !ty.is_signed(),
            TypeClass::FixedUnsignedInt => {
                ty.is_int() && !ty.is_signed() && !matches!(ty, Scalar::Usize)
            }
            TypeClass::Signed => ty.is_signed() || ty.is_float(),
            TypeClass::Number => ty.is_int() || ty.is_float(),
            TypeClass::Only(only) => only as u8 == ty as u8,
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
    /// The integer of the receiver's width with the other signedness.
    Counterpart,
}

impl ArgType {
    /// The type of the argument for a receiver of type `on`.
    pub const fn of(self, on: Scalar) -> Scalar {
        match self {
            ArgType::Same => on,
            ArgType::Fixed(ty) => ty,
            ArgType::Counterpart => counterpart(on),
        }
    }
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
    /// The integer of the receiver's width with the other signedness.
    Counterpart,
}

impl ResultType {
    /// The type of the result for a receiver of type `on`.
    pub const fn of(self, on: Scalar) -> Scalar {
        match self {
            ResultType::Same => on,
            ResultType::Fixed(ty) => ty,
            ResultType::Unsigned => unsigned(on),
            ResultType::Float => match on {
                Scalar::U16 => Scalar::F16,
                Scalar::U32 => Scalar::F32,
                _ => Scalar::F64,
            },
            ResultType::Counterpart => counterpart(on),
        }
    }
}

/// The unsigned integer with the width of a number.
const fn unsigned(on: Scalar) -> Scalar {
    match on {
        Scalar::I8 | Scalar::U8 => Scalar::U8,
        Scalar::I16 | Scalar::U16 | Scalar::F16 | Scalar::Bf16 => Scalar::U16,
        Scalar::I32 | Scalar::U32 | Scalar::F32 => Scalar::U32,
        Scalar::Usize => Scalar::Usize,
        Scalar::Bool | Scalar::I64 | Scalar::U64 | Scalar::F64 => Scalar::U64,
    }
}

/// The integer of the same width with the other signedness. `usize` gives `usize`, since kernels have no `isize`.
const fn counterpart(on: Scalar) -> Scalar {
    match on {
        Scalar::U8 => Scalar::I8,
        Scalar::U16 => Scalar::I16,
        Scalar::U32 => Scalar::I32,
        Scalar::U64 => Scalar::I64,
        _ => unsigned(on),
    }
}

/// The form of a method's result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Returns {
    /// One number or `bool`.
    Value,
    /// An `Option` of the value.
    Optional,
    /// A pair of the value and a `bool` that reports overflow.
    Overflow,
    /// A pair of two values.
    Pair,
}

/// The exactness of a method of floats in a [strict](crate::Kernel::strict) kernel. Methods of integers are exact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exactness {
    /// Exact to the bit on every target, in all kernels.
    Exact,
    /// Exact to the bit in strict kernels, by IEEE 754. In other kernels, some targets are off by a few ulps.
    Rounded,
    /// Exact, but of two zeros with different signs, either may be the result.
    Zeros,
    /// Composed of several rounded operations, which depend on the target.
    Composed,
    /// A transcendental function, or a root that processors lack: targets promise a few ulps.
    Elementary,
}

/// A trait of the façade by which generic kernels call a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NumberTrait {
    /// `sarek::Int`
    Int,
    /// `sarek::Float`
    Float,
}

/// The Rust item that a call of a method names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// The type itself.
    Type,
    /// `core::cmp::Ord`
    Ord,
    /// `sarek::Float`
    Float,
}
