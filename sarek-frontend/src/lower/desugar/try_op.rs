//! `e?` in a function that returns an `Option` or a `Result`.

use sarek_ir::{ExprId, Stmt};

use crate::diagnostics::codes;
use crate::lower::calls::option_result::holds;
use crate::lower::types::Node;
use crate::lower::{Lowerer, Value};
use crate::tokens::range::{Ranged, SourceRange};

impl Lowerer<'_> {
    /// The content of the value, or a return of `None` or of the error.
    pub(in crate::lower) fn question(&mut self, e: &syn::ExprTry) -> Value {
        let span = e.question_token.range();
        let own = self.own_types.1;
        let Some((own, _)) = own.and_then(|own| Some((own, self.core_argument(own, 0)?))) else {
            let instead = match (self.is_function, own) {
                (false, _) => "a kernel returns nothing: write `let Some(v) = … else { return; };`",
                (true, _) => {
                    "this function does not return an `Option` or `Result`: write `let Some(v) = … else { return …; };`"
                }
            };
            self.errors
                .unsupported(codes::EXPRESSION, e.range(), "`?` here is", instead);
            return Value::Never;
        };
        let error = self.core_argument(own, 1);
        let Some(value) = self.scalar_or_never(&e.expr) else {
            return Value::Never;
        };
        if !self.is_left_by_question(value, error.is_some(), e.range()) {
            return Value::Never;
        }
        let value = self.reusable(value);
        let (of, good, bad): (syn::Path, _, _) = match error {
            None => (
                syn::parse_quote_spanned!(span.first=> ::core::option::Option),
                "Some",
                "None",
            ),
            Some(_) => (
                syn::parse_quote_spanned!(span.first=> ::core::result::Result),
                "Ok",
                "Err",
            ),
        };
        let is_bad = self.rust(&[value], span, &holds(&of, good, false, span));
        let (then, ()) = self.in_block(|this| {
            let part = error.map(|_| this.rust(&[value], span, &inner(&of, bad, span)));
            if let (Some(wanted), Some(part)) = (error, part) {
                this.unify(wanted, this.ty(part), span);
            }
            let left = this.of_core(bad, part, own, span);
            this.leave_function(Value::Scalar(left), span);
            this.push(Stmt::Return, span);
            this.end();
        });
        let (otherwise, ()) = self.in_block(|_| ());
        self.branch(is_bad, then, otherwise, span);
        Value::Scalar(self.rust(&[value], span, &inner(&of, good, span)))
    }
}

impl Lowerer<'_> {
    /// Reports a value on which `?` is invalid in such a function, as far as its type is known.
    /// Returns false for such a value.
    fn is_left_by_question(&mut self, value: ExprId, of_result: bool, span: SourceRange) -> bool {
        let ty = self.ty(value);
        let is_result = self.core_argument(ty, 1).is_some();
        let (what, instead) = match self.types.node(ty) {
            Node::Named(_) if self.core_argument(ty, 0).is_some() => match (is_result, of_result) {
                (false, true) => (
                    "`?` of an `Option`, in a function that returns a `Result`, is",
                    "write `let Some(v) = … else { return Err(…); };`",
                ),
                (true, false) => (
                    "`?` of a `Result`, in a function that returns an `Option`, is",
                    "write `let Ok(v) = … else { return None; };`",
                ),
                _ => return true,
            },
            Node::Known(_) | Node::Int | Node::Float | Node::Array(..) | Node::Tuple(_) => (
                "`?` of a value that is not an `Option` or `Result` is",
                "drop the `?`",
            ),
            _ => return true,
        };
        self.errors
            .unsupported(codes::EXPRESSION, span, what, instead);
        false
    }
}

/// The content of a variant, for a value that is known to be of that variant.
fn inner(of: &syn::Path, variant: &str, span: SourceRange) -> syn::Expr {
    let variant = syn::Ident::new(variant, span.first);
    syn::parse_quote_spanned!(span.first=> match __x { #of::#variant(value) => value })
}
