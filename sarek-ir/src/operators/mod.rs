//! The results of operators, casts and intrinsics on [`Value`]s.
//!
//! The interpreter runs kernels with these definitions, the range analysis and the passes evaluate
//! constants with them, and tests compare the targets with them. Each operation is Rust's own on the
//! same type, with `usize` 64 bits wide. Results wrap; [`crate::Arithmetic::overflows`] tells when.
//! Operands must have the types that [`fn@crate::validate`] demands. Any others are a bug of the
//! caller, and panic.

mod call;

pub use call::call;

use crate::{BinaryOp, DivideOp, Scalar, UnaryOp, Value, bfloat16, binary16};

/// `op arg`
pub fn unary(op: UnaryOp, arg: Value) -> Value {
    match (op, arg) {
        (UnaryOp::Neg, Value::I8(v)) => Value::I8(v.wrapping_neg()),
        (UnaryOp::Neg, Value::I16(v)) => Value::I16(v.wrapping_neg()),
        (UnaryOp::Neg, Value::I32(v)) => Value::I32(v.wrapping_neg()),
        (UnaryOp::Neg, Value::I64(v)) => Value::I64(v.wrapping_neg()),
        (UnaryOp::Neg, Value::F16(v)) => Value::F16(v ^ 0x8000),
        (UnaryOp::Neg, Value::Bf16(v)) => Value::Bf16(v ^ 0x8000),
        (UnaryOp::Neg, Value::F32(v)) => Value::f32(-f32::from_bits(v)),
        (UnaryOp::Neg, Value::F64(v)) => Value::f64(-f64::from_bits(v)),
        (UnaryOp::Not, Value::Bool(v)) => Value::Bool(!v),
        (UnaryOp::Not, Value::I8(v)) => Value::I8(!v),
        (UnaryOp::Not, Value::U8(v)) => Value::U8(!v),
        (UnaryOp::Not, Value::I16(v)) => Value::I16(!v),
        (UnaryOp::Not, Value::U16(v)) => Value::U16(!v),
        (UnaryOp::Not, Value::I32(v)) => Value::I32(!v),
        (UnaryOp::Not, Value::U32(v)) => Value::U32(!v),
        (UnaryOp::Not, Value::I64(v)) => Value::I64(!v),
        (UnaryOp::Not, Value::U64(v)) => Value::U64(!v),
        (UnaryOp::Not, Value::Usize(v)) => Value::Usize(!v),
        (op, arg) => unreachable!("{op:?} is not defined for {arg:?}"),
    }
}

/// The arithmetic, bit and comparison operators of one integer type.
macro_rules! int_binary {
    ($wrap:path, $op:expr, $a:expr, $b:expr) => {
        match $op {
            BinaryOp::Add => $wrap($a.wrapping_add($b)),
            BinaryOp::Sub => $wrap($a.wrapping_sub($b)),
            BinaryOp::Mul => $wrap($a.wrapping_mul($b)),
            BinaryOp::BitAnd => $wrap($a & $b),
            BinaryOp::BitOr => $wrap($a | $b),
            BinaryOp::BitXor => $wrap($a ^ $b),
            BinaryOp::Eq => Value::Bool($a == $b),
            BinaryOp::Ne => Value::Bool($a != $b),
            BinaryOp::Lt => Value::Bool($a < $b),
            BinaryOp::Le => Value::Bool($a <= $b),
            BinaryOp::Gt => Value::Bool($a > $b),
            BinaryOp::Ge => Value::Bool($a >= $b),
            BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr => {
                unreachable!("{:?} is handled by `shift` or `divide`", $op)
            }
        }
    };
}

