use super::Cuda;
use crate::write::c::{ByBits, assigned};
use crate::write::{Atomic, Text};
use crate::{AtomicOp, BinaryOp, Scalar, UnaryOp};

use super::super::Dialect;

/// Writes an operation that is native in [`Cuda`]. Loads and stores are volatile, so that each is one memory access.
pub(super) fn atomic(d: &Cuda, atomic: &Atomic<'_>) -> String {
    let Atomic { op, ty, place, .. } = *atomic;
    let function = match op {
        AtomicOp::Load => {
            let load = Text::primary(volatile(ty, place));
            return assigned(atomic.result, &load, &load);
        }
        AtomicOp::Store => return format!("{} = {};", volatile(ty, place), atomic.args[0].text),
        AtomicOp::Add => "atomicAdd",
        AtomicOp::Sub if ty.size() == 4 && ty.is_int() => "atomicSub",
        AtomicOp::Sub => "atomicAdd",
        AtomicOp::Min => "atomicMin",
        AtomicOp::Max => "atomicMax",
        AtomicOp::And => "atomicAnd",
        AtomicOp::Or => "atomicOr",
        AtomicOp::Xor => "atomicXor",
        AtomicOp::Swap => "atomicExch",
        AtomicOp::CompareExchange => "atomicCAS",
    };
    let bits = ByBits {
        dialect: d,
        ty,
        carrier: carrier(op, ty),
    };
    let pointer = match bits.carrier == ty {
        true => format!("&{place}"),
        false => format!("({}*)&{place}", bits.carrier),
    };
    let mut args = vec![Text::primary(pointer)];
    args.extend(atomic.args.iter().map(|arg| bits.carried(arg)));
    if function == "atomicAdd" && op == AtomicOp::Sub {
        args[1] = negated(d, bits.carrier, &args[1]);
    }
    let call = Text::call(function, &args);
    assigned(atomic.result, &bits.back(&call), &call)
}

fn volatile(ty: Scalar, place: &str) -> String {
    format!("*(volatile {ty}*)&{place}")
}

/// Negates the operand: wrapping subtraction is the addition of the negative.
fn negated(d: &Cuda, ty: Scalar, value: &Text) -> Text {
    match ty.is_float() {
        true => d.unary(UnaryOp::Neg, ty, value),
        false => d.binary(BinaryOp::Sub, ty, &Text::literal("0"), value),
    }
}

/// The operand type of CUDA's function.
fn carrier(op: AtomicOp, ty: Scalar) -> Scalar {
    let compares = matches!(op, AtomicOp::CompareExchange);
    let orders = matches!(op, AtomicOp::Min | AtomicOp::Max);
    match ty {
        Scalar::I64 if !orders => Scalar::U64,
        Scalar::F32 if compares => Scalar::U32,
        Scalar::F64 if compares || op == AtomicOp::Swap => Scalar::U64,
        Scalar::Bool
        | Scalar::I8
        | Scalar::U8
        | Scalar::I16
        | Scalar::U16
        | Scalar::I32
        | Scalar::U32
        | Scalar::I64
        | Scalar::U64
        | Scalar::Usize
        | Scalar::F16
        | Scalar::Bf16
        | Scalar::F32
        | Scalar::F64 => ty,
    }
}
