//! Computes the expected results of operations with Rust.

use sarek_ir::{
    ArgType, BinaryOp, DivideOp, Exactness, Intrinsic, Scalar, UnaryOp, Value, operators,
};

use super::operation::Operation;

/// The required accuracy of a result.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Expected {
    /// The same value; NaN for NaN, and the same zero.
    Exactly(Value),
    /// A float within a few ULPs.
    Near(Value),
    /// Any result: the operation faults, or Rust leaves the result unspecified.
    Open,
}

use Expected::{Exactly, Near, Open};

macro_rules! cast {
    ($a:expr, $to:expr) => {
        match $to {
            Scalar::I8 => Value::I8($a as i8),
            Scalar::U8 => Value::U8($a as u8),
            Scalar::I16 => Value::I16($a as i16),
            Scalar::U16 => Value::U16($a as u16),
            Scalar::I32 => Value::I32($a as i32),
            Scalar::U32 => Value::U32($a as u32),
            Scalar::I64 => Value::I64($a as i64),
            Scalar::U64 => Value::U64($a as u64),
            Scalar::F16 => Value::F16(half::f16::from_f64($a as f64).to_bits()),
            Scalar::Bf16 => Value::Bf16(half::bf16::from_f32($a as f32).to_bits()),
            Scalar::F32 => Value::f32($a as f32),
            Scalar::F64 => Value::f64($a as f64),
            Scalar::Bool | Scalar::Usize => unreachable!("not among the targets"),
        }
    };
}

fn truth(v: bool) -> Expected {
    Exactly(Value::U32(v.into()))
}

macro_rules! compare {
    ($op:expr, $a:expr, $b:expr) => {
        match $op {
            BinaryOp::Eq => return truth($a == $b),
            BinaryOp::Ne => return truth($a != $b),
            BinaryOp::Lt => return truth($a < $b),
            BinaryOp::Le => return truth($a <= $b),
            BinaryOp::Gt => return truth($a > $b),
            BinaryOp::Ge => return truth($a >= $b),
            _ => {}
        }
    };
}

/// An integer type: first the operations of all integers, then those of signed ones only.
macro_rules! integer {
    ($name:ident, $t:ident, $v:ident, $w:ident, |$i:ident, $x:ident| $extra:expr) => {
        pub fn $name(op: Operation, a: $t, b: $t, c: $t, count: i32) -> Expected {
            let same = |v: Option<$t>| v.map_or(Open, |v| Exactly(Value::$v(v)));
            let n = count as u32;
            match op {
                Operation::Unary(UnaryOp::Neg) => same(Some(a.wrapping_neg())),
                Operation::Unary(UnaryOp::Not) => same(Some(!a)),
                Operation::Divide(DivideOp::Div) => same(a.checked_div(b)),
                Operation::Divide(DivideOp::Rem) => same(a.checked_rem(b)),
                Operation::Divide(DivideOp::DivEuclid) => same(a.checked_div_euclid(b)),
                Operation::Divide(DivideOp::RemEuclid) => same(a.checked_rem_euclid(b)),
                Operation::Binary(op) => {
                    compare!(op, a, b);
                    same(match op {
                        BinaryOp::Add => Some(a.wrapping_add(b)),
                        BinaryOp::Sub => Some(a.wrapping_sub(b)),
                        BinaryOp::Mul => Some(a.wrapping_mul(b)),
                        BinaryOp::BitAnd => Some(a & b),
                        BinaryOp::BitOr => Some(a | b),
                        BinaryOp::BitXor => Some(a ^ b),
                        BinaryOp::Shl => Some(a.wrapping_shl(n)),
                        BinaryOp::Shr => Some(a.wrapping_shr(n)),
                        other => unreachable!("{other:?}"),
                    })
                }
                Operation::Cast(to) => Exactly(cast!(a, to)),
                Operation::Call(Intrinsic::AbsDiff) => Exactly(Value::$w(a.abs_diff(b))),
                Operation::Call(Intrinsic::CountOnes) => Exactly(Value::U32(a.count_ones())),
                Operation::Call(Intrinsic::LeadingZeros) => Exactly(Value::U32(a.leading_zeros())),
                Operation::Call(Intrinsic::TrailingZeros) => {
                    Exactly(Value::U32(a.trailing_zeros()))
                }
                Operation::Call(intrinsic) => {
                    let ($i, $x) = (intrinsic, a);
                    let extra: Option<Expected> = $extra;
                    extra.unwrap_or_else(|| {
                        same(Some(match intrinsic {
                            Intrinsic::Min => a.min(b),
                            Intrinsic::Max => a.max(b),
                            Intrinsic::Clamp => a.clamp(b.min(c), b.max(c)),
                            Intrinsic::Pow => a.wrapping_pow(n),
                            Intrinsic::RotateLeft => a.rotate_left(n),
                            Intrinsic::RotateRight => a.rotate_right(n),
                            Intrinsic::ReverseBits => a.reverse_bits(),
                            Intrinsic::SwapBytes => a.swap_bytes(),
                            Intrinsic::WrappingAdd => a.wrapping_add(b),
                            Intrinsic::WrappingSub => a.wrapping_sub(b),
                            Intrinsic::WrappingMul => a.wrapping_mul(b),
                            Intrinsic::WrappingNeg => a.wrapping_neg(),
                            Intrinsic::WrappingShl => a.wrapping_shl(n),
                            Intrinsic::WrappingShr => a.wrapping_shr(n),
                            Intrinsic::SaturatingAdd => a.saturating_add(b),
                            Intrinsic::SaturatingSub => a.saturating_sub(b),
                            Intrinsic::SaturatingMul => a.saturating_mul(b),
                            other => unreachable!("{other:?}"),
                        }))
                    })
                }
            }
        }
    };
}

