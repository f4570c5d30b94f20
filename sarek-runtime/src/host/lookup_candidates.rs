//! The types that rustc's method lookup tries before a method of a user's type that `#[device]`
//! marks.
//!
//! For a call `value.method()`, rustc tries `value`, `&value`, `&mut value`, and then the same for
//! the dereferenced value. If an earlier candidate has another method of that name, the call is not
//! to the marked one. Generated code checks this with the types here, and calls nothing.

use std::marker::PhantomData;

/// A method that takes `self`.
#[derive(Debug)]
pub struct ByValue;
/// A method that takes `&self`.
#[derive(Debug)]
pub struct ByShared;
/// A method that takes `&mut self`.
#[derive(Debug)]
pub struct ByMutable;
/// A placeholder for candidates that are not tried earlier.
#[derive(Debug)]
pub struct Nothing;

/// The candidates that are tried before a method, for receivers of type `T`, `&T` and `&mut T`.
pub trait LookupCandidates<'a, T: 'a> {
    /// For a `T`.
    type Value;
    /// For a `&T`.
    type Shared;
    /// For a `&mut T`.
    type Mutable;
}

impl<'a, T: 'a> LookupCandidates<'a, T> for ByValue {
    type Value = (Nothing, Nothing);
    type Shared = (&'a T, &'a &'a T, &'a mut &'a T);
    type Mutable = (&'a mut T, &'a &'a mut T, &'a mut &'a mut T, Nothing);
}

impl<'a, T: 'a> LookupCandidates<'a, T> for ByShared {
    type Value = (T, Nothing);
    type Shared = (Nothing, Nothing, Nothing);
    type Mutable = (&'a mut T, &'a &'a mut T, &'a mut &'a mut T, T);
}

impl<'a, T: 'a> LookupCandidates<'a, T> for ByMutable {
    type Value = (T, &'a T);
    type Shared = (Nothing, Nothing, Nothing);
    type Mutable = (Nothing, Nothing, Nothing, Nothing);
}

macro_rules! candidates {
    ($($name:ident $of:ident)*) => {$(
        #[allow(missing_docs)] // see the trait
        pub fn $name<'a, H: LookupCandidates<'a, T>, T: 'a>(_: PhantomData<H>, _: T) -> H::$of {
            unreachable!("only its type is asked for")
        }
    )*};
}

candidates! {
    candidates_by_value Value
    candidates_by_shared Shared
    candidates_by_mutable Mutable
}
