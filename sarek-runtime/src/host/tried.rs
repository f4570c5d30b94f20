//! On what rustc looks for a method before it comes to one of a user's type that `#[device]` marks.
//!
//! It tries `value`, `&value`, `&mut value`, and then the same of what the value derefs to. Each form that it tries before the method's
//! own has no other method of that name, or the call is not to the marked one. Nothing here is ever called.

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
/// In the place of forms that are not tried before.
#[derive(Debug)]
pub struct Nothing;

/// The forms that are tried before a method, on receivers that are a `T`, a `&T` or a `&mut T`.
pub trait Tried<'a, T: 'a> {
    /// Of a `T`.
    type Value;
    /// Of a `&T`.
    type Shared;
    /// Of a `&mut T`.
    type Mutable;
}

impl<'a, T: 'a> Tried<'a, T> for ByValue {
    type Value = (Nothing, Nothing);
    type Shared = (&'a T, &'a &'a T, &'a mut &'a T);
    type Mutable = (&'a mut T, &'a &'a mut T, &'a mut &'a mut T, Nothing);
}

impl<'a, T: 'a> Tried<'a, T> for ByShared {
    type Value = (T, Nothing);
    type Shared = (Nothing, Nothing, Nothing);
    type Mutable = (&'a mut T, &'a &'a mut T, &'a mut &'a mut T, T);
}

impl<'a, T: 'a> Tried<'a, T> for ByMutable {
    type Value = (T, &'a T);
    type Shared = (Nothing, Nothing, Nothing);
    type Mutable = (Nothing, Nothing, Nothing, Nothing);
}

macro_rules! tried {
    ($($name:ident $of:ident)*) => {$(
        #[allow(missing_docs)] // as the trait has it
        pub fn $name<'a, H: Tried<'a, T>, T: 'a>(_: PhantomData<H>, _: T) -> H::$of {
            unreachable!("only its type is asked for")
        }
    )*};
}

tried! {
    tried_on_value Value
    tried_on_shared Shared
    tried_on_mutable Mutable
}