macro_rules! signed {
    ($name:ident, $t:ident, $v:ident, $w:ident) => {
        integer!($name, $t, $v, $w, |i, x| match i {
            Intrinsic::Abs | Intrinsic::WrappingAbs => Some(Exactly(Value::$v(x.wrapping_abs()))),
            Intrinsic::Signum => Some(Exactly(Value::$v(x.signum()))),
            Intrinsic::UnsignedAbs => Some(Exactly(Value::$w(x.unsigned_abs()))),
            _ => None,
        });
    };
}

macro_rules! unsigned {
    ($name:ident, $t:ident, $v:ident, $float:ident) => {
        integer!($name, $t, $v, $v, |i, x| match i {
            Intrinsic::FromBits => Some(Exactly(Value::$float(x))),
            Intrinsic::Bf16FromBits => Some(Exactly(Value::Bf16(x as u16))),
            _ => None,
        });
    };
}

signed!(on_i8, i8, I8, U8);
signed!(on_i16, i16, I16, U16);
integer!(on_u8, u8, U8, U8, |_i, _x| None);
signed!(on_i32, i32, I32, U32);
signed!(on_i64, i64, I64, U64);
unsigned!(on_u16, u16, U16, F16);
unsigned!(on_u32, u32, U32, F32);
unsigned!(on_u64, u64, U64, F64);

/// The value in the method's row of the table.
fn of_row(intrinsic: Intrinsic, [a, b, c]: [Value; 3], count: i32) -> Expected {
    let args = intrinsic.args().iter().zip([b, c]);
    let args = args.map(|(arg, same)| match arg {
        ArgType::Fixed(Scalar::I32) => Value::I32(count),
        _ => same,
    });
    let operands: Vec<Value> = [a].into_iter().chain(args).collect();
    let value = operators::call(intrinsic, &operands);
    match intrinsic.exactness() {
        Exactness::Exact => Exactly(value),
        _ => Near(value),
    }
}