/// The operators of one float type.
macro_rules! float_binary {
    ($float:ident, $op:expr, $a:expr, $b:expr) => {{
        let (a, b) = ($float::from_bits($a), $float::from_bits($b));
        match $op {
            BinaryOp::Add => Value::$float(a + b),
            BinaryOp::Sub => Value::$float(a - b),
            BinaryOp::Mul => Value::$float(a * b),
            BinaryOp::Div => Value::$float(a / b),
            BinaryOp::Rem => Value::$float(a % b),
            BinaryOp::Eq => Value::Bool(a == b),
            BinaryOp::Ne => Value::Bool(a != b),
            BinaryOp::Lt => Value::Bool(a < b),
            BinaryOp::Le => Value::Bool(a <= b),
            BinaryOp::Gt => Value::Bool(a > b),
            BinaryOp::Ge => Value::Bool(a >= b),
            BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Shr => unreachable!("{:?} is not defined for floats", $op),
        }
    }};
}

/// `lhs op rhs`
pub fn binary(op: BinaryOp, lhs: Value, rhs: Value) -> Value {
    if op.is_shift() {
        return shift(op, lhs, rhs);
    }
    match (lhs, rhs) {
        (Value::Bool(a), Value::Bool(b)) => bool_binary(op, a, b),
        (Value::I8(a), Value::I8(b)) => int_binary!(Value::I8, op, a, b),
        (Value::U8(a), Value::U8(b)) => int_binary!(Value::U8, op, a, b),
        (Value::I16(a), Value::I16(b)) => int_binary!(Value::I16, op, a, b),
        (Value::U16(a), Value::U16(b)) => int_binary!(Value::U16, op, a, b),
        (Value::I32(a), Value::I32(b)) => int_binary!(Value::I32, op, a, b),
        (Value::U32(a), Value::U32(b)) => int_binary!(Value::U32, op, a, b),
        (Value::I64(a), Value::I64(b)) => int_binary!(Value::I64, op, a, b),
        (Value::U64(a), Value::U64(b)) => int_binary!(Value::U64, op, a, b),
        (Value::Usize(a), Value::Usize(b)) => int_binary!(Value::Usize, op, a, b),
        (Value::F16(_), Value::F16(_)) | (Value::Bf16(_), Value::Bf16(_)) => {
            narrowed(binary(op, widened(lhs), widened(rhs)), lhs.scalar())
        }
        (Value::F32(a), Value::F32(b)) => float_binary!(f32, op, a, b),
        (Value::F64(a), Value::F64(b)) => float_binary!(f64, op, a, b),
        (lhs, rhs) => unreachable!("{op:?} is not defined for {lhs:?} and {rhs:?}"),
    }
}

/// A 16-bit float as an `f32`, in which it is computed; other values unchanged.
fn widened(value: Value) -> Value {
    match value {
        Value::F16(bits) => Value::f32(binary16::to_f32(bits)),
        Value::Bf16(bits) => Value::f32(bfloat16::to_f32(bits)),
        other => other,
    }
}

/// Rounds a result to a 16-bit float if it is an `f32`.
fn narrowed(result: Value, to: Scalar) -> Value {
    match result {
        Value::F32(_) => cast(result, to),
        other => other,
    }
}

fn bool_binary(op: BinaryOp, a: bool, b: bool) -> Value {
    Value::Bool(match op {
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::Eq => a == b,
        BinaryOp::Ne => a != b,
        BinaryOp::Lt => !a & b,
        BinaryOp::Le => a <= b,
        BinaryOp::Gt => a & !b,
        BinaryOp::Ge => a >= b,
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Shl
        | BinaryOp::Shr => unreachable!("{op:?} is not defined for bool"),
    })
}

/// A shift, with its count masked to the width of `lhs`. Only the low bits of the count matter, so its type and
/// sign do not.
fn shift(op: BinaryOp, lhs: Value, rhs: Value) -> Value {
    let count = match rhs.as_int() {
        Some(count) => count as u32,
        None => unreachable!("a shift counts in integers, not {rhs:?}"),
    };
    let left = op == BinaryOp::Shl;
    macro_rules! by {
        ($wrap:path, $v:expr) => {
            $wrap(if left {
                $v.wrapping_shl(count)
            } else {
                $v.wrapping_shr(count)
            })
        };
    }
    match lhs {
        Value::I8(v) => by!(Value::I8, v),
        Value::U8(v) => by!(Value::U8, v),
        Value::I16(v) => by!(Value::I16, v),
        Value::U16(v) => by!(Value::U16, v),
        Value::I32(v) => by!(Value::I32, v),
        Value::U32(v) => by!(Value::U32, v),
        Value::I64(v) => by!(Value::I64, v),
        Value::U64(v) => by!(Value::U64, v),
        Value::Usize(v) => by!(Value::Usize, v),
        Value::Bool(_) | Value::F16(_) | Value::Bf16(_) | Value::F32(_) | Value::F64(_) => {
            unreachable!("{lhs:?} has no shifts")
        }
    }
}

