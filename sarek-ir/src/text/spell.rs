//! Prints constants, and defines operator precedence.

use std::fmt;

use crate::{BinaryOp, Value, bfloat16, binary16};

/// Operator precedence, as in Rust.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Prec {
    Lowest,
    Or,
    And,
    Compare,
    BitOr,
    BitXor,
    BitAnd,
    Shift,
    Sum,
    Product,
    Cast,
    Unary,
    Postfix,
}

pub(super) fn binary_prec(op: BinaryOp) -> Prec {
    match op {
        BinaryOp::Add | BinaryOp::Sub => Prec::Sum,
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => Prec::Product,
        BinaryOp::BitAnd => Prec::BitAnd,
        BinaryOp::BitOr => Prec::BitOr,
        BinaryOp::BitXor => Prec::BitXor,
        BinaryOp::Shl | BinaryOp::Shr => Prec::Shift,
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
            Prec::Compare
        }
    }
}

pub(super) fn tighter(prec: Prec) -> Prec {
    match prec {
        Prec::Lowest => Prec::Or,
        Prec::Or => Prec::And,
        Prec::And => Prec::Compare,
        Prec::Compare => Prec::BitOr,
        Prec::BitOr => Prec::BitXor,
        Prec::BitXor => Prec::BitAnd,
        Prec::BitAnd => Prec::Shift,
        Prec::Shift => Prec::Sum,
        Prec::Sum => Prec::Product,
        Prec::Product => Prec::Cast,
        Prec::Cast => Prec::Unary,
        Prec::Unary | Prec::Postfix => Prec::Postfix,
    }
}

pub(super) fn is_negative(value: Value) -> bool {
    match value {
        Value::Bool(_)
        | Value::U8(_)
        | Value::U16(_)
        | Value::U32(_)
        | Value::U64(_)
        | Value::Usize(_) => false,
        Value::I8(v) => v < 0,
        Value::I16(v) => v < 0,
        Value::I32(v) => v < 0,
        Value::I64(v) => v < 0,
        Value::F16(bits) | Value::Bf16(bits) => bits >= 0x8000,
        Value::F32(bits) => f32::from_bits(bits).is_sign_negative(),
        Value::F64(bits) => f64::from_bits(bits).is_sign_negative(),
    }
}

/// A value as a Rust literal with its suffix. A float without a literal is printed by its bits.
pub(super) struct Literal(pub Value);

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Bool(v) => write!(f, "{v}"),
            Value::I8(v) => write!(f, "{v}i8"),
            Value::U8(v) => write!(f, "{v}u8"),
            Value::I16(v) => write!(f, "{v}i16"),
            Value::U16(v) => write!(f, "{v}u16"),
            Value::I32(v) => write!(f, "{v}i32"),
            Value::U32(v) => write!(f, "{v}u32"),
            Value::I64(v) => write!(f, "{v}i64"),
            Value::U64(v) => write!(f, "{v}u64"),
            Value::Usize(v) => write!(f, "{v}usize"),
            Value::F16(bits) => match binary16::to_f32(bits) {
                v if v.is_finite() => write!(f, "{v:?}f16"),
                _ => write!(f, "f16::from_bits({bits:#x})"),
            },
            Value::Bf16(bits) => match bfloat16::to_f32(bits) {
                v if v.is_finite() => write!(f, "{v:?}bf16"),
                _ => write!(f, "bf16::from_bits({bits:#x})"),
            },
            Value::F32(bits) => match f32::from_bits(bits) {
                v if v.is_finite() => write!(f, "{v:?}f32"),
                _ => write!(f, "f32::from_bits({bits:#x})"),
            },
            Value::F64(bits) => match f64::from_bits(bits) {
                v if v.is_finite() => write!(f, "{v:?}f64"),
                _ => write!(f, "f64::from_bits({bits:#x})"),
            },
        }
    }
}