macro_rules! float {
    ($name:ident, $t:ident, $v:ident, $new:ident, $bits:ident) => {
        pub fn $name(op: Operation, a: $t, b: $t, c: $t, count: i32) -> Expected {
            let exact = |v: $t| Exactly(Value::$v(v.to_bits()));
            let near = |v: $t| Near(Value::$v(v.to_bits()));
            match op {
                Operation::Unary(UnaryOp::Neg) => exact(-a),
                Operation::Binary(op) => {
                    compare!(op, a, b);
                    match op {
                        BinaryOp::Add => exact(a + b),
                        BinaryOp::Sub => exact(a - b),
                        BinaryOp::Mul => exact(a * b),
                        BinaryOp::Div => near(a / b),
                        BinaryOp::Rem => exact(a % b),
                        other => unreachable!("{other:?}"),
                    }
                }
                Operation::Cast(to) => Exactly(cast!(a, to)),
                Operation::Call(i) => match i {
                    Intrinsic::Min | Intrinsic::Max if a == 0.0 && b == 0.0 => Open,
                    Intrinsic::Clamp if b.is_nan() || c.is_nan() => Open,
                    Intrinsic::Clamp if a == 0.0 || b == 0.0 || c == 0.0 => Open,
                    Intrinsic::Abs => exact(a.abs()),
                    Intrinsic::Min => exact(a.min(b)),
                    Intrinsic::Max => exact(a.max(b)),
                    Intrinsic::Clamp => exact(a.clamp(b.min(c), b.max(c))),
                    Intrinsic::Signum => exact(a.signum()),
                    Intrinsic::Floor => exact(a.floor()),
                    Intrinsic::Ceil => exact(a.ceil()),
                    Intrinsic::Round => exact(a.round()),
                    Intrinsic::Trunc => exact(a.trunc()),
                    Intrinsic::Fract => exact(a.fract()),
                    Intrinsic::MulAdd => exact(a.mul_add(b, c)),
                    Intrinsic::Copysign => exact(a.copysign(b)),
                    Intrinsic::IsNan => truth(a.is_nan()),
                    Intrinsic::IsInfinite => truth(a.is_infinite()),
                    Intrinsic::IsFinite => truth(a.is_finite()),
                    Intrinsic::IsSignNegative => truth(a.is_sign_negative()),
                    Intrinsic::ToBits => Exactly(Value::$bits(a.to_bits())),
                    Intrinsic::Sqrt => near(a.sqrt()),
                    Intrinsic::Rsqrt => near(1.0 / a.sqrt()),
                    Intrinsic::Cbrt => near(a.cbrt()),
                    Intrinsic::Exp => near(a.exp()),
                    Intrinsic::Exp2 => near(a.exp2()),
                    Intrinsic::ExpM1 => near(a.exp_m1()),
                    Intrinsic::Ln => near(a.ln()),
                    Intrinsic::Ln1p => near(a.ln_1p()),
                    Intrinsic::Log2 => near(a.log2()),
                    Intrinsic::Log10 => near(a.log10()),
                    Intrinsic::Sin => near(a.sin()),
                    Intrinsic::Cos => near(a.cos()),
                    Intrinsic::Tan => near(a.tan()),
                    Intrinsic::Asin => near(a.asin()),
                    Intrinsic::Acos => near(a.acos()),
                    Intrinsic::Atan => near(a.atan()),
                    Intrinsic::Atan2 => near(a.atan2(b)),
                    Intrinsic::Sinh => near(a.sinh()),
                    Intrinsic::Cosh => near(a.cosh()),
                    Intrinsic::Tanh => near(a.tanh()),
                    Intrinsic::Powf => near(a.powf(b)),
                    Intrinsic::Powi => near(a.powi(count)),
                    Intrinsic::Hypot => near(a.hypot(b)),
                    // Others have the value of their row, which the cases of the conformance suite check.
                    other => of_row(other, [a, b, c].map(Value::$new), count),
                },
                other => unreachable!("{other:?}"),
            }
        }
    };
}

float!(on_f32, f32, F32, f32, U32);
float!(on_f64, f64, F64, f64, U64);

/// As on `f32`, rounded by the `half` crate.
fn on_half(op: Operation, operands: [Value; 3], count: i32) -> Expected {
    if op == Operation::Call(Intrinsic::ToBits) {
        return Exactly(Value::U16(operands[0].word() as u16));
    }
    let [a, b, c] = operands.map(widened);
    let narrow = |bits| match operands[0] {
        Value::Bf16(_) => Value::Bf16(half::bf16::from_f32(f32::from_bits(bits)).to_bits()),
        _ => Value::F16(half::f16::from_f32(f32::from_bits(bits)).to_bits()),
    };
    match (op, on_f32(op, a, b, c, count)) {
        (Operation::Cast(_), wide) => wide,
        (_, Exactly(Value::F32(bits))) => Exactly(narrow(bits)),
        (_, Near(Value::F32(bits))) => Near(narrow(bits)),
        (_, other) => other,
    }
}

/// The oracle on values of one type.
pub fn expected(op: Operation, a: Value, b: Value, c: Value, count: i32) -> Expected {
    match (a, b, c) {
        (Value::I8(a), Value::I8(b), Value::I8(c)) => on_i8(op, a, b, c, count),
        (Value::U8(a), Value::U8(b), Value::U8(c)) => on_u8(op, a, b, c, count),
        (Value::I16(a), Value::I16(b), Value::I16(c)) => on_i16(op, a, b, c, count),
        (Value::U16(a), Value::U16(b), Value::U16(c)) => on_u16(op, a, b, c, count),
        (Value::I32(a), Value::I32(b), Value::I32(c)) => on_i32(op, a, b, c, count),
        (Value::U32(a), Value::U32(b), Value::U32(c)) => on_u32(op, a, b, c, count),
        (Value::I64(a), Value::I64(b), Value::I64(c)) => on_i64(op, a, b, c, count),
        (Value::U64(a), Value::U64(b), Value::U64(c)) => on_u64(op, a, b, c, count),
        (Value::F16(_) | Value::Bf16(_), _, _) => on_half(op, [a, b, c], count),
        (Value::F32(a), Value::F32(b), Value::F32(c)) => {
            let [a, b, c] = [a, b, c].map(f32::from_bits);
            on_f32(op, a, b, c, count)
        }
        (Value::F64(a), Value::F64(b), Value::F64(c)) => {
            let [a, b, c] = [a, b, c].map(f64::from_bits);
            on_f64(op, a, b, c, count)
        }
        other => panic!("operands of one number type, not {other:?}"),
    }
}

