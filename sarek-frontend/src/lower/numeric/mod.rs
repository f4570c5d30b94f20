//! Methods of numbers that are short for others.

use proc_macro2::{Ident, Span};
use sarek_ir::{BinaryOp, DivideOp, Expr, ExprId, Intrinsic, Scalar, UnaryOp, Value as Constant};

use super::{Lowerer, Value, checked, expressed, floats};

/// Is a method short for others?
pub(super) fn is_one(name: &str) -> bool {
    let of_others = checked::is_one(name) || expressed::is_one(name) || floats::is_one(name);
    COMPOSED.contains(&name) || of_others
}

/// The methods of a type, but for those of devices.
pub(super) fn names_on(on: Scalar) -> impl Iterator<Item = &'static str> {
    let composed = COMPOSED.into_iter();
    let composed = composed.filter(move |name| stands(name, on).is_some_and(|(_, fits)| fits));
    let written = expressed::names_on(on).chain(floats::names_on(on));
    composed.chain(checked::names_on(on)).chain(written)
}

/// How many arguments one of [`COMPOSED`] takes, and whether a type has it.
fn stands(name: &str, on: Scalar) -> Option<(usize, bool)> {
    let is_unsigned = on.is_int() && !on.is_signed();
    Some(match name {
        "recip" | "to_degrees" | "to_radians" | "is_sign_positive" => (0, on.is_float()),
        "log" => (1, on.is_float()),
        "is_positive" | "is_negative" => (0, on.is_signed()),
        "count_zeros" | "leading_ones" | "trailing_ones" => (0, on.is_int()),
        "is_power_of_two" | "next_power_of_two" => (0, is_unsigned),
        "ilog2" | "isqrt" => (0, on.is_int()),
        "is_multiple_of" | "div_ceil" | "next_multiple_of" => (1, is_unsigned),
        "div_euclid" | "rem_euclid" | "midpoint" => (1, on.is_int()),
        _ => return None,
    })
}

/// How many arguments one of [`COMPOSED`] takes.
pub(super) fn arity(name: &str) -> usize {
    stands(name, Scalar::I32).map_or(0, |(arity, _)| arity)
}

/// Those whose result is a number or a `bool`.
const COMPOSED: [&str; 20] = [
    "recip",
    "to_degrees",
    "to_radians",
    "is_sign_positive",
    "log",
    "is_positive",
    "is_negative",
    "count_zeros",
    "leading_ones",
    "trailing_ones",
    "is_power_of_two",
    "next_power_of_two",
    "ilog2",
    "isqrt",
    "is_multiple_of",
    "next_multiple_of",
    "div_ceil",
    "div_euclid",
    "rem_euclid",
    "midpoint",
];

impl Lowerer<'_> {
    /// Methods that are short for others. `None` when the name is none of them.
    pub(super) fn composed(
        &mut self,
        name: &Ident,
        on: Scalar,
        ids: &[ExprId],
        span: Span,
    ) -> Option<Value> {
        let text = name.to_string();
        let (arity, fits) = stands(&text, on)?;
        if !fits {
            return None;
        }
        if !self.arity(name, ids, arity) {
            return Some(Value::Never);
        }
        let x = ids[0];
        if arity == 1 {
            let before = self.errors.count();
            self.expect(ids[1], on);
            if self.errors.count() > before {
                return Some(Value::Never);
            }
        }
        let id = match text.as_str() {
            "recip" => {
                let one = self.float(on, 1.0, 1.0, span);
                self.plain(BinaryOp::Div, one, x, span)
            }
            "to_degrees" => {
                let factor = self.float(on, 1f32.to_degrees(), 1f64.to_degrees(), span);
                self.plain(BinaryOp::Mul, x, factor, span)
            }
            "to_radians" => {
                let factor = self.float(on, 1f32.to_radians(), 1f64.to_radians(), span);
                self.plain(BinaryOp::Mul, x, factor, span)
            }
            "log" => {
                let (a, b) = (self.unary_call(Intrinsic::Ln, x, on, span), ids[1]);
                let b = self.unary_call(Intrinsic::Ln, b, on, span);
                self.plain(BinaryOp::Div, a, b, span)
            }
            "is_sign_positive" => {
                let negative = self.unary_call(Intrinsic::IsSignNegative, x, Scalar::Bool, span);
                self.not(negative, span)
            }
            "is_positive" | "is_negative" => {
                let zero = self.constant(Constant::zero(on), span);
                let op = if text == "is_positive" {
                    BinaryOp::Gt
                } else {
                    BinaryOp::Lt
                };
                self.plain(op, x, zero, span)
            }
            "count_zeros" => self.on_complement(Intrinsic::CountOnes, x, span),
            "leading_ones" => self.on_complement(Intrinsic::LeadingZeros, x, span),
            "trailing_ones" => self.on_complement(Intrinsic::TrailingZeros, x, span),
            "is_power_of_two" => {
                let ones = self.unary_call(Intrinsic::CountOnes, x, Scalar::U32, span);
                let one = self.constant(Constant::U32(1), span);
                self.plain(BinaryOp::Eq, ones, one, span)
            }
            "next_power_of_two" => self.next_power_of_two(x, on, span),
            "ilog2" => self.ilog2(x, on, span),
            "isqrt" => self.isqrt(x, on, span),
            "midpoint" => self.midpoint((x, ids[1]), on, span),
            "next_multiple_of" => self.next_multiple((x, ids[1]), span),
            "is_multiple_of" => self.multiple(x, ids[1], on, span),
            "div_ceil" => self.divide_up((x, ids[1]), on, span, name.span()),
            "div_euclid" => self.divide(DivideOp::DivEuclid, x, ids[1], span, name.span()),
            "rem_euclid" => self.divide(DivideOp::RemEuclid, x, ids[1], span, name.span()),
            other => unreachable!("`{other}` is in the table above"),
        };
        Some(Value::Scalar(id))
    }

    fn float(&mut self, on: Scalar, narrow: f32, wide: f64, span: Span) -> ExprId {
        let value = if on == Scalar::F32 {
            Constant::f32(narrow)
        } else {
            Constant::f64(wide)
        };
        self.constant(value, span)
    }

    pub(super) fn unary_call(
        &mut self,
        intrinsic: Intrinsic,
        x: ExprId,
        ty: Scalar,
        span: Span,
    ) -> ExprId {
        let args = self.kernel.push_list(&[x]);
        self.known(Expr::Call { intrinsic, args }, ty, span)
    }

    pub(super) fn not(&mut self, arg: ExprId, span: Span) -> ExprId {
        let ty = self.ty(arg);
        self.expr(
            Expr::Unary {
                op: UnaryOp::Not,
                arg,
            },
            ty,
            span,
        )
    }

    fn on_complement(&mut self, intrinsic: Intrinsic, x: ExprId, span: Span) -> ExprId {
        let complement = self.not(x, span);
        self.unary_call(intrinsic, complement, Scalar::U32, span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_lists_every_method() {
        let page = include_str!("../../../docs/methods.md");
        let composed = Scalar::ALL.iter().flat_map(|on| names_on(*on));
        for name in composed.chain(Intrinsic::ALL.iter().map(|i| i.name())) {
            let is_listed = ["`", "f32::"].map(|before| page.contains(&format!("{before}{name}`")));
            assert!(is_listed.contains(&true), "`{name}`");
        }
    }
}
