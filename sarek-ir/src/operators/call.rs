use super::{narrowed, widened};
use crate::{Intrinsic, Scalar, Value};

/// A call of an intrinsic; the first argument is the receiver.
pub fn call(intrinsic: Intrinsic, args: &[Value]) -> Value {
    let lowering = intrinsic.lowering();
    let (on, compute) = match args[0].scalar() {
        Scalar::F16 | Scalar::Bf16 => return half_call(intrinsic, args),
        Scalar::Usize => return usize_call(intrinsic, args),
        on if on.is_float() => (on, lowering.on_floats),
        on => (on, lowering.on_ints),
    };
    match compute {
        Some(compute) => compute(args),
        None => unreachable!("{on} has no {}", intrinsic.name()),
    }
}

/// Computes in `f32`, and rounds the result.
fn half_call(intrinsic: Intrinsic, args: &[Value]) -> Value {
    if intrinsic == Intrinsic::ToBits {
        return Value::U16(args[0].word() as u16);
    }
    let wide: Vec<Value> = args.iter().copied().map(widened).collect();
    narrowed(call(intrinsic, &wide), args[0].scalar())
}

/// Computes in `u64`.
fn usize_call(intrinsic: Intrinsic, args: &[Value]) -> Value {
    let mut fixed = [Value::U64(0); 3];
    for (to, from) in fixed.iter_mut().zip(args) {
        *to = match *from {
            Value::Usize(v) => Value::U64(v),
            other => other,
        };
    }
    match (
        call(intrinsic, &fixed[..args.len()]),
        intrinsic.result_type(Scalar::Usize),
    ) {
        (Value::U64(v), Scalar::Usize) => Value::Usize(v),
        (other, _) => other,
    }
}
