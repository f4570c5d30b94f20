//! Lowers blocks and `let`.

use sarek_ir::{Expr, Stmt};

use super::{Binding, Lowerer, Ty, Value, mark_of};
use crate::diagnostics::codes;
use crate::tokens::range::Ranged;

/// True for a lone semicolon.
pub(super) fn is_empty(stmt: &syn::Stmt) -> bool {
    matches!(stmt, syn::Stmt::Expr(syn::Expr::Verbatim(nothing), _) if nothing.is_empty())
}

impl Lowerer<'_> {
    /// Lowers a block in a scope of its own. Its statements go to the open block.
    pub(super) fn scoped_block(&mut self, block: &syn::Block) -> Value {
        self.scopes.push(Default::default());
        let value = self.statements(&block.stmts);
        self.scopes.pop();
        value
    }

    fn statements(&mut self, stmts: &[syn::Stmt]) -> Value {
        // Items are in scope in the whole block, even before their definition.
        for stmt in stmts {
            if let syn::Stmt::Item(item) = stmt {
                self.item(item);
            }
        }
        let mut value = Value::Unit;
        let expects_own = std::mem::take(&mut self.expects_own);
        for (i, stmt) in stmts.iter().enumerate() {
            let last = i + 1 == stmts.len();
            self.expects_own = expects_own && last;
            value = match stmt {
                syn::Stmt::Local(local) => self.local_statement(local),
                syn::Stmt::Item(_) => Value::Unit,
                stmt if is_empty(stmt) => Value::Unit,
                syn::Stmt::Expr(expr, semi) => self.expr_statement(expr, semi.is_none() && last),
                syn::Stmt::Macro(mac) => {
                    let value = self.macro_call(&mac.mac);
                    self.statement_value(value, mac.semi_token.is_none() && last)
                }
            };
        }
        self.expects_own = false;
        if self.blocks.last().expect("a block is open").ended {
            Value::Never
        } else {
            value
        }
    }

    fn expr_statement(&mut self, expr: &syn::Expr, is_tail: bool) -> Value {
        let unused = (!is_tail)
            .then(|| {
                self.atomic_statement(expr)
                    .or_else(|| self.call_statement(expr))
            })
            .flatten();
        let value = unused.unwrap_or_else(|| self.value(expr));
        self.statement_value(value, is_tail)
    }

    /// The value of a statement: that of a tail expression, otherwise none.
    fn statement_value(&mut self, value: Value, is_tail: bool) -> Value {
        match value {
            Value::Scalar(_) if is_tail => value,
            Value::Scalar(id) => {
                self.discard(id);
                Value::Unit
            }
            Value::Unit | Value::Never => value,
        }
    }

    /// Evaluates an expression whose value is unused, since it may still fault.
    pub(super) fn discard(&mut self, id: sarek_ir::ExprId) {
        if !self.kernel.is_fixed_leaf(id) {
            let (ty, span) = (self.ty(id), self.span(id));
            let local = self.local("unused", ty, false);
            self.push(
                Stmt::Let {
                    local,
                    init: Some(id),
                },
                span,
            );
        }
    }

    fn item(&mut self, item: &syn::Item) {
        if let syn::Item::Fn(function) = item
            && let Some(closure) = as_closure(function)
        {
            // A function sees no variables of the body around it.
            let mut items = self.scopes.clone();
            for scope in &mut items {
                let is_item = |of: &Binding| matches!(of, Binding::Const(_) | Binding::Closure(_));
                scope.retain(|_, (binding, _)| is_item(binding));
            }
            let outer = std::mem::replace(&mut self.scopes, items);
            let index = self.new_closure(&closure);
            self.scopes = outer;
            return self.bind(&function.sig.ident, Binding::Closure(index));
        }
        let syn::Item::Const(constant) = item else {
            let what = "an item other than `const`, `use`, `type` and a plain `fn` is";
            self.errors.unsupported(
                codes::NESTED_ITEM,
                item.range(),
                what,
                "move it out of the kernel",
            );
            return;
        };
        if !constant.generics.params.is_empty() {
            self.errors.at(
                codes::NESTED_ITEM,
                constant.generics.range(),
                "a constant in a kernel cannot be generic",
                "drop its parameters",
            );
        }
        if let Err(error) = constant.modifiers.require_empty() {
            self.errors.push(error);
        }
        self.consts.push(constant.clone());
        let ident = constant.ident.clone();
        self.bind(&ident, Binding::Const(self.consts.len() - 1));
    }

    fn local_statement(&mut self, local: &syn::Local) -> Value {
        let before = self.errors.count();
        let value = self.let_statement(local);
        if self.errors.count() > before {
            self.bind_error_types(&local.pat);
        }
        value
    }

    fn let_statement(&mut self, local: &syn::Local) -> Value {
        if let Err(error) = local.modifiers.require_empty() {
            self.errors.push(error);
        }
        let made = self.closure_let(local).or_else(|| self.shared_let(local));
        let made = made.or_else(|| self.reference_let(local));
        if let Some(value) = made.or_else(|| self.array_let(local)) {
            return value;
        }
        let diverges = local
            .init
            .as_ref()
            .is_some_and(|init| init.diverge.is_some());
        if diverges || takes_apart(&local.pat) {
            let made = self.names_of_a_tuple(local).filter(|_| !diverges);
            return match made {
                Some((pats, values)) => {
                    let of_one_type = matches!(local.pat, syn::Pat::Slice(_));
                    self.bind_each(&pats, &values, of_one_type)
                }
                None => self.let_pattern(local),
            };
        }
        let Some((pat, ty)) = self.binding_pattern(&local.pat) else {
            if let Some(init) = &local.init {
                self.value(&init.expr);
            }
            return Value::Unit;
        };
        let init = local.init.as_ref();
        let is_made = pat.is_some_and(|pat| pat.ident.to_string().starts_with("__lent"));
        let is_lent = is_made || init.is_some_and(|init| self.may_be_reference(&init.expr));
        if let (Some(mark), Some(pat), false) = (mark_of(&local.attrs), pat, is_lent) {
            self.marked(mark, ty, pat.ident.range());
        }
        let Some(init) = &local.init else {
            return self.declare(pat, ty);
        };
        self.expect_own(Some(ty));
        let Some(value) = self.scalar_or_never(&init.expr) else {
            self.unreachable.push(ty);
            return self.declare(pat, ty);
        };
        let (found, span) = (self.ty(value), self.span(value));
        self.unify(ty, found, span);
        match pat {
            None => self.discard(value),
            Some(pat) => {
                let id = self.name_value(value, &pat.ident, pat.mutability.is_some());
                if is_lent {
                    self.lent.insert(id);
                }
                self.bind(&pat.ident, Binding::Local(id));
            }
        }
        Value::Unit
    }

    /// Splits `let (a, b) = (x, y);` into `let a = x; let b = y;`, where `y` is evaluated before
    /// `a` is bound. The analyses then know the value of each name. The same applies to `let [a, b]
    /// = [x, y];`, if the values have one type.
    fn names_of_a_tuple<'s>(
        &mut self,
        local: &'s syn::Local,
    ) -> Option<(Vec<&'s syn::Pat>, Vec<&'s syn::Expr>)> {
        let init = super::memory::array::peeled(&local.init.as_ref()?.expr);
        let (names, values) = match (&local.pat, init) {
            (syn::Pat::Tuple(names), syn::Expr::Tuple(values)) => (&names.elems, &values.elems),
            (syn::Pat::Slice(names), syn::Expr::Array(values)) => (&names.elems, &values.elems),
            _ => return None,
        };
        let plain = |pat: &syn::Pat| match pat {
            syn::Pat::Ident(ident) => ident.by_ref.is_none() && ident.subpat.is_none(),
            _ => false,
        };
        let one_each = names.len() == values.len() && names.iter().all(plain);
        let arrays = values.iter().any(|value| self.yields_array(value));
        (one_each && !arrays).then(|| (names.iter().collect(), values.iter().collect()))
    }

    fn bind_each(&mut self, pats: &[&syn::Pat], values: &[&syn::Expr], of_one_type: bool) -> Value {
        let values = self.operands(values);
        for value in values.iter().filter(|_| of_one_type) {
            let (first, span) = (self.ty(values[0]), self.span(*value));
            self.unify(first, self.ty(*value), span);
        }
        for (pat, value) in pats.iter().zip(values) {
            if let syn::Pat::Ident(pat) = pat {
                let id = self.name_value(value, &pat.ident, pat.mutability.is_some());
                self.bind(&pat.ident, Binding::Local(id));
            }
        }
        Value::Unit
    }

    /// A local of this name with the value. A temporary made for the value alone is renamed instead
    /// of copied.
    fn name_value(
        &mut self,
        value: sarek_ir::ExprId,
        name: &syn::Ident,
        mutable: bool,
    ) -> sarek_ir::LocalId {
        let (ty, span) = (self.ty(value), name.range());
        if let Expr::Local(source) = self.kernel.expr(value)
            && self.results.remove(&source)
        {
            let local = &mut self.kernel.locals.to_mut()[source.index()];
            local.name = name.to_string().trim_start_matches("r#").to_string().into();
            return source;
        }
        let local = self.local(&name.to_string(), ty, mutable);
        self.push(
            Stmt::Let {
                local,
                init: Some(value),
            },
            span,
        );
        local
    }

    fn declare(&mut self, pat: Option<&syn::PatIdent>, ty: Ty) -> Value {
        if let Some(pat) = pat {
            let local = self.local(&pat.ident.to_string(), ty, true);
            self.push(Stmt::Let { local, init: None }, pat.ident.range());
            self.bind(&pat.ident, Binding::Local(local));
        }
        Value::Unit
    }

    /// A pattern that binds one name or none (`_`), with its type. `None` for other patterns, which
    /// are reported.
    pub(super) fn binding_pattern<'p>(
        &mut self,
        pat: &'p syn::Pat,
    ) -> Option<(Option<&'p syn::PatIdent>, Ty)> {
        match pat {
            syn::Pat::Ident(ident) => {
                if let Some(by_ref) = ident.by_ref {
                    self.errors.unsupported(
                        codes::PATTERN,
                        by_ref.span,
                        "`ref` is",
                        "bind by value",
                    );
                    return None;
                }
                if let Some((at, _)) = &ident.subpat {
                    self.errors.unsupported(
                        codes::PATTERN,
                        at.span,
                        "`@` is",
                        "bind the name alone",
                    );
                    return None;
                }
                Some((Some(ident), self.types.any()))
            }
            syn::Pat::Wild(_) => Some((None, self.types.any())),
            syn::Pat::Paren(inner) => self.binding_pattern(&inner.pat),
            syn::Pat::Type(typed) => {
                let (name, _) = self.binding_pattern(&typed.pat)?;
                let ty = match &*typed.ty {
                    syn::Type::Infer(_) => self.types.any(),
                    ty => self.written_type(ty)?,
                };
                Some((name, ty))
            }
            syn::Pat::Tuple(_) | syn::Pat::TupleStruct(_) | syn::Pat::Struct(_) => {
                self.unsupported_pattern(pat, "destructuring is", "bind one name at a time")
            }
            syn::Pat::Const(_)
            | syn::Pat::Guard(_)
            | syn::Pat::Lit(_)
            | syn::Pat::Macro(_)
            | syn::Pat::Or(_)
            | syn::Pat::Path(_)
            | syn::Pat::Range(_)
            | syn::Pat::Reference(_)
            | syn::Pat::Rest(_)
            | syn::Pat::Slice(_)
            | syn::Pat::Verbatim(_) => {
                self.unsupported_pattern(pat, "this pattern is", "bind a plain name")
            }
            // `syn::Pat` is non-exhaustive; a kind that a later syn adds is reported.
            _ => self.unsupported_pattern(pat, "this pattern is", "bind a plain name"),
        }
    }

    fn unsupported_pattern<T>(&mut self, pat: &syn::Pat, what: &str, instead: &str) -> Option<T> {
        self.errors
            .unsupported(codes::PATTERN, pat.range(), what, instead);
        None
    }
}

