//! The vectors that are passed to a replay.

use crate::{Arg, Element, Vector};

/// The vectors of a replay: one, a tuple of up to twelve, or an array or `Vec` of [`Arg`]s. Pass
/// `&` for vectors that are read, `&mut` for those that are written.
pub trait Vectors<'a> {
    /// Converts the vectors into arguments.
    fn into_args(self) -> Vec<Arg<'a>>;
}

impl<'a, T: Element> Vectors<'a> for &'a Vector<T> {
    fn into_args(self) -> Vec<Arg<'a>> {
        vec![self.into()]
    }
}

impl<'a, T: Element> Vectors<'a> for &'a mut Vector<T> {
    fn into_args(self) -> Vec<Arg<'a>> {
        vec![self.into()]
    }
}

impl<'a> Vectors<'a> for Vec<Arg<'a>> {
    fn into_args(self) -> Vec<Arg<'a>> {
        self
    }
}

impl<'a, const N: usize> Vectors<'a> for [Arg<'a>; N] {
    fn into_args(self) -> Vec<Arg<'a>> {
        self.into()
    }
}

macro_rules! tuples {
    ($($first:ident $($rest:ident)*)?) => {$(
        impl<'a, $first: Into<Arg<'a>>, $($rest: Into<Arg<'a>>),*> Vectors<'a> for ($first, $($rest,)*) {
            fn into_args(self) -> Vec<Arg<'a>> {
                #[allow(non_snake_case)]
                let ($first, $($rest,)*) = self;
                vec![$first.into(), $($rest.into()),*]
            }
        }

        tuples! { $($rest)* }
    )?};
}

tuples! { A B C D E F G H I J K L }