/// An integer division; `None` if it faults: a division by 0, or `MIN / -1`.
pub fn divide(op: DivideOp, lhs: Value, rhs: Value) -> Option<Value> {
    macro_rules! by {
        ($wrap:path, $a:expr, $b:expr) => {
            match op {
                DivideOp::Div => $a.checked_div($b),
                DivideOp::Rem => $a.checked_rem($b),
                DivideOp::DivEuclid => $a.checked_div_euclid($b),
                DivideOp::RemEuclid => $a.checked_rem_euclid($b),
            }
            .map($wrap)
        };
    }
    match (lhs, rhs) {
        (Value::I8(a), Value::I8(b)) => by!(Value::I8, a, b),
        (Value::U8(a), Value::U8(b)) => by!(Value::U8, a, b),
        (Value::I16(a), Value::I16(b)) => by!(Value::I16, a, b),
        (Value::U16(a), Value::U16(b)) => by!(Value::U16, a, b),
        (Value::I32(a), Value::I32(b)) => by!(Value::I32, a, b),
        (Value::U32(a), Value::U32(b)) => by!(Value::U32, a, b),
        (Value::I64(a), Value::I64(b)) => by!(Value::I64, a, b),
        (Value::U64(a), Value::U64(b)) => by!(Value::U64, a, b),
        (Value::Usize(a), Value::Usize(b)) => by!(Value::Usize, a, b),
        (lhs, rhs) => unreachable!("{op:?} is not defined for {lhs:?} and {rhs:?}"),
    }
}

/// `arg as to`
pub fn cast(arg: Value, to: Scalar) -> Value {
    macro_rules! from {
        ($v:expr) => {
            match to {
                Scalar::I8 => Value::I8($v as i8),
                Scalar::U8 => Value::U8($v as u8),
                Scalar::I16 => Value::I16($v as i16),
                Scalar::U16 => Value::U16($v as u16),
                Scalar::I32 => Value::I32($v as i32),
                Scalar::U32 => Value::U32($v as u32),
                Scalar::I64 => Value::I64($v as i64),
                Scalar::U64 => Value::U64($v as u64),
                Scalar::Usize => Value::Usize($v as u64),
                // Converts through `f32`, like the `half` crate.
                Scalar::F16 => Value::f16($v as f32),
                Scalar::Bf16 => Value::bf16($v as f32),
                Scalar::F32 => Value::f32($v as f32),
                Scalar::F64 => Value::f64($v as f64),
                Scalar::Bool => unreachable!("only a bool is cast to bool"),
            }
        };
    }
    match arg {
        Value::Bool(v) if to == Scalar::Bool => Value::Bool(v),
        Value::Bool(v) => from!(v as u8),
        Value::I8(v) => from!(v),
        Value::U8(v) => from!(v),
        Value::I16(v) => from!(v),
        Value::U16(v) => from!(v),
        Value::I32(v) => from!(v),
        Value::U32(v) => from!(v),
        Value::I64(v) => from!(v),
        Value::U64(v) | Value::Usize(v) => from!(v),
        Value::F16(_) | Value::Bf16(_) if to == arg.scalar() => arg,
        Value::F16(_) | Value::Bf16(_) => cast(widened(arg), to),
        Value::F32(v) => from!(f32::from_bits(v)),
        Value::F64(v) if to == Scalar::F16 => Value::F16(binary16::from_f64(f64::from_bits(v))),
        Value::F64(v) if to == Scalar::Bf16 => Value::Bf16(bfloat16::from_f64(f64::from_bits(v))),
        Value::F64(v) => from!(f64::from_bits(v)),
    }
}

#[cfg(test)]
mod tests;
