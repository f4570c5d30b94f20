use crate::write::{Dialect, Text};
use crate::{AtomicOp, Intrinsic, Scalar};

/// True if C's family of atomic functions has the operation. For floats, it has only those without arithmetic.
pub fn is_native_atomic(op: AtomicOp, ty: Scalar) -> bool {
    match op {
        AtomicOp::Load | AtomicOp::Store | AtomicOp::Swap | AtomicOp::CompareExchange => true,
        AtomicOp::Add
        | AtomicOp::Sub
        | AtomicOp::Min
        | AtomicOp::Max
        | AtomicOp::And
        | AtomicOp::Or
        | AtomicOp::Xor => ty.is_int(),
    }
}

/// Passes a value as another type of its width.
#[derive(Clone, Copy)]
pub(in crate::write) struct ByBits<'a, D: ?Sized> {
    pub dialect: &'a D,
    pub ty: Scalar,
    /// The type in which the value is passed: `ty`, or an unsigned integer.
    pub carrier: Scalar,
}

impl<D: Dialect + ?Sized> ByBits<'_, D> {
    /// A value of `ty` as `carrier`.
    pub fn carried(&self, value: &Text) -> Text {
        self.convert(value, self.ty, self.carrier, Intrinsic::ToBits)
    }

    /// A value of `carrier` as `ty`.
    pub fn back(&self, value: &Text) -> Text {
        self.convert(value, self.carrier, self.ty, Intrinsic::FromBits)
    }

    fn convert(&self, value: &Text, from: Scalar, to: Scalar, bits: Intrinsic) -> Text {
        if from == to {
            return value.clone();
        }
        if !self.ty.is_float() {
            return self.dialect.cast(value, from, to);
        }
        match self.dialect.function(bits, from) {
            Some(function) => Text::call(&function, std::slice::from_ref(value)),
            None => unreachable!("every dialect reads the bits of floats"),
        }
    }
}

/// `result = value;`, or the call alone as a statement.
pub(in crate::write) fn assigned(result: Option<&str>, value: &Text, call: &Text) -> String {
    match result {
        Some(result) => format!("{result} = {};", value.text),
        None => format!("{};", call.text),
    }
}
