//! Calls of numeric methods, by their rows in [`sarek_ir::numeric`].

mod bytes;
pub(super) mod from_conversions;
mod half;
pub(super) mod literals;
mod results;
pub(super) mod simd;

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use sarek_ir::numeric::{self, Body, Method, Source};
use sarek_ir::{DivideOp, Expr, ExprId, Scalar};

use super::{Lowerer, Value};
use crate::tokens::range::SourceRange;

/// The place and the type of a call.
#[derive(Clone, Copy)]
struct At {
    on: Scalar,
    span: SourceRange,
    /// The method's name, at which divisions fault.
    name: Span,
}

impl Lowerer<'_> {
    /// A method of the table on lowered operands, the receiver first. `None` when no row has this name on this type.
    pub(in crate::lower) fn numeric_method(
        &mut self,
        name: &Ident,
        on: Scalar,
        ids: &[ExprId],
        span: SourceRange,
    ) -> Option<Value> {
        if self.in_body
            && let Some(op) = unchecked_division(name)
        {
            let (lhs, rhs, site) = (ids[0], ids[1], None);
            let divide = Expr::Divide { op, lhs, rhs, site };
            return Some(Value::Scalar(self.known(divide, on, span)));
        }
        let row = numeric::method(&name.to_string(), on)?;
        if let Body::Intrinsic(intrinsic) = row.body {
            return Some(self.intrinsic(intrinsic, name, on, ids.to_vec(), span));
        }
        if !self.arity(name, ids, row.args.len()) {
            return Some(Value::Never);
        }
        let before = self.errors.count();
        for (id, ty) in ids[1..].iter().zip(row.arg_types(on)) {
            self.expect(*id, ty);
        }
        if self.errors.count() > before {
            return Some(Value::Never);
        }
        let name = name.span();
        Some(self.composed(row, ids, At { on, span, name }))
    }

    /// A method that is made of others.
    fn composed(&mut self, row: &Method, ids: &[ExprId], at: At) -> Value {
        let mut ids = ids.to_vec();
        if !row.panics.is_empty() {
            self.bind_all(&mut ids);
        }
        for panic in row.panics {
            let cond = self.source(Source::Text(panic.unless), &ids, at);
            self.assert(cond, panic.message.into(), at.span);
        }
        self.body(&row.body, row, ids, at)
    }

    fn body(&mut self, body: &Body, row: &Method, mut ids: Vec<ExprId>, at: At) -> Value {
        let value = match *body {
            Body::Intrinsic(_) => unreachable!("`{}` is no composed method", row.name),
            Body::Divide(op) => self.divide(op, ids[0], ids[1], at.span, at.name.into()),
            Body::Inline(source) => self.source(source, &ids, at),
            Body::Bound(source) => {
                self.bind_all(&mut ids);
                self.source(source, &ids, at)
            }
            Body::ByLiteral(by_literal, by_any) => {
                let body = match self.is_literal_above_zero(ids[1]) {
                    true => by_literal,
                    false => by_any,
                };
                return self.body(body, row, ids, at);
            }
            Body::Checked { first, fits, value } => {
                self.bind_all(&mut ids);
                if let Some(first) = first {
                    let first = self.source(first, &ids, at);
                    let first = self.reusable(first);
                    ids.resize(2, first);
                    ids.push(first);
                }
                let fits = self.source(fits, &ids, at);
                self.if_it_fits(fits, row.result.of(at.on), at.span, |this| {
                    this.source(value, &ids, at)
                })
            }
            Body::Overflowing { fits, value } => {
                self.bind_all(&mut ids);
                let fits = self.source(fits, &ids, at);
                let value = self.source(value, &ids, at);
                self.with_overflow(value, fits, row.result.of(at.on), at.span)
            }
        };
        Value::Scalar(value)
    }

    /// Binds operands to variables, in their order, unless they are such or constants.
    fn bind_all(&mut self, ids: &mut [ExprId]) {
        for id in ids {
            *id = self.reusable(*id);
        }
    }

    /// An expression of the table.
    fn source(&mut self, source: Source, ids: &[ExprId], at: At) -> ExprId {
        let text = source.text(at.on);
        let tokens = text.parse::<TokenStream>();
        let parsed = tokens.map(|tokens| syn::parse2(located(tokens, at)));
        let Ok(Ok(expr)) = parsed else {
            unreachable!("a body of the table is an expression: {text}");
        };
        let operands: Vec<_> = ["x", "y", "z"]
            .into_iter()
            .zip(ids.iter().copied())
            .collect();
        let outer = std::mem::replace(&mut self.in_body, true);
        let value = self.over_operands(&operands, at.span, &expr);
        self.in_body = outer;
        value
    }

    fn is_literal_above_zero(&self, id: ExprId) -> bool {
        let pending = self.literals.iter().find(|pending| pending.expr == id);
        pending.is_some_and(|pending| match &pending.lit {
            syn::Lit::Int(int) => int.base10_digits() != "0",
            _ => false,
        })
    }
}

/// The tokens of a body where the method is called.
fn located(tokens: TokenStream, at: At) -> TokenStream {
    let located = tokens.into_iter().map(|token| match token {
        TokenTree::Group(group) => {
            let mut moved = Group::new(group.delimiter(), located(group.stream(), at));
            moved.set_span(at.span.first);
            moved.into()
        }
        TokenTree::Punct(mut punct) => {
            let is_division = ['/', '%'].contains(&punct.as_char());
            punct.set_span(if is_division { at.name } else { at.span.first });
            punct.into()
        }
        mut other @ (TokenTree::Ident(_) | TokenTree::Literal(_)) => {
            other.set_span(at.span.first);
            other
        }
    });
    located.collect()
}

/// Divisions that bodies of the table know not to fault.
fn unchecked_division(name: &Ident) -> Option<DivideOp> {
    Some(match name.to_string().strip_prefix("unchecked_")? {
        "div" => DivideOp::Div,
        "rem" => DivideOp::Rem,
        "div_euclid" => DivideOp::DivEuclid,
        "rem_euclid" => DivideOp::RemEuclid,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_body_is_an_expression() {
        let parses = |source: Source, on| {
            let text = source.text(on);
            assert!(syn::parse_str::<syn::Expr>(&text).is_ok(), "{text}");
        };
        for on in Scalar::ALL {
            for row in numeric::methods().filter(|row| row.stands_on(on)) {
                for panic in row.panics {
                    parses(Source::Text(panic.unless), on);
                }
                each_source(&row.body, &mut |source| parses(source, on));
            }
        }
    }

    fn each_source(body: &Body, visit: &mut impl FnMut(Source)) {
        match *body {
            Body::Intrinsic(_) | Body::Divide(_) => {}
            Body::Inline(source) | Body::Bound(source) => visit(source),
            Body::ByLiteral(by_literal, by_any) => {
                each_source(by_literal, visit);
                each_source(by_any, visit);
            }
            Body::Checked { first, fits, value } => {
                first.into_iter().chain([fits, value]).for_each(visit);
            }
            Body::Overflowing { fits, value } => [fits, value].into_iter().for_each(visit),
        }
    }
}
