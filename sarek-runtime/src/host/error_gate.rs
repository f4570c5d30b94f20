//! What a compiled body is made of where the user's own function does not type check.
//!
//! rustc checks the function as the user wrote it, and says of it what it has to say. Of a compiled body it would say the
//! same again, in names that nobody knows. So what calls give and take there has its type by way of a constant that holds the
//! function once more ([`known`]): where that one has errors, the constant has no value, and types that depend on
//! it are errors, of which rustc says nothing.

use sarek_ir::{Scalar, TypeInfo};

use crate::{Element, KernelType};

/// Does the function type check? There is a constant `OK` only if it does.
#[derive(Debug)]
pub struct Audited<const OK: bool>;

/// What has a type if a function type checks.
pub trait Known<T> {
    /// The type itself.
    type Type;

    /// The value itself.
    fn known(value: T) -> Self::Type;
}

impl<T> Known<T> for Audited<true> {
    type Type = T;

    #[inline(always)]
    fn known(value: T) -> T {
        value
    }
}

/// A type, if the function type checks.
pub type KnownType<const OK: bool, T> = <Audited<OK> as Known<T>>::Type;

/// A value of such a type.
#[inline(always)]
pub fn known<const OK: bool, T>(value: T) -> KnownType<OK, T>
where
    Audited<OK>: Known<T>,
{
    <Audited<OK> as Known<T>>::known(value)
}

/// Is the function that yields `T` free of errors? What it yields is opaque, and has a size only if it type checks, whatever
/// generic arguments it is of.
pub const fn audited<F: Copy + FnOnce() -> T, T>(_: F) -> bool {
    let _ = ::core::mem::size_of::<T>();
    true
}

/// Generic functions whose bounds nothing is known to meet: their mistakes are told in compiled bodies, too.
pub trait Unaudited {
    /// Nothing is known against it.
    const __OK: bool = true;
}

impl<T> Unaudited for T {}

/// A type that has all `#[device]` traits of the user's, so that functions with such bounds are audited. No value of it is ever made.
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
