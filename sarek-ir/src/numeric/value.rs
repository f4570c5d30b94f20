//! Values of intrinsics on the host.

use crate::Value;

/// Computes a call; the first operand is the receiver.
pub type Compute = fn(&[Value]) -> Value;

/// A Rust type that holds the values of one scalar type.
pub(super) trait Number: Sized {
    /// The number of this type that a value holds.
    fn of(value: Value) -> Self;

    /// The number as a value.
    fn value(self) -> Value;
}

macro_rules! numbers {
    ($($t:ident $pattern:pat => $from:expr, $into:expr;)*) => {$(
        impl Number for $t {
            fn of(value: Value) -> $t {
                match value {
                    $pattern => $from,
                    other => unreachable!("{other:?} is no {}", stringify!($t)),
                }
            }

            fn value(self) -> Value {
                $into(self)
            }
        }
    )*};
}

numbers! {
    bool Value::Bool(v) => v, Value::Bool;
    i8 Value::I8(v) => v, Value::I8;
    u8 Value::U8(v) => v, Value::U8;
    i16 Value::I16(v) => v, Value::I16;
    u16 Value::U16(v) => v, Value::U16;
    i32 Value::I32(v) => v, Value::I32;
    u32 Value::U32(v) => v, Value::U32;
    i64 Value::I64(v) => v, Value::I64;
    u64 Value::U64(v) => v, Value::U64;
    f32 Value::F32(v) => f32::from_bits(v), Value::f32;
    f64 Value::F64(v) => f64::from_bits(v), Value::f64;
}

/// An expression over the operands, for a receiver of one type. Arguments without a type have that of the receiver.
macro_rules! on {
    ($t:ident $args:ident |$x:ident| $value:expr) => {{
        let $x = <$t as $crate::numeric::value::Number>::of($args[0]);
        $crate::numeric::value::Number::value($value)
    }};
    ($t:ident $args:ident |$x:ident, $y:ident| $value:expr) => {
        on!($t $args |$x, $y: $t| $value)
    };
    ($t:ident $args:ident |$x:ident, $y:ident: $of:ident| $value:expr) => {{
        let $y = <$of as $crate::numeric::value::Number>::of($args[1]);
        on!($t $args |$x| $value)
    }};
    ($t:ident $args:ident |$x:ident, $y:ident, $z:ident| $value:expr) => {{
        let $z = <$t as $crate::numeric::value::Number>::of($args[2]);
        on!($t $args |$x, $y| $value)
    }};
}

/// A function of floats of 32 and 64 bits.
macro_rules! of_floats {
    ($($function:tt)*) => {
        |args| match args[0] {
            Value::F32(_) => on!(f32 args $($function)*),
            Value::F64(_) => on!(f64 args $($function)*),
            other => unreachable!("a method of floats on {other:?}"),
        }
    };
}

/// A function of signed integers.
macro_rules! of_signed {
    ($($function:tt)*) => {
        |args| match args[0] {
            Value::I8(_) => on!(i8 args $($function)*),
            Value::I16(_) => on!(i16 args $($function)*),
            Value::I32(_) => on!(i32 args $($function)*),
            Value::I64(_) => on!(i64 args $($function)*),
            other => unreachable!("a method of signed integers on {other:?}"),
        }
    };
}

/// A function of integers. A `usize` comes as a `u64`.
macro_rules! of_ints {
    ($($function:tt)*) => {
        |args| match args[0] {
            Value::I8(_) => on!(i8 args $($function)*),
            Value::U8(_) => on!(u8 args $($function)*),
            Value::I16(_) => on!(i16 args $($function)*),
            Value::U16(_) => on!(u16 args $($function)*),
            Value::I32(_) => on!(i32 args $($function)*),
            Value::U32(_) => on!(u32 args $($function)*),
            Value::I64(_) => on!(i64 args $($function)*),
            Value::U64(_) => on!(u64 args $($function)*),
            other => unreachable!("a method of integers on {other:?}"),
        }
    };
}

/// The float with these bits.
pub(super) fn float_of_bits(args: &[Value]) -> Value {
    match args[0] {
        Value::U16(bits) => Value::F16(bits),
        Value::U32(bits) => Value::F32(bits),
        Value::U64(bits) => Value::F64(bits),
        other => unreachable!("no float has the bits {other:?}"),
    }
}

/// The `bf16` with these bits.
pub(super) fn bf16_of_bits(args: &[Value]) -> Value {
    Value::Bf16(Number::of(args[0]))
}
