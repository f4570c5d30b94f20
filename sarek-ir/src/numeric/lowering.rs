//! The facts about intrinsics that the interpreter, the passes and the dialects need.

use super::value::Compute;
use super::{Method, TypeClass};
use crate::{BinaryOp, UnaryOp};

/// The computation of an intrinsic on the host and on each target.
#[derive(Clone, Copy, Debug)]
pub struct IntrinsicLowering {
    /// The value for receivers that are floats of 32 or 64 bits.
    pub on_floats: Option<Compute>,
    /// The value for receivers that are integers.
    pub on_ints: Option<Compute>,
    /// The operator that means the same. Targets have no function for it.
    pub operator: Option<Operator>,
    /// The form on 8 and 16 bits.
    pub widening: Widening,
    /// The spelling in C and the languages derived from it.
    pub c: Spellings,
    /// The spelling in WGSL.
    pub wgsl: Spellings,
}

/// An operator of one or two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    /// Before its operand.
    Unary(UnaryOp),
    /// Between its operands.
    Binary(BinaryOp),
}

/// The form of an integer method on 8 and 16 bits, made of operations on 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Widening {
    /// The low bits of the call on extended operands.
    Extend,
    /// The call on extended operands, clamped to the bounds of the type.
    Saturate,
    /// A shift by the count modulo the width.
    Shift(BinaryOp),
    /// The call on the bits, with zeros above them.
    ZeroExtend,
    /// A count of zero bits from the top, without those that were added.
    CountFromTop,
    /// A count of zero bits from the bottom, with a one above the bits.
    CountFromBottom,
    /// The call on copies of the bits that fill 32.
    Rotate,
    /// The call on the bits, which moves them to the top, and a shift back.
    Reverse,
    /// The call as it is.
    Keep,
}

/// The function of a target's language, by the type of the receiver: the first class with the type counts.
///
/// `$T` stands for the type of the receiver, and `$R` for that of the result. `srk_…` is a [helper](crate::write::Template).
pub type Spellings = &'static [(TypeClass, &'static str)];

impl IntrinsicLowering {
    /// A method with helpers on every target.
    pub(super) const fn new(helpers: Spellings) -> IntrinsicLowering {
        IntrinsicLowering {
            on_floats: None,
            on_ints: None,
            operator: None,
            widening: Widening::Extend,
            c: helpers,
            wgsl: helpers,
        }
    }
}

/// Columns of intrinsics: methods that set a field of [`IntrinsicLowering`].
macro_rules! columns {
    ($($column:ident($value:ident: $ty:ty) $field:ident = $set:expr;)*) => {
        impl Method {$(
            pub(super) const fn $column(mut self, $value: $ty) -> Method {
                if let Some(lowering) = &mut self.lowering {
                    lowering.$field = $set;
                }
                self
            }
        )*}
    };
}

columns! {
    float(compute: Compute) on_floats = Some(compute);
    int(compute: Compute) on_ints = Some(compute);
    signed(compute: Compute) on_ints = Some(compute);
    compute(compute: Compute) on_ints = Some(compute);
    operator(operator: Operator) operator = Some(operator);
    widening(widening: Widening) widening = widening;
    c(spellings: Spellings) c = spellings;
    wgsl(spellings: Spellings) wgsl = spellings;
}
