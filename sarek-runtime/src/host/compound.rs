//! Helpers of generated code for compound values and for expressions that are not evaluated.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use sarek_ir::{Arithmetic, Value};

use super::{CheckedType, DirectArg, IfTypeChecked, Plain, TypeChecked};

/// `==` of two values of one type.
#[inline(always)]
pub fn are_equal<T: PartialEq>(a: T, b: T) -> bool {
    a == b
}

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

/// True if the result of integer arithmetic does not fit its type; always false for floats.
pub fn overflows(arithmetic: Arithmetic, operands: &[Value]) -> bool {
    operands[0].scalar().is_int() && arithmetic.overflows(operands)
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
/// only if the function around it type checks, see [`CheckedType`].
pub fn typed_literal<const OK: bool, T>(
    _: PhantomData<T>,
    literal: CheckedType<OK, T>,
) -> CheckedType<OK, T>
where
    TypeChecked<OK>: IfTypeChecked<T>,
{
    literal
}

/// A value of the given type, in code that is not evaluated.
pub fn typed_value<T>(_: PhantomData<T>) -> T {
    unreachable!("only its type is asked for")
}

/// A `Result` of two types, for expressions that are not evaluated.
pub fn either<T, E>(_: T, _: E) -> Result<T, E> {
    unreachable!("only its type is asked for")
}
