//! Helpers of generated code for compound values and for expressions that are not evaluated.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use half::{bf16, f16};
use sarek_ir::link::{self, LeafAt};
use sarek_ir::{Arithmetic, Scalar, TypeInfo, Value};

use super::{Audited, DirectArg, Float, Known, KnownType, Plain};
use crate::kernel::sealed;
use crate::vector::bytes;
use crate::{Element, KernelType, ScalarArg};

/// The argument of a parameter with several parts.
///
/// # Safety
/// The argument is a value of `T`.
#[inline(always)]
pub unsafe fn value<T>(args: &[DirectArg], index: usize) -> T {
    match args[index] {
        // SAFETY: the caller's promise.
        DirectArg::Value { ptr, .. } => unsafe { ptr.cast::<T>().read_unaligned() },
        DirectArg::Scalar(_) | DirectArg::Slice { .. } => {
            unreachable!("argument {index} is a value of several parts")
        }
    }
}

/// The operand types of operators and methods in kernels: numbers and `bool`. The trait is sealed,
/// because proofs assume the operations of numbers.
///
/// ```
/// fn take(_: impl sarek_runtime::host::Number) {}
/// take(1u32);
/// ```
///
/// ```compile_fail,E0277
/// #[derive(Clone, Copy)]
/// struct My(u32);
///
/// impl sarek_runtime::host::Number for My {
///     fn __value(self) -> sarek_ir::Value {
///         sarek_ir::Value::U32(self.0)
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "SRK0314: operators and methods of kernels work on numbers and `bool`, not on `{Self}`",
    label = "not a number",
    note = "why: a kernel does not see the operators and methods of the type itself",
    note = "instead: apply it to each part, `match` on variants, call a `#[device]` function, or bind a vector with its type"
)]
pub trait Number: Copy + sealed::Scalar {
    #[doc(hidden)]
    #[inline(always)]
    fn __number(self) -> Self {
        self
    }

    #[doc(hidden)]
    fn __value(self) -> Value;

    #[doc(hidden)]
    fn __min(self, other: Self) -> Self;

    #[doc(hidden)]
    fn __max(self, other: Self) -> Self;
}

/// True if the result of integer arithmetic does not fit its type; always false for floats.
pub fn overflows(arithmetic: Arithmetic, operands: &[Value]) -> bool {
    operands[0].scalar().is_int() && arithmetic.overflows(operands)
}

macro_rules! numbers {
    ($($ty:ident $of:ident $value:expr;)*) => {$(
        impl Number for $ty {
            fn __value(self) -> Value {
                $value(self)
            }

            #[inline(always)]
            fn __min(self, other: $ty) -> $ty {
                <$ty as $of>::min(self, other)
            }

            #[inline(always)]
            fn __max(self, other: $ty) -> $ty {
                <$ty as $of>::max(self, other)
            }
        }
    )*};
}

numbers! {
    bool Ord Value::Bool;
    i8 Ord Value::I8;
    u8 Ord Value::U8;
    i16 Ord Value::I16;
    u16 Ord Value::U16;
    i32 Ord Value::I32;
    u32 Ord Value::U32;
    i64 Ord Value::I64;
    u64 Ord Value::U64;
    usize Ord |v| Value::Usize(v as u64);
    f16 Float |v: f16| Value::F16(v.to_bits());
    bf16 Float |v: bf16| Value::Bf16(v.to_bits());
    f32 Float Value::f32;
    f64 Float Value::f64;
}

/// An array of zeros.
#[inline(always)]
pub fn zeroed<T: Plain, const N: usize>() -> [T; N] {
    // SAFETY: zero is a value of a plain type.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// The length of the array at `array`.
#[inline(always)]
pub fn array_len<T, const N: usize>(_: *mut [T; N]) -> usize {
    N
}

/// The length of an array from an expression that is not evaluated.
#[inline(always)]
pub fn len_of<T, const N: usize>(_: impl FnOnce() -> [T; N]) -> usize {
    N
}

/// A pointer to an element of the array at `array`.
///
/// # Safety
/// `index` is below the length, and the array exists.
#[inline(always)]
pub unsafe fn array_element<T, const N: usize>(array: *mut [T; N], index: usize) -> *mut T {
    // SAFETY: the caller's promise.
    unsafe { array.cast::<T>().add(index) }
}

/// A value of any type, for expressions that are not evaluated.
pub fn of_type<T>() -> T {
    unreachable!("only its type is asked for")
}

/// Gives a literal the type of the first argument, in code that is not evaluated. The type exists
/// only if the function around it type checks, see [`KnownType`].
pub fn tell<const OK: bool, T>(_: PhantomData<T>, literal: KnownType<OK, T>) -> KnownType<OK, T>
where
    Audited<OK>: Known<T>,
{
    literal
}

/// A value of the given type, in code that is not evaluated.
pub fn told<T>(_: PhantomData<T>) -> T {
    unreachable!("only its type is asked for")
}

/// A `Result` of two types, for expressions that are not evaluated.
pub fn either<T, E>(_: T, _: E) -> Result<T, E> {
    unreachable!("only its type is asked for")
}

/// The scalars of a value in the order of [`link::leaves`]; zeros for the fields of inactive
/// variants.
pub fn leaves<T: Element>(value: &T) -> Vec<Value> {
    let bytes = bytes::of(std::slice::from_ref(value));
    let leaves = link::leaves(&T::TYPE).into_iter();
    leaves
        .map(|leaf| scalar(&bytes[leaf.offset as usize..], leaf.scalar))
        .collect()
}

/// The same, with the scalars of array elements grouped.
///
/// # Safety
/// The type's layout is the one that [`KernelType::TYPE`] describes.
pub(crate) unsafe fn leaves_in_memory<T: KernelType>(value: &T) -> Vec<Vec<Value>> {
    // SAFETY: the caller's promise.
    let bytes = unsafe { bytes::of_described(std::slice::from_ref(value)) };
    let read = |leaf: LeafAt| scalar(&bytes[leaf.offset as usize..], leaf.scalar);
    let each = link::each_leaf(&T::TYPE).into_iter();
    each.map(|leaf| leaf.into_iter().map(read).collect())
        .collect()
}

/// Zeros for all scalars of a type.
pub(crate) fn no_leaves(info: &TypeInfo) -> Vec<Vec<Value>> {
    let zero = |leaf: LeafAt| Value::zero(leaf.scalar);
    let each = link::each_leaf(info).into_iter();
    each.map(|leaf| leaf.into_iter().map(zero).collect())
        .collect()
}

fn scalar(bytes: &[u8], scalar: Scalar) -> Value {
    macro_rules! read {
        ($ty:ident) => {{
            let bytes = bytes.first_chunk().copied();
            ScalarArg::value($ty::from_ne_bytes(bytes.unwrap_or_default()))
        }};
    }
    match scalar {
        Scalar::Bool => Value::Bool(bytes[0] != 0),
        Scalar::I8 => read!(i8),
        Scalar::U8 => read!(u8),
        Scalar::I16 => read!(i16),
        Scalar::U16 => read!(u16),
        Scalar::I32 => read!(i32),
        Scalar::U32 => read!(u32),
        Scalar::I64 => read!(i64),
        Scalar::U64 => read!(u64),
        Scalar::Usize => read!(usize),
        Scalar::F16 => read!(f16),
        Scalar::Bf16 => read!(bf16),
        Scalar::F32 => read!(f32),
        Scalar::F64 => read!(f64),
    }
}