/// True if a result agrees with the expectation.
pub fn agrees(expected: Expected, got: Value) -> bool {
    let (value, exactly) = match expected {
        Open => return true,
        Exactly(value) => (value, true),
        Near(value) => (value, false),
    };
    if value == got {
        return true;
    }
    match (value, got) {
        (Value::F16(v), Value::F16(g)) | (Value::Bf16(v), Value::Bf16(g)) => {
            let [value, got] = [value, got].map(widened);
            value.is_nan() && got.is_nan() || !exactly && v.abs_diff(g) <= 1
        }
        (Value::F32(v), Value::F32(g)) => {
            let (v, g) = (f32::from_bits(v), f32::from_bits(g));
            v.is_nan() && g.is_nan()
                || !exactly && close(v.into(), g.into(), 2e-6, f32::MIN_POSITIVE.into())
        }
        (Value::F64(v), Value::F64(g)) => {
            let (v, g) = (f64::from_bits(v), f64::from_bits(g));
            v.is_nan() && g.is_nan() || !exactly && close(v, g, 4e-15, f64::MIN_POSITIVE)
        }
        _ => false,
    }
}

/// A 16-bit float as the `half` crate widens it.
fn widened(value: Value) -> f32 {
    match value {
        Value::F16(bits) => half::f16::from_bits(bits).to_f32(),
        Value::Bf16(bits) => half::bf16::from_bits(bits).to_f32(),
        other => panic!("{other:?} is no 16-bit float"),
    }
}

/// True within a relative error, or if both are too small to be normal. The sign must agree.
fn close(v: f64, g: f64, relative: f64, tiny: f64) -> bool {
    v.is_finite()
        && g.is_finite()
        && v.is_sign_negative() == g.is_sign_negative()
        && ((v - g).abs() <= relative * v.abs() || v.abs().max(g.abs()) <= tiny)
}

/// Values at which operations tend to go wrong.
pub fn edges(ty: Scalar) -> Vec<Value> {
    let ints: [i128; 17] = [
        0,
        1,
        2,
        3,
        5,
        7,
        -1,
        -2,
        -3,
        -7,
        100,
        0x5a5a_1234,
        1 << 31,
        (1 << 31) - 1,
        -(1 << 31),
        1 << 63,
        (1 << 63) - 1,
    ];
    let floats = [
        0.0,
        0.5,
        1.0,
        1.5,
        2.5,
        3.0,
        0.1,
        1e-3,
        0.49999997,
        7.25,
        100.7,
        1e10,
        2147483648.0,
        4294967296.0,
        1.8446744073709552e19,
        9.223372036854776e18,
        1e30,
        16777217.0,
        f64::INFINITY,
        f64::NAN,
    ];
    match ty {
        Scalar::F16 => floats
            .iter()
            .chain(&[6e-8, 2e-5, 6.1e-5, 1023.5, 2048.0, 65504.0])
            .flat_map(|&f| [f, -f])
            .map(|f| Value::f16(f as f32))
            .collect(),
        Scalar::Bf16 => floats
            .iter()
            .chain(&[1e-40, 1.18e-38, 255.5, 256.0, 257.0, 3.3895314e38])
            .flat_map(|&f| [f, -f])
            .map(|f| Value::bf16(f as f32))
            .collect(),
        Scalar::F32 => floats
            .iter()
            .flat_map(|&f| [f, -f])
            .map(|f| Value::f32(f as f32))
            .collect(),
        Scalar::F64 => floats
            .iter()
            .flat_map(|&f| [f, -f])
            .map(Value::f64)
            .collect(),
        _ => {
            let extra = [
                0x0123_4567_89ab_cdef,
                (1 << 24) + 1,
                (1 << 53) + 1,
                (1 << 40) + (1 << 16),
            ];
            let all = ints.into_iter().chain(extra);
            all.filter_map(|v| Value::int(ty, v)).collect()
        }
    }
}

/// Counts for shifts, rotations and powers.
pub const COUNTS: [i32; 12] = [0, 1, 2, 3, 7, 31, 32, 33, 63, 65, -1, -5];
