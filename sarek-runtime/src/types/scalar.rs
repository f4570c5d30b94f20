//! The scalars of the kernel language: as arguments, as operands of `native!`, and as operands of
//! operators.

use half::{bf16, f16};
use sarek_ir::Value;

use super::{Atomic, Float};

/// A scalar that is passed to a kernel by value. The trait is sealed, because proofs rely on
/// [`ScalarArg::value`] being the value that the body uses.
///
/// ```
/// fn take(_: impl sarek_runtime::ScalarArg) {}
/// take(1u32);
/// ```
///
/// ```compile_fail,E0277
/// #[derive(Clone, Copy)]
/// struct My(u32);
///
/// impl sarek_runtime::NativeOperand for My {}
///
/// impl sarek_runtime::ScalarArg for My {
///     fn value(self) -> sarek_ir::Value {
///         sarek_ir::Value::U32(self.0)
///     }
///
///     fn from_value(_: sarek_ir::Value) -> Option<My> {
///         None
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "SRK0314: `{Self}` is not a scalar",
    label = "not a scalar of the kernel language",
    note = "why: such a value is passed in one word, through a device's memory",
    note = "instead: pass its parts, each of bool, i8 to i64, u8 to u64, usize, f16, bf16, f32 or f64"
)]
pub trait ScalarArg: Copy + NativeOperand + sealed::Scalar + 'static {
    /// Returns the value itself. Expansions call it to make rustc check that the value is a scalar.
    #[doc(hidden)]
    fn __scalar(self) -> Self {
        self
    }

    /// The value in the IR.
    fn value(self) -> Value;

    /// Converts back from a value in the IR; `None` if its type differs.
    fn from_value(value: Value) -> Option<Self>;
}

mod sealed {
    /// The scalars of the kernel language.
    pub trait Scalar {}
}

macro_rules! scalars {
    ($($ty:ident $scalar:ident |$v:ident| $value:expr, $back:expr;)*) => {$(
        impl NativeOperand for $ty {}
        impl sealed::Scalar for $ty {}

        impl ScalarArg for $ty {
            fn value(self) -> Value {
                let $v = self;
                $value
            }

            #[inline(always)]
            fn from_value(value: Value) -> Option<$ty> {
                match value {
                    Value::$scalar($v) => Some($back),
                    _ => None,
                }
            }
        }
    )*};
}

scalars! {
    bool Bool |v| Value::Bool(v), v;
    i8 I8 |v| Value::I8(v), v;
    u8 U8 |v| Value::U8(v), v;
    i16 I16 |v| Value::I16(v), v;
    u16 U16 |v| Value::U16(v), v;
    i32 I32 |v| Value::I32(v), v;
    u32 U32 |v| Value::U32(v), v;
    i64 I64 |v| Value::I64(v), v;
    u64 U64 |v| Value::U64(v), v;
    f16 F16 |v| Value::F16(v.to_bits()), f16::from_bits(v);
    bf16 Bf16 |v| Value::Bf16(v.to_bits()), bf16::from_bits(v);
    f32 F32 |v| Value::f32(v), f32::from_bits(v);
    f64 F64 |v| Value::f64(v), f64::from_bits(v);
}

impl NativeOperand for usize {}
impl sealed::Scalar for usize {}

impl ScalarArg for usize {
    fn value(self) -> Value {
        Value::Usize(self as u64)
    }

    #[inline(always)]
    fn from_value(value: Value) -> Option<usize> {
        match value {
            Value::Usize(v) => Some(v as usize),
            _ => None,
        }
    }
}

/// The types of operands in `native!` texts: scalars, and memory of scalars.
#[diagnostic::on_unimplemented(
    message = "SRK0803: a text of `native!` can use only scalars, but `{Self}` has several parts",
    label = "not a scalar",
    note = "why: an operand is replaced by its name in the target, and only scalars and memory have such a name",
    note = "instead: name one of its parts, as in `{{p.x}}`"
)]
pub trait NativeOperand {
    #[doc(hidden)]
    fn __named(&self) {}
}

impl<T: NativeOperand> NativeOperand for [T] {}
impl<T: NativeOperand, const N: usize> NativeOperand for [T; N] {}
impl<T: NativeOperand + ?Sized> NativeOperand for &T {}
impl<T: NativeOperand + ?Sized> NativeOperand for &mut T {}
impl<T: NativeOperand> NativeOperand for Atomic<T> {}

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
