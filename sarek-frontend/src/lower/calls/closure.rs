//! Closures that are bound to a name and called by it: each call is replaced by the body. Closures
//! that are passed to functions are in [`super::callable`].

use proc_macro2::Span;
use syn::visit::{self, Visit};

use crate::diagnostics::codes;
use crate::lower::memory::array::peeled;
use crate::lower::{Binding, Lowerer, Scopes, Ty, Value};
use crate::tokens::range::Ranged;
use sarek_ir::{LocalId, Stmt};

/// A closure, with the bindings in scope at its definition.
pub(in crate::lower) struct Closure {
    pub(in crate::lower) expr: syn::ExprClosure,
    scopes: Scopes,
    pub(in crate::lower) params: Vec<Ty>,
    /// True while its body is being lowered.
    pub(in crate::lower) open: bool,
}

impl Lowerer<'_> {
    /// Lowers a `let` of a closure. `None` for any other `let`.
    pub(in crate::lower) fn closure_let(&mut self, local: &syn::Local) -> Option<Value> {
        let expr = match peeled(&local.init.as_ref()?.expr) {
            syn::Expr::Closure(expr) => expr,
            other => return self.renamed_closure(&local.pat, other),
        };
        let syn::Pat::Ident(pat) = &local.pat else {
            let instead = "bind it to a plain name and call it by that";
            self.errors.unsupported(
                codes::CLOSURE,
                local.pat.range(),
                "this pattern for a closure is",
                instead,
            );
            return Some(Value::Unit);
        };
        let closure = self.new_closure(expr);
        self.bind(&pat.ident, Binding::Closure(closure));
        Some(Value::Unit)
    }

    /// `let again = &f;`, where `f` is a closure: another name for it.
    fn renamed_closure(&mut self, pat: &syn::Pat, init: &syn::Expr) -> Option<Value> {
        let (syn::Pat::Ident(pat), syn::Expr::Path(of)) = (pat, lent(init)) else {
            return None;
        };
        let binding = self.find(of.path.get_ident()?)?;
        let is_plain = pat.by_ref.is_none() && pat.subpat.is_none();
        if !is_plain || !matches!(binding, Binding::Closure(_)) {
            return None;
        }
        self.bind(&pat.ident, binding);
        Some(Value::Unit)
    }

    /// Records a closure with the bindings in scope.
    pub(in crate::lower) fn new_closure(&mut self, expr: &syn::ExprClosure) -> usize {
        self.check_closure(expr);
        let params = expr.inputs.iter().map(|_| self.types.any()).collect();
        self.closures.push(Closure {
            expr: expr.clone(),
            scopes: self.scopes.clone(),
            params,
            open: false,
        });
        self.closures.len() - 1
    }

    /// Reports closures that cannot be replaced by their body.
    fn check_closure(&mut self, expr: &syn::ExprClosure) {
        let odd = [
            (expr.asyncness.map(|t| t.span), "an `async` closure is"),
            (expr.constness.map(|t| t.span), "a `const` closure is"),
            (expr.capture.map(|t| t.span), "a closure that moves is"),
        ];
        for (span, what) in odd {
            if let Some(span) = span {
                self.errors
                    .unsupported(codes::CLOSURE, span, what, "write `|x| …`");
            }
        }
        let mut exits = Exits { found: vec![] };
        exits.visit_expr(&expr.body);
        for (span, what, instead) in exits.found {
            self.errors.unsupported(codes::CLOSURE, span, what, instead);
        }
    }

    /// `f(args…)`, where `f` is a closure or a callable parameter. `None` for other names.
    pub(in crate::lower) fn closure_call(&mut self, e: &syn::ExprCall) -> Option<Value> {
        let path = match lent(&e.func) {
            syn::Expr::Closure(closure) => {
                let index = self.new_closure(closure);
                return Some(self.call_closure(e, index));
            }
            syn::Expr::Path(path) => path,
            _ => return None,
        };
        let index = match self.find(path.path.get_ident()?)? {
            Binding::Closure(index) => index,
            Binding::Callable(callable) => return Some(self.callable_call(e, callable)),
            Binding::Local(_)
            | Binding::Scalar(_)
            | Binding::Reference(_)
            | Binding::Memory(_)
            | Binding::View(_)
            | Binding::Const(_)
            | Binding::Part(_)
            | Binding::Place(_)
            | Binding::SubSlice(_) => return None,
        };
        Some(self.call_closure(e, index))
    }

    /// A call of a closure, by its body.
    fn call_closure(&mut self, e: &syn::ExprCall, index: usize) -> Value {
        let taken = self.closures[index].expr.inputs.len();
        if self.closures[index].open {
            let what = "a closure calls itself";
            self.errors
                .at(codes::CLOSURE, e.range(), what, "write a loop");
            return Value::Never;
        }
        if taken != e.args.len() {
            self.errors.at(
                codes::ARGUMENT_COUNT,
                e.range(),
                format!(
                    "this closure takes {taken} arguments, but the call has {}",
                    e.args.len()
                ),
                format!("pass {taken}"),
            );
            return Value::Never;
        }
        let exprs: Vec<&syn::Expr> = e.args.iter().collect();
        let args = self.operands(&exprs);
        let closure = self.closures[index].expr.clone();
        let params = self.closures[index].params.clone();
        let value = self.inside_closure(index, |this| {
            for ((pat, value), param) in closure.inputs.iter().zip(args).zip(params) {
                let written = match pat {
                    syn::Pat::Type(typed) => this.written_type(&typed.ty),
                    _ => None,
                };
                let param = written.unwrap_or(param);
                let fits = this.unify(param, this.ty(value), this.span(value));
                if fits && this.takes_apart_argument(pat, value) {
                    continue;
                }
                if let Some(local) = this.closure_parameter(pat, param) {
                    let init = Some(value).filter(|_| fits);
                    this.push(Stmt::Let { local, init }, pat.range());
                }
            }
            this.closure_value(&closure)
        });
        self.spilled(value)
    }

    /// Binds the names of a parameter that is a pattern. False for a plain name or `_`.
    fn takes_apart_argument(&mut self, pat: &syn::Pat, value: sarek_ir::ExprId) -> bool {
        match pat {
            syn::Pat::Type(typed) => return self.takes_apart_argument(&typed.pat, value),
            syn::Pat::Paren(inner) => return self.takes_apart_argument(&inner.pat, value),
            syn::Pat::Tuple(_)
            | syn::Pat::TupleStruct(_)
            | syn::Pat::Struct(_)
            | syn::Pat::Slice(_)
            | syn::Pat::Reference(_) => {}
            _ => return false,
        }
        let leaf = self.reusable(value);
        let subject = self.leaf_subject(leaf).lent();
        self.bind_cases(pat, &subject, &[]);
        true
    }

    /// Runs `body` with the bindings in scope at the closure's definition.
    pub(in crate::lower) fn inside_closure<R>(
        &mut self,
        index: usize,
        body: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let inner = self.closures[index].scopes.clone();
        let outer = std::mem::replace(&mut self.scopes, inner);
        self.scopes.push(Default::default());
        // A `break` in the body cannot leave a loop outside of it.
        let loops = std::mem::take(&mut self.loops);
        self.closures[index].open = true;
        let result = body(self);
        self.closures[index].open = false;
        self.loops = loops;
        self.scopes = outer;
        result
    }

    /// The value of the closure's body.
    pub(in crate::lower) fn closure_value(&mut self, closure: &syn::ExprClosure) -> Value {
        let syn::ReturnType::Type(_, ty) = &closure.output else {
            return self.value(&closure.body);
        };
        let wanted = self.written_type(ty);
        let value = self.value(&closure.body);
        if let (Some(wanted), Value::Scalar(id)) = (wanted, value) {
            self.unify(wanted, self.ty(id), self.span(id));
        }
        value
    }

    /// Binds a parameter to a new local. `None` if the pattern is invalid, which is reported.
    pub(in crate::lower) fn closure_parameter(
        &mut self,
        pat: &syn::Pat,
        ty: Ty,
    ) -> Option<LocalId> {
        let (pat, written) = match pat {
            syn::Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            other => (other, None),
        };
        if let Some(written) = written.and_then(|written| self.written_type(written)) {
            self.unify(written, ty, pat.range());
        }
        match pat {
            syn::Pat::Ident(name) if name.subpat.is_none() && name.by_ref.is_none() => {
                let local = self.local(&name.ident.to_string(), ty, name.mutability.is_some());
                // With a written type it is known not to be a reference.
                if !matches!(written, Some(syn::Type::Path(_))) {
                    self.lent.insert(local);
                }
                if written.is_none() {
                    self.closure_parameters.insert(local);
                }
                self.bind(&name.ident, Binding::Local(local));
                Some(local)
            }
            syn::Pat::Wild(_) => Some(self.local("unused", ty, false)),
            _ => {
                let instead = "take plain names";
                self.errors.unsupported(
                    codes::CLOSURE,
                    pat.range(),
                    "this parameter of a closure is",
                    instead,
                );
                None
            }
        }
    }

    /// Evaluates the value at the call, because its operands may change later.
    fn spilled(&mut self, value: Value) -> Value {
        match value {
            Value::Scalar(id) if !self.kernel.is_fixed_leaf(id) => {
                let at = self.mark();
                Value::Scalar(self.spill_at(at, id))
            }
            value => value,
        }
    }
}

/// The expression inside parentheses and behind `&`.
fn lent(expr: &syn::Expr) -> &syn::Expr {
    match peeled(expr) {
        syn::Expr::Reference(e) if e.mutability.is_none() => lent(&e.expr),
        other => other,
    }
}

/// Finds expressions that leave a closure early.
struct Exits {
    found: Vec<(Span, &'static str, &'static str)>,
}

impl Visit<'_> for Exits {
    fn visit_expr_return(&mut self, e: &syn::ExprReturn) {
        self.found.push((
            e.return_token.span,
            "`return` in a closure is",
            "write the value at the end",
        ));
        visit::visit_expr_return(self, e);
    }

    fn visit_expr_try(&mut self, e: &syn::ExprTry) {
        self.found.push((
            e.question_token.spans[0],
            "`?` in a closure is",
            "write `match`, or a `#[device]` function",
        ));
        visit::visit_expr_try(self, e);
    }
}
