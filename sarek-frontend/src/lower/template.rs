//! Expressions that the frontend writes itself, over operands that are lowered already.

use proc_macro2::Ident;
use sarek_ir::ExprId;

use super::{Binding, Lowerer, Value};
use crate::tokens::range::SourceRange;

impl Lowerer<'_> {
    /// Lowers an expression over operands, which are leaves and have the names `__x`, `__y`, `__z` and `__n` in it.
    pub(super) fn rust(
        &mut self,
        operands: &[ExprId],
        span: SourceRange,
        rust: &syn::Expr,
    ) -> ExprId {
        let names = ["__x", "__y", "__z", "__n"].into_iter();
        let operands: Vec<_> = names.zip(operands.iter().copied()).collect();
        self.over_operands(&operands, span, rust)
    }

    /// Lowers an expression over named operands, which has no other names. An operand that is no leaf stands in it once.
    pub(super) fn over_operands(
        &mut self,
        operands: &[(&str, ExprId)],
        span: SourceRange,
        rust: &syn::Expr,
    ) -> ExprId {
        self.scopes.push(Default::default());
        for (name, operand) in operands {
            let part = self.operand_subject(*operand);
            self.aliases.push(part);
            let alias = Binding::Part(self.aliases.len() - 1);
            self.bind(&syn::Ident::new(name, span.first), alias);
        }
        // Its own methods are not the user's, whose meaning rustc is asked for.
        let audits = self.method_audits.len();
        let value = self.value(rust);
        self.method_audits.truncate(audits);
        self.scopes.pop();
        match value {
            Value::Scalar(value) => value,
            // It holds a mistake that was reported already.
            Value::Unit | Value::Never => self.placeholder(span),
        }
    }
}

/// `of.name(arguments…)`: a call that is lowered at once, and never stands in an expansion.
pub(super) fn called(
    of: syn::Expr,
    name: &str,
    arguments: &[&syn::Expr],
    span: SourceRange,
) -> syn::Expr {
    syn::Expr::MethodCall(syn::ExprMethodCall {
        attrs: vec![],
        receiver: Box::new(of),
        dot_token: syn::Token![.](span.first),
        method: Ident::new(name, span.first),
        turbofish: None,
        paren_token: Default::default(),
        args: arguments
            .iter()
            .map(|argument| (*argument).clone())
            .collect(),
    })
}
