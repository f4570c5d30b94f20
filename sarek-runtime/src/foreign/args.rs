//! The arguments of calls of foreign kernels.

use sarek_ir::Scalar;

use crate::launch::Arg;
use crate::{KernelType, ScalarArg};

/// A scalar that foreign kernels take by value in every language. `usize` is not included: pass a
/// `u32` or `u64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed to a foreign kernel by value",
    note = "foreign kernels take i32, u32, i64, u64, f32 and f64 by value"
)]
pub trait Plain: ScalarArg + KernelType {
    /// The scalar type.
    const SCALAR: Scalar;
}

macro_rules! plain {
    ($($ty:ident $scalar:ident,)*) => {$(
        impl Plain for $ty {
            const SCALAR: Scalar = Scalar::$scalar;
        }
    )*};
}

plain! { i32 I32, u32 U32, i64 I64, u64 U64, f32 F32, f64 F64, }

/// The arguments of a [`ForeignKernel`](super::ForeignKernel): a tuple of scalars, `&Vector`s and
/// `&mut Vector`s.
pub trait IntoArgs<'a> {
    /// Converts to a list, in order.
    fn into_args(self) -> Vec<Arg<'a>>;
}

impl<'a> IntoArgs<'a> for Vec<Arg<'a>> {
    fn into_args(self) -> Vec<Arg<'a>> {
        self
    }
}

impl<'a> IntoArgs<'a> for () {
    fn into_args(self) -> Vec<Arg<'a>> {
        vec![]
    }
}

macro_rules! tuples {
    ($first:ident $($rest:ident)*) => {
        impl<'a, $first: Into<Arg<'a>>, $($rest: Into<Arg<'a>>),*> IntoArgs<'a> for ($first, $($rest,)*) {
            #[allow(non_snake_case)]
            fn into_args(self) -> Vec<Arg<'a>> {
                let ($first, $($rest,)*) = self;
                vec![$first.into(), $($rest.into()),*]
            }
        }
        tuples! { $($rest)* }
    };
    () => {};
}

tuples! { A B C D E F G H I J K L M N O P }
