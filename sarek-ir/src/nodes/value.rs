use crate::{Scalar, bfloat16, binary16};

/// A scalar value: a literal in a kernel, a linked constant, a launch argument.
///
/// Floats are held as bits, so that values compare, hash and print without loss.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// A `bool`.
    Bool(bool),
    /// An `i8`.
    I8(i8),
    /// A `u8`.
    U8(u8),
    /// An `i16`.
    I16(i16),
    /// A `u16`.
    U16(u16),
    /// An `i32`.
    I32(i32),
    /// A `u32`.
    U32(u32),
    /// An `i64`.
    I64(i64),
    /// A `u64`.
    U64(u64),
    /// A `usize`.
    Usize(u64),
    /// The bits of an `f16`.
    F16(u16),
    /// The bits of a `bf16`.
    Bf16(u16),
    /// The bits of an `f32`.
    F32(u32),
    /// The bits of an `f64`.
    F64(u64),
}

impl Value {
    /// The value's type.
    pub const fn scalar(self) -> Scalar {
        match self {
            Value::Bool(_) => Scalar::Bool,
            Value::I8(_) => Scalar::I8,
            Value::U8(_) => Scalar::U8,
            Value::I16(_) => Scalar::I16,
            Value::U16(_) => Scalar::U16,
            Value::I32(_) => Scalar::I32,
            Value::U32(_) => Scalar::U32,
            Value::I64(_) => Scalar::I64,
            Value::U64(_) => Scalar::U64,
            Value::Usize(_) => Scalar::Usize,
            Value::F16(_) => Scalar::F16,
            Value::Bf16(_) => Scalar::Bf16,
            Value::F32(_) => Scalar::F32,
            Value::F64(_) => Scalar::F64,
        }
    }

    /// The bits of a value; a signed integer is sign-extended.
    pub const fn bits(self) -> u64 {
        match self {
            Value::Bool(v) => v as u64,
            Value::I8(v) => v as i64 as u64,
            Value::I16(v) => v as i64 as u64,
            Value::I32(v) => v as i64 as u64,
            Value::I64(v) => v as u64,
            Value::U8(v) => v as u64,
            Value::U16(v) | Value::F16(v) | Value::Bf16(v) => v as u64,
            Value::U32(v) | Value::F32(v) => v as u64,
            Value::U64(v) | Value::Usize(v) | Value::F64(v) => v,
        }
    }

    /// The value with these bits; a smaller type takes the low ones.
    pub const fn of_bits(scalar: Scalar, bits: u64) -> Value {
        match scalar {
            Scalar::Bool => Value::Bool(bits != 0),
            Scalar::I8 => Value::I8(bits as i8),
            Scalar::U8 => Value::U8(bits as u8),
            Scalar::I16 => Value::I16(bits as i16),
            Scalar::U16 => Value::U16(bits as u16),
            Scalar::I32 => Value::I32(bits as i32),
            Scalar::U32 => Value::U32(bits as u32),
            Scalar::I64 => Value::I64(bits as i64),
            Scalar::U64 => Value::U64(bits),
            Scalar::Usize => Value::Usize(bits),
            Scalar::F16 => Value::F16(bits as u16),
            Scalar::Bf16 => Value::Bf16(bits as u16),
            Scalar::F32 => Value::F32(bits as u32),
            Scalar::F64 => Value::F64(bits),
        }
    }

    /// The nearest `f16`.
    pub const fn f16(v: f32) -> Value {
        Value::F16(binary16::from_f32(v))
    }

    /// The nearest `bf16`.
    pub const fn bf16(v: f32) -> Value {
        Value::Bf16(bfloat16::from_f32(v))
    }

    /// The value of an `f32`.
    pub const fn f32(v: f32) -> Value {
        Value::F32(v.to_bits())
    }

    /// The value of an `f64`.
    pub const fn f64(v: f64) -> Value {
        Value::F64(v.to_bits())
    }

    /// An integer of type `scalar`, wrapped to its width; `None` when `scalar` is no integer type.
    pub const fn int(scalar: Scalar, v: i128) -> Option<Value> {
        Some(match scalar {
            Scalar::I8 => Value::I8(v as i8),
            Scalar::U8 => Value::U8(v as u8),
            Scalar::I16 => Value::I16(v as i16),
            Scalar::U16 => Value::U16(v as u16),
            Scalar::I32 => Value::I32(v as i32),
            Scalar::U32 => Value::U32(v as u32),
            Scalar::I64 => Value::I64(v as i64),
            Scalar::U64 => Value::U64(v as u64),
            Scalar::Usize => Value::Usize(v as u64),
            Scalar::Bool | Scalar::F16 | Scalar::Bf16 | Scalar::F32 | Scalar::F64 => {
                return None;
            }
        })
    }

    /// The integer's value; `None` for `bool` and floats.
    pub const fn as_int(self) -> Option<i128> {
        Some(match self {
            Value::I8(v) => v as i128,
            Value::U8(v) => v as i128,
            Value::I16(v) => v as i128,
            Value::U16(v) => v as i128,
            Value::I32(v) => v as i128,
            Value::U32(v) => v as i128,
            Value::I64(v) => v as i128,
            Value::U64(v) | Value::Usize(v) => v as i128,
            Value::Bool(_) | Value::F16(_) | Value::Bf16(_) | Value::F32(_) | Value::F64(_) => {
                return None;
            }
        })
    }

    /// Zero (or `false`) of a type.
    pub const fn zero(scalar: Scalar) -> Value {
        match scalar {
            Scalar::Bool => Value::Bool(false),
            Scalar::I8 => Value::I8(0),
            Scalar::U8 => Value::U8(0),
            Scalar::I16 => Value::I16(0),
            Scalar::U16 => Value::U16(0),
            Scalar::I32 => Value::I32(0),
            Scalar::U32 => Value::U32(0),
            Scalar::I64 => Value::I64(0),
            Scalar::U64 => Value::U64(0),
            Scalar::Usize => Value::Usize(0),
            Scalar::F16 => Value::F16(0),
            Scalar::Bf16 => Value::Bf16(0),
            Scalar::F32 => Value::F32(0),
            Scalar::F64 => Value::F64(0),
        }
    }
}
