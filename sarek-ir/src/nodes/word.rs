//! Converts values from and to 64-bit words.

use crate::{Scalar, Value};

impl Value {
    /// The value in the low bits of a word.
    pub const fn from_word(ty: Scalar, bits: u64) -> Value {
        match ty {
            Scalar::Bool => Value::Bool(bits as u8 != 0),
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

    /// A word whose low bits are those of the value; the others are unspecified.
    pub const fn word(self) -> u64 {
        match self {
            Value::Bool(v) => v as u64,
            Value::I8(v) => v as u64,
            Value::U8(v) => v as u64,
            Value::I16(v) => v as u64,
            Value::U16(v) | Value::F16(v) | Value::Bf16(v) => v as u64,
            Value::I32(v) => v as u64,
            Value::U32(v) | Value::F32(v) => v as u64,
            Value::I64(v) => v as u64,
            Value::U64(v) | Value::Usize(v) | Value::F64(v) => v,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_hold_values() {
        for value in [
            Value::Bool(true),
            Value::I8(-3),
            Value::U16(65535),
            Value::I32(i32::MIN),
            Value::I64(-1),
            Value::Usize(1 << 40),
            Value::bf16(-1.5),
            Value::f32(-0.0),
            Value::f64(f64::NAN),
        ] {
            let ty = value.scalar();
            assert_eq!(Value::from_word(ty, value.word()), value);
            let unused = !0u64 << (8 * ty.size() - 1) << 1;
            assert_eq!(Value::from_word(ty, value.word() ^ unused), value, "{ty}");
        }
    }
}
