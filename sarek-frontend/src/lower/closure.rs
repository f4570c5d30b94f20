//! Closures that are bound to a name and called by it: their bodies stand where they are called.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::array::peeled;
use super::{Binding, Lowerer, Scopes, Ty, Value};
use sarek_ir::Stmt;

/// A closure with what its names mean.
pub(super) struct Closure {
    expr: syn::ExprClosure,
    scopes: Scopes,
    params: Vec<Ty>,
    /// Is its body being lowered?
    open: bool,
}

impl Lowerer<'_> {
    /// Lowers `let` if it binds a closure. `None` when it does not.
    pub(super) fn closure_let(&mut self, local: &syn::Local) -> Option<Value> {
        let syn::Expr::Closure(expr) = peeled(&local.init.as_ref()?.expr) else {
            return None;
        };
        let syn::Pat::Ident(pat) = &local.pat else {
            let instead = "bind it to a plain name and call it by that";
            self.errors
                .unsupported(local.pat.span(), "this pattern for a closure is", instead);
            return Some(Value::Unit);
        };
        self.check_closure(expr);
        let params = expr.inputs.iter().map(|_| self.types.any()).collect();
        let closure = Closure {
            expr: expr.clone(),
            scopes: self.scopes.clone(),
            params,
            open: false,
        };
        self.closures.push(closure);
        self.bind(&pat.ident, Binding::Closure(self.closures.len() - 1));
        Some(Value::Unit)
    }

    /// Reports what makes a closure more than its body in another place.
    fn check_closure(&mut self, expr: &syn::ExprClosure) {
        let odd = [
            (expr.asyncness.map(|t| t.span), "an `async` closure is"),
            (expr.constness.map(|t| t.span), "a `const` closure is"),
            (expr.capture.map(|t| t.span), "a closure that moves is"),
        ];
        for (span, what) in odd {
            if let Some(span) = span {
                self.errors.unsupported(span, what, "write `|x| …`");
            }
        }
        let mut exits = Exits { found: vec![] };
        exits.visit_expr(&expr.body);
        for span in exits.found {
            self.errors.unsupported(
                span,
                "`return` in a closure is",
                "write the value at the end",
            );
        }
    }

    /// `f(args…)` of a closure. `None` when the name is none.
    pub(super) fn closure_call(&mut self, e: &syn::ExprCall) -> Option<Value> {
        let syn::Expr::Path(path) = peeled(&e.func) else {
            return None;
        };
        let Binding::Closure(index) = self.find(path.path.get_ident()?)? else {
            return None;
        };
        if self.closures[index].expr.inputs.len() != e.args.len() || self.closures[index].open {
            let message = "a closure is called with its arguments, and not by itself";
            self.errors.at(e.span(), message);
            return Some(Value::Never);
        }
        let exprs: Vec<&syn::Expr> = e.args.iter().collect();
        let args = self.operands(&exprs);
        let closure = self.closures[index].expr.clone();
        let params = self.closures[index].params.clone();
        let inner = self.closures[index].scopes.clone();
        let outer = std::mem::replace(&mut self.scopes, inner);
        self.scopes.push(Default::default());
        // A `break` of the body's has no loop outside of it.
        let loops = std::mem::take(&mut self.loops);
        self.closures[index].open = true;
        for ((pat, value), param) in closure.inputs.iter().zip(args).zip(params) {
            let found = self.ty(value);
            self.unify(param, found, self.span(value));
            self.bind_parameter(pat, value, param);
        }
        let value = match &closure.output {
            syn::ReturnType::Default => self.value(&closure.body),
            syn::ReturnType::Type(_, ty) => {
                let wanted = self.written_type(ty);
                let value = self.value(&closure.body);
                if let (Some(wanted), Value::Scalar(id)) = (wanted, value) {
                    self.unify(wanted, self.ty(id), self.span(id));
                }
                value
            }
        };
        self.closures[index].open = false;
        self.loops = loops;
        self.scopes = outer;
        Some(self.spilled(value))
    }

    fn bind_parameter(&mut self, pat: &syn::Pat, value: sarek_ir::ExprId, ty: Ty) {
        let (pat, written) = match pat {
            syn::Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            other => (other, None),
        };
        if let Some(written) = written.and_then(|written| self.written_type(written)) {
            self.unify(written, ty, pat.span());
        }
        let syn::Pat::Ident(name) = pat else {
            let instead = "take plain names";
            self.errors
                .unsupported(pat.span(), "this parameter of a closure is", instead);
            return;
        };
        let local = self.local(&name.ident.to_string(), ty, name.mutability.is_some());
        let init = Some(value);
        self.push(Stmt::Let { local, init }, name.span());
        self.bind(&name.ident, Binding::Local(local));
    }

    /// The value, evaluated where the call stands: what it reads may change later.
    fn spilled(&mut self, value: Value) -> Value {
        match value {
            Value::Scalar(id) if !self.is_leaf(id) => {
                let at = self.mark();
                Value::Scalar(self.spill_at(at, id))
            }
            value => value,
        }
    }
}

/// Finds what leaves a closure early.
struct Exits {
    found: Vec<Span>,
}

impl Visit<'_> for Exits {
    fn visit_expr_return(&mut self, e: &syn::ExprReturn) {
        self.found.push(e.return_token.span);
        visit::visit_expr_return(self, e);
    }
}
