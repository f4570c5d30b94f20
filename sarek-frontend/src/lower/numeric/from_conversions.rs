//! `u64::from(x)`: lossless conversions, with the same pairs of types as std's `From` and that of
//! `half`.

use quote::quote_spanned;
use sarek_ir::{Expr, ExprId, Scalar};

use crate::diagnostics::codes;
use crate::lower::{Known, Lowerer, Value, scalar_tokens};
use crate::tokens::range::{Ranged, SourceRange};

impl Lowerer<'_> {
    /// `u64::from(x)`. `None` for another function.
    pub(in crate::lower) fn value_from(
        &mut self,
        on: Scalar,
        function: &syn::PathSegment,
        ids: &[ExprId],
        span: SourceRange,
    ) -> Option<Value> {
        if function.ident != "from" {
            return None;
        }
        let [arg] = *ids else {
            self.errors.at(
                codes::ARGUMENT_COUNT,
                function.range(),
                format!("`from` takes 1 argument, but the call has {}", ids.len()),
                "pass the number to convert",
            );
            return Some(Value::Never);
        };
        // As in rustc, a literal whose type is otherwise open is an `i32` or an `f64`.
        let is_literal = self.literals.iter().any(|pending| pending.expr == arg);
        let ty = self.ty(arg);
        let from = match self.types.look(ty) {
            Known::Scalar(from) => from,
            Known::Int if is_literal => Scalar::I32,
            Known::Float if is_literal => Scalar::F64,
            Known::Nothing if self.is_error_type(ty) => return Some(Value::Never),
            Known::Foreign | Known::Parameter => return Some(self.foreign_value(on, arg, span)),
            Known::Int | Known::Float | Known::Nothing | Known::Compound => {
                self.errors.at(
                    codes::UNKNOWN_TYPE,
                    self.span(arg),
                    "the type of the converted value is not known here",
                    "bind it with its type first, as in `let x: u32 = …;`",
                );
                return Some(Value::Never);
            }
        };
        self.expect(arg, from);
        if from == on {
            return Some(Value::Scalar(arg));
        }
        if !keeps_every_value(from, on) {
            self.errors.at(
                codes::MISMATCH,
                function.range(),
                format!("`{on}::from` does not take `{from}`"),
                match on {
                    Scalar::Bool => "compare, as in `x != 0`".to_owned(),
                    _ if on.is_half() => {
                        let wide = match from {
                            _ if from.is_half() => "x.to_f32()",
                            _ => "x as f32",
                        };
                        format!("write `{on}::from_f32({wide})`, which rounds")
                    }
                    _ => format!("write `x as {on}`, which rounds or cuts values that do not fit"),
                },
            );
            return Some(Value::Never);
        }
        // No target has this conversion in one step.
        let arg = match (from, on) {
            (Scalar::Bool, _) if on.is_float() => self.known(Expr::Cast { arg }, Scalar::U8, span),
            (Scalar::I8 | Scalar::U8, _) if on.is_half() => {
                self.known(Expr::Cast { arg }, Scalar::F32, span)
            }
            _ => arg,
        };
        let cast = self.known(Expr::Cast { arg }, on, span);
        let krate = &self.krate;
        let function = match (from, on) {
            _ if on.is_half() => {
                let half = scalar_tokens(on, krate);
                Some(quote_spanned!(span.first=> <#half as #krate::Num>::from_f32))
            }
            _ if !from.is_half() => None,
            (_, Scalar::F32) => Some(quote_spanned!(span.first=> #krate::Num::to_f32)),
            (_, _) => Some(quote_spanned!(span.first=> #krate::Num::to_f64)),
        };
        self.conversions
            .extend(function.map(|function| (cast, function)));
        Some(Value::Scalar(cast))
    }

    /// Reports `u8::try_from(x)` and `u8::from_str(x)`, whose error types kernels do not have.
    /// `None` for another function.
    pub(in crate::lower) fn parsed_or_tried(
        &mut self,
        on: Scalar,
        function: &syn::PathSegment,
    ) -> Option<Value> {
        let name = function.ident.to_string();
        let instead = match name.as_str() {
            "try_from" => format!("test that `x` fits, then convert it with `x as {on}`"),
            "from_str" | "from_str_radix" => "parse it on the host: kernels have no strings".into(),
            _ => return None,
        };
        self.errors.at(
            codes::NO_METHOD,
            function.range(),
            format!("`{on}` has no function `{name}` in a kernel"),
            instead,
        );
        Some(Value::Never)
    }

    /// The same for a type that only rustc knows. rustc selects the `From` impl, and checks that it
    /// is of a scalar.
    fn foreign_value(&mut self, on: Scalar, arg: ExprId, span: SourceRange) -> Value {
        let cast = self.known(Expr::Cast { arg }, on, span);
        // At the place where rustc reports the same error for the user's function.
        let at = proc_macro2::Span::mixed_site().located_at(span.first);
        let (krate, to) = (
            crate::tokens::at(&self.krate, at),
            crate::tokens::at(&scalar_tokens(on, &self.krate), at),
        );
        let function = quote_spanned! {at=>
            (|__value| <#to as ::core::convert::From<_>>::from(#krate::ScalarArg::__scalar(__value)))
        };
        self.conversions.insert(cast, function);
        Value::Scalar(cast)
    }
}

/// True if Rust has `From` for these two types.
fn keeps_every_value(from: Scalar, to: Scalar) -> bool {
    use Scalar::{Bool, F32, F64, U8, U16, Usize};
    match (from, to) {
        (Bool, _) if to.is_half() => false,
        (Usize, _) => false,
        (Bool, _) => true,
        (U8 | U16, Usize) => true,
        (_, Usize | Bool) => false,
        _ if from.is_float() => to.is_float() && from.bits() < to.bits(),
        // The number of significant bits, without exponent and sign.
        _ if to.is_half() => from.bits() <= 8,
        (_, F32) => from.bits() <= 16,
        (_, F64) => from.bits() <= 32,
        _ => from.bits() < to.bits() && (!from.is_signed() || to.is_signed()),
    }
}
