//! Types that suppress rustc's errors in a compiled body if the user's own function does not type
//! check.
//!
//! rustc checks the function as the user wrote it, and reports its errors. In the compiled body it
//! would report the same errors again, about generated names. So the types of calls in the body
//! depend on a constant, by way of [`if_type_checked`]. The constant holds a second copy of the function. If
//! the copy has errors, the constant has no value, and types that depend on it are errors that
//! rustc does not report.

use sarek_ir::{Scalar, TypeInfo};

use crate::{Element, KernelType};

/// Carries the result of type checking as a constant: `OK` has a value only if the function type
/// checks.
#[derive(Debug)]
pub struct TypeChecked<const OK: bool>;

/// Maps a type to itself if a function type checks.
pub trait IfTypeChecked<T> {
    /// The type itself.
    type Type;

    /// The value itself.
    fn if_type_checked(value: T) -> Self::Type;
}

impl<T> IfTypeChecked<T> for TypeChecked<true> {
    type Type = T;

    #[inline(always)]
    fn if_type_checked(value: T) -> T {
        value
    }
}

/// The type `T`, if the function type checks.
pub type CheckedType<const OK: bool, T> = <TypeChecked<OK> as IfTypeChecked<T>>::Type;

/// A value of such a type.
#[inline(always)]
pub fn if_type_checked<const OK: bool, T>(value: T) -> CheckedType<OK, T>
where
    TypeChecked<OK>: IfTypeChecked<T>,
{
    <TypeChecked<OK> as IfTypeChecked<T>>::if_type_checked(value)
}

/// Returns true; the constant expression has errors if the function that returns `T` has. `T` is
/// opaque, so its size is known only if the function type checks, whatever its generic arguments.
pub const fn type_checked<F: Copy + FnOnce() -> T, T>(_: F) -> bool {
    let _ = ::core::mem::size_of::<T>();
    true
}

/// A fallback for generic functions whose bounds no known type satisfies. Their errors are reported
/// for compiled bodies, too.
pub trait TypeCheckFallback {
    /// The function counts as free of errors.
    const __OK: bool = true;
}

impl<T> TypeCheckFallback for T {}

/// A type that implements all `#[device]` traits of the user, so that generic functions with such
/// bounds are checked. It has no values at run time.
#[derive(Clone, Copy, PartialEq, PartialOrd, Default, Debug)]
#[repr(transparent)]
pub struct Witness(u32);

// SAFETY: it is a `u32`.
#[diagnostic::do_not_recommend]
unsafe impl KernelType for Witness {
    const TYPE: TypeInfo = TypeInfo::Scalar(Scalar::U32);
}

// SAFETY: the same.
#[diagnostic::do_not_recommend]
unsafe impl Element for Witness {}
