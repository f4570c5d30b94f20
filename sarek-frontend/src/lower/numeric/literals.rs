//! Computes the values of literals, once their types are known.

use sarek_ir::{Expr, Scalar, Type, Value as Constant, operators};

use crate::diagnostics::{Mistake, codes};
use crate::lower::{Known, Lowerer, PendingLiteral, Ty};
use crate::tokens::range::{Ranged, SourceRange};

impl Lowerer<'_> {
    /// Records the type of a `let` or a literal.
    pub(in crate::lower) fn marked(&mut self, mark: u32, ty: Ty, span: SourceRange) {
        match self.marks.contains_key(&mark) {
            true => self.marked_again.push((mark, ty, span)),
            false => {
                self.marks.insert(mark, ty);
            }
        }
    }

    /// Unifies the types of code that is lowered several times, such as a closure at each of its
    /// calls. In Rust such code has one type. One call may determine it while another does not, and
    /// the compiled body would then have a literal of another type. A type that only rustc knows
    /// must therefore be written.
    pub(in crate::lower) fn settle_marks(&mut self) {
        let (known, open): (Vec<_>, Vec<_>) = std::mem::take(&mut self.marked_again)
            .into_iter()
            .partition(|(mark, ty, _)| {
                let types = [self.marks[mark], *ty];
                types
                    .iter()
                    .any(|ty| matches!(self.types.look(*ty), Known::Scalar(_)))
            });
        for (mark, ty, span) in known.into_iter().chain(open) {
            let first = self.marks[&mark];
            let is_open = |ty| matches!(self.types.look(ty), Known::Int | Known::Float);
            let is_foreign = |ty| self.types.look(ty) == Known::Foreign;
            let differ = is_open(first) && is_foreign(ty) || is_foreign(first) && is_open(ty);
            match differ && self.marked_literals.contains_key(&mark) {
                true => self.errors.at(
                    codes::UNKNOWN_TYPE,
                    span,
                    "only some calls of the closure determine the type of this literal",
                    "write its type, as in `1u32`",
                ),
                false => {
                    self.unify(first, ty, span);
                }
            }
        }
    }

    /// A literal of this type whose type rustc must infer.
    pub(in crate::lower) fn inferred_literal(&self, ty: Ty) -> Option<u32> {
        let mut marks = self.marked_literals.keys();
        let mark = *marks.find(|mark| self.types.are_same(self.marks[mark], ty))?;
        self.inferred_literals.borrow_mut().insert(mark);
        Some(mark)
    }

    /// Reports literals whose types rustc cannot be asked for.
    pub(in crate::lower) fn check_inferred_literals(&mut self) {
        if self.has_gate {
            return;
        }
        for mark in self.inferred_literals.borrow().iter() {
            self.errors.at(
                codes::UNKNOWN_TYPE,
                self.marked_literals[mark],
                "the type of this literal depends on types that only rustc knows",
                "write its type, as in `1u32`",
            );
        }
    }

    pub(in crate::lower) fn settle_literals(&mut self) {
        for pending in std::mem::take(&mut self.literals) {
            let value = match self.kernel.type_of(pending.expr) {
                Type::Scalar(ty) if pending.neutral => neutral_value(&pending, ty),
                Type::Scalar(ty) => literal_value(&pending, ty),
                Type::Compound(_) => foreign_literal(&pending),
            };
            match value {
                Ok(value) => {
                    self.kernel.exprs.to_mut()[pending.expr.index()] = Expr::Literal(value)
                }
                Err(mistake) => self.errors.report(pending.lit.range(), &mistake),
            }
        }
    }
}

/// The number with which a sum (0) or a product (1) begins. A sum of floats begins with -0, as in Rust.
fn neutral_value(pending: &PendingLiteral, ty: Scalar) -> Result<Constant, Mistake> {
    if !ty.is_float() || ty.is_half() {
        return literal_value(pending, ty);
    }
    let span = pending.lit.range();
    let is_sum = matches!(&pending.lit, syn::Lit::Int(int) if int.base10_digits() == "0");
    let text = if is_sum { "0.0" } else { "1.0" };
    let float = PendingLiteral {
        expr: pending.expr,
        lit: syn::Lit::Float(syn::LitFloat::new(text, span.first)),
        negative: is_sum,
        beyond: false,
        neutral: false,
    };
    literal_value(&float, ty)
}

/// A literal whose type becomes known when the kernel is linked. It has the value of the widest
/// type.
fn foreign_literal(pending: &PendingLiteral) -> Result<Constant, Mistake> {
    if !pending.is_float() {
        return literal_value(pending, Scalar::I64)
            .or_else(|_| literal_value(pending, Scalar::U64));
    }
    let wide = literal_value(pending, Scalar::F64)?;
    let narrow = literal_value(pending, Scalar::F32)?;
    if operators::cast(wide, Scalar::F32) != narrow {
        let what = "this literal has different values as `f32` and as `f64`";
        let instead = "write its type, as in `0.1f32`";
        return Err(Mistake::new(codes::LITERAL_RANGE, what, instead));
    }
    Ok(wide)
}

fn literal_value(pending: &PendingLiteral, ty: Scalar) -> Result<Constant, Mistake> {
    match &pending.lit {
        syn::Lit::Int(int) => {
            let digits: u128 = int.base10_parse().map_err(|_| beyond(ty))?;
            if ty.is_float() {
                // `1f32`: an integer literal with a float's suffix.
                return float(int.base10_digits(), pending.negative, ty);
            }
            let magnitude = i128::try_from(digits).map_err(|_| beyond(ty))?;
            let value = if pending.negative {
                -magnitude
            } else {
                magnitude
            };
            let exact = Constant::int(ty, value).filter(|v| v.as_int() == Some(value));
            exact.ok_or_else(|| match pending.beyond {
                true => Mistake::new(
                    codes::LITERAL_RANGE,
                    format!("the end of this range does not fit `{ty}`"),
                    format!("write the type of this range, as in `..={}{ty}`", value - 1),
                ),
                false => beyond(ty),
            })
        }
        syn::Lit::Float(lit) => float(lit.base10_digits(), pending.negative, ty),
        other => unreachable!("a pending literal is a number, not {other:?}"),
    }
}

fn beyond(ty: Scalar) -> Mistake {
    let what = format!("this literal does not fit `{ty}`");
    Mistake::new(codes::LITERAL_RANGE, what, "use a wider type")
}

fn float(digits: &str, negative: bool, ty: Scalar) -> Result<Constant, Mistake> {
    let sign = if negative { "-" } else { "" };
    let text = format!("{sign}{digits}");
    match ty {
        Scalar::F16 | Scalar::Bf16 => Err(Mistake::new(
            codes::HALF,
            format!("`{ty}` has no literals"),
            format!("write `{ty}::from_f32_const(1.5)`"),
        )),
        Scalar::F32 => match text.parse::<f32>() {
            Ok(value) if value.is_finite() => Ok(Constant::f32(value)),
            Ok(_) | Err(_) => Err(beyond(ty)),
        },
        Scalar::F64 => match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Constant::f64(value)),
            Ok(_) | Err(_) => Err(beyond(ty)),
        },
        Scalar::Bool
        | Scalar::I8
        | Scalar::U8
        | Scalar::I16
        | Scalar::U16
        | Scalar::I32
        | Scalar::U32
        | Scalar::I64
        | Scalar::U64
        | Scalar::Usize => Err(Mistake::new(
            codes::MISMATCH,
            format!("a float literal is not a `{ty}`"),
            "write an integer, or convert with `as`",
        )),
    }
}