/// A function without attributes and generics as a closure. `None` for other functions.
fn as_closure(function: &syn::ItemFn) -> Option<syn::ExprClosure> {
    let sig = &function.sig;
    let is_plain = function.attrs.is_empty()
        && sig.generics.params.is_empty()
        && sig.asyncness.is_none()
        && sig.abi.is_none()
        && sig.variadic.is_none();
    let inputs = sig.inputs.iter().map(|input| match input {
        syn::FnArg::Typed(typed) => Some(syn::Pat::Type(typed.clone())),
        syn::FnArg::Receiver(_) => None,
    });
    let inputs: Vec<syn::Pat> = inputs.collect::<Option<_>>().filter(|_| is_plain)?;
    let (output, body) = (&sig.output, &function.block);
    Some(match output {
        syn::ReturnType::Default => syn::parse_quote!(|#(#inputs),*| #body),
        syn::ReturnType::Type(..) => syn::parse_quote!(|#(#inputs),*| #output #body),
    })
}

/// True for a pattern that destructures the value.
pub(super) fn takes_apart(pat: &syn::Pat) -> bool {
    match pat {
        syn::Pat::Paren(inner) => takes_apart(&inner.pat),
        syn::Pat::Type(typed) => takes_apart(&typed.pat),
        syn::Pat::Ident(ident) => ident.subpat.is_some() && ident.by_ref.is_none(),
        syn::Pat::Tuple(_)
        | syn::Pat::TupleStruct(_)
        | syn::Pat::Struct(_)
        | syn::Pat::Reference(_)
        | syn::Pat::Slice(_) => true,
        _ => false,
    }
}
