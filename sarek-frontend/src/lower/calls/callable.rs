//! Callable arguments: closures, functions, and callables that the caller received itself.
//!
//! A closure passed to a function is lowered at the call, in a block of its own. The function
//! determines its parameter types and its result type, which are holes to this macro.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use sarek_ir::{
    Argument, Call, CallId, CallTarget, Callable, CallableArg, CallableId, Closure, ClosureId,
    FunctionId, Scalar, Stmt, StmtId,
};

use super::call::qualifying_type;
use super::callee::{Callee, Typed};
use crate::diagnostics::{Mistake, codes};
use crate::lower::compound::{is_camel_case, is_type_name};
use crate::lower::memory::array::peeled;
use crate::lower::{Binding, CallableBody, Lowerer, Ty, Value, plain_name};
use crate::parse::CallableType;
use crate::tokens::range::{Ranged, SourceRange};

/// A callable among the arguments of a call.
pub(in crate::lower) enum Passed {
    /// In [`Lowerer::closures`].
    Closure(usize),
    Callable(CallableId),
    Function(syn::Path),
}

/// A callable parameter, as the function's body knows it.
pub(in crate::lower) struct OwnCallable {
    of: CallableType,
    takes: Vec<Ty>,
    result_type: Option<Ty>,
}

impl Lowerer<'_> {
    // In the function that receives it.

    /// Declares a callable parameter.
    pub(in crate::lower) fn bind_callable(
        &mut self,
        name: &syn::Ident,
        of: &CallableType,
    ) -> Binding {
        let types = of.takes.iter();
        let takes = types.map(|ty| self.written_type(ty)).collect::<Vec<_>>();
        let takes = takes.into_iter();
        let takes: Vec<Ty> = takes
            .map(|ty| ty.unwrap_or_else(|| self.types.any()))
            .collect();
        let result_type = of.result_type.as_ref();
        let result_type =
            result_type.map(|ty| self.written_type(ty).unwrap_or_else(|| self.types.any()));
        self.kernel.callables.to_mut().push(Callable {
            name: plain_name(name).into(),
            params: vec![Scalar::Bool.into(); takes.len()].into(),
            result: result_type.map(|_| Scalar::Bool.into()),
        });
        self.callables.push(OwnCallable {
            of: of.clone(),
            takes,
            result_type,
        });
        Binding::Callable(CallableId(self.callables.len() as u32 - 1))
    }

    /// Sets the IR types of the callable parameters, and returns their types in compiled bodies.
    pub(in crate::lower) fn settle_callables(&mut self) -> Vec<CallableBody> {
        let all = std::mem::take(&mut self.callables);
        let mut tokens = vec![];
        for (at, own) in all.iter().enumerate() {
            let takes: Option<Vec<_>> = own.takes.iter().map(|ty| self.ir_type(*ty)).collect();
            let result_type = own.result_type.map(|ty| self.ir_type(ty));
            let callable = &mut self.kernel.callables.to_mut()[at];
            if let (Some(takes), false) = (takes, result_type == Some(None)) {
                callable.params = takes.into();
                callable.result = result_type.flatten();
            } else {
                self.errors.at(
                    codes::UNKNOWN_TYPE,
                    own.of.span(),
                    "the parameter types of this closure are not known",
                    "write all types",
                );
            }
            let takes: Vec<TokenStream> = own
                .takes
                .iter()
                .map(|ty| self.type_or_placeholder(*ty))
                .collect();
            let result_type = own.result_type.map(|ty| self.type_or_placeholder(ty));
            tokens.push(CallableBody {
                kind: own.of.kind,
                body: own
                    .of
                    .body_type(&takes, result_type.as_ref(), &quote!(__host)),
                span: own.of.span().into(),
            });
        }
        self.callables = all;
        tokens
    }

    /// `f(args…)`, where `f` is a callable parameter.
    pub(in crate::lower) fn callable_call(
        &mut self,
        e: &syn::ExprCall,
        callable: CallableId,
    ) -> Value {
        let OwnCallable {
            takes, result_type, ..
        } = &self.callables[callable.index()];
        let (takes, result_type) = (takes.clone(), *result_type);
        if takes.len() != e.args.len() {
            let what = format!(
                "this takes {} arguments, but the call has {}",
                takes.len(),
                e.args.len()
            );
            self.errors
                .at(codes::ARGUMENT_COUNT, e.range(), what, "pass as many");
            return Value::Never;
        }
        let exprs: Vec<&syn::Expr> = e.args.iter().collect();
        let args = self.operands(&exprs);
        for (wanted, arg) in takes.into_iter().zip(&args) {
            self.unify(wanted, self.ty(*arg), self.span(*arg));
        }
        let result = result_type.map(|ty| {
            let local = self.result(ty);
            self.push(Stmt::Let { local, init: None }, e.range());
            local
        });
        let args: Vec<Argument> = args.into_iter().map(Argument::Value).collect();
        let call = CallId(self.kernel.calls.len() as u32);
        self.kernel.calls.to_mut().push(Call {
            called: CallTarget::Callable(callable),
            args: args.into(),
            callable_args: vec![].into(),
            result,
        });
        self.push(Stmt::Call { call }, e.range());
        result.map_or(Value::Unit, |local| {
            Value::Scalar(self.read(local, e.range()))
        })
    }

    // In its caller.

    /// The callable that an argument denotes, if it is one.
    pub(in crate::lower) fn passed(&mut self, argument: &syn::Expr) -> Option<Passed> {
        let expr = match peeled(argument) {
            syn::Expr::Reference(reference) => peeled(&reference.expr),
            other => other,
        };
        match expr {
            syn::Expr::Closure(closure) => Some(Passed::Closure(self.new_closure(closure))),
            syn::Expr::Path(path) if path.qself.is_none() => {
                if let Some(name) = path.path.get_ident()
                    && let Some(binding) = self.find(name)
                {
                    return match binding {
                        Binding::Closure(index) => Some(Passed::Closure(index)),
                        Binding::Callable(callable) => Some(Passed::Callable(callable)),
                        Binding::Local(_)
                        | Binding::Scalar(_)
                        | Binding::Reference(_)
                        | Binding::Memory(_)
                        | Binding::View(_)
                        | Binding::Const(_)
                        | Binding::Part(_)
                        | Binding::Place(_)
                        | Binding::SubSlice(_) => None,
                    };
                }
                self.names_function(&path.path)
                    .then(|| Passed::Function(path.path.clone()))
            }
            _ => None,
        }
    }

    /// True if a path that names no binding of the body looks like that of a function, by its
    /// capitalization.
    fn names_function(&mut self, path: &syn::Path) -> bool {
        let Some(last) = path.segments.last() else {
            return false;
        };
        let is_parameter = self.constants.contains_key(&last.ident.to_string());
        !is_parameter && !is_type_name(&last.ident) && !is_camel_case(&last.ident)
    }

    /// Passes a callable to a function. `None` if it is invalid, which is reported.
    pub(in crate::lower) fn give(
        &mut self,
        passed: Passed,
        to: (FunctionId, CallableId),
        span: SourceRange,
    ) -> Option<(CallableArg, Typed)> {
        match passed {
            Passed::Closure(index) => {
                let (closure, typed) = self.give_closure(index, to, span)?;
                Some((CallableArg::Closure(closure), typed))
            }
            Passed::Callable(callable) => {
                let OwnCallable {
                    takes, result_type, ..
                } = &self.callables[callable.index()];
                let typed = Typed::Callable(takes.clone(), *result_type, span);
                Some((CallableArg::Callable(callable), typed))
            }
            Passed::Function(path) if qualifying_type(&path).is_some() => {
                let name = crate::tokens::path_text(&path);
                let mistake = Mistake::new(
                    codes::CLOSURE,
                    format!("`{name}` is passed to a function by its name"),
                    format!("write a closure that calls it, as in `|x| {name}(x)`"),
                );
                let mistake = mistake.because(
                    "only functions marked `#[device]` can be passed by name, not methods of numbers",
                );
                self.errors.report(span, &mistake);
                None
            }
            Passed::Function(path) => {
                let mut turbofish = syn::PathArguments::None;
                let (owner, method) = match path.segments.len() {
                    count if count > 1 && is_type_name(&path.segments[count - 2].ident) => {
                        let mut owner = path.clone();
                        let method = owner.segments.pop()?;
                        owner.segments.pop_punct();
                        turbofish = method.arguments;
                        (owner.to_token_stream(), Some(method.ident))
                    }
                    _ => (path.to_token_stream(), None),
                };
                let callee = Callee {
                    given_to: Some(to.0),
                    turbofish,
                    ..self.new_callee(owner, method, span.first)
                };
                let function = self.function_id(callee);
                Some((CallableArg::Function(function), Typed::Function(function)))
            }
        }
    }

    /// Lowers a closure in a block of its own.
    fn give_closure(
        &mut self,
        index: usize,
        (function, callable): (FunctionId, CallableId),
        span: SourceRange,
    ) -> Option<(ClosureId, Typed)> {
        if self.closures[index].open {
            self.errors.at(
                codes::CLOSURE,
                span,
                "a closure passes itself to a function",
                "rewrite it as a `#[device]` function",
            );
            return None;
        }
        let closure = self.closures[index].expr.clone();
        let types = self.closures[index].params.clone();
        for (at, ty) in (0..).zip(&types) {
            let wanted = self.types.callable(function, callable, Some(at));
            self.unify(wanted, *ty, span);
        }
        let shared = self.kernel.shared.len();
        let mut params = vec![];
        let (open, value) = self.in_block(|this| {
            this.inside_closure(index, |this| {
                for (pat, ty) in closure.inputs.iter().zip(&types) {
                    params.extend(this.closure_parameter(pat, *ty));
                }
                this.closure_value(&closure)
            })
        });
        let before = self.errors.is_empty();
        if self.kernel.shared.len() > shared {
            self.errors.at(
                codes::CLOSURE,
                closure.range(),
                "a shared array is created in a closure that is passed to a function",
                "create it before the call, outside the closure",
            );
        }
        self.check_alone(&open.stmts);
        let (open, result) = self.closure_result(open, value, (function, callable), &closure);
        let body = self.close(open);
        let (params, result_type) = (
            params.into(),
            result.map(|local| self.local_types[local.index()]),
        );
        self.kernel.closures.to_mut().push(Closure {
            params,
            result,
            body,
        });
        let id = ClosureId(self.kernel.closures.len() as u32 - 1);
        (before || self.errors.is_empty())
            .then_some((id, Typed::Callable(types, result_type, closure.range())))
    }

    /// Ends the closure's block with the assignment of its result.
    fn closure_result(
        &mut self,
        open: crate::lower::OpenBlock,
        value: Value,
        (function, callable): (FunctionId, CallableId),
        closure: &syn::ExprClosure,
    ) -> (crate::lower::OpenBlock, Option<sarek_ir::LocalId>) {
        let span = closure.body.range();
        let id = match value {
            Value::Scalar(id) => id,
            Value::Unit => return (open, None),
            Value::Never => {
                if !open.stmts.is_empty() {
                    self.errors.at(
                        codes::CLOSURE,
                        span,
                        "this closure never returns",
                        "move its code into the function that calls it",
                    );
                }
                return (open, None);
            }
        };
        let wanted = self.types.callable(function, callable, None);
        self.unify(wanted, self.ty(id), self.span(id));
        let local = self.local("value", self.ty(id), true);
        self.blocks.push(open);
        self.push(Stmt::Assign { local, value: id }, span);
        let open = self.blocks.pop().expect("the block pushed above");
        (open, Some(local))
    }

    /// Reports cooperative statements in a closure, which the called function may run for some
    /// threads only.
    fn check_alone(&mut self, stmts: &[StmtId]) {
        for id in self.kernel.stmts_in(stmts.iter().copied()) {
            if self.kernel.stmt(id).facts().effect.is_cooperative() {
                self.errors.at(
                    codes::CLOSURE,
                    self.stmt_spans[id.index()],
                    "threads cannot work together in a closure that is passed to a function, which may call it in some threads only",
                    "move this out of the closure",
                );
            }
        }
    }

    /// A function pointer of these types, which is never evaluated.
    pub(in crate::lower) fn callable_expr(
        &self,
        takes: &[Ty],
        result_type: Option<Ty>,
        at: SourceRange,
    ) -> TokenStream {
        let krate = &self.krate;
        let takes = takes.iter().map(|ty| self.type_or_placeholder(*ty));
        let result_type = match result_type {
            Some(ty) => self.type_or_placeholder(ty),
            None => quote!(()),
        };
        // At this place rustc reports that the function requires other types.
        let span = Span::mixed_site().located_at(at.first);
        let of_type = quote!(fn(#(#takes),*) -> #result_type);
        quote_spanned!(span=> { use #krate::__private::host as __host; __host::of_type::<#of_type>() })
    }

    /// The type, or `_` if it has no name.
    fn type_or_placeholder(&self, ty: Ty) -> TokenStream {
        self.type_tokens(ty).unwrap_or_else(|| quote!(_))
    }
}

impl CallableType {
    fn span(&self) -> Span {
        let first = self.takes.first().or(self.result_type.as_ref());
        first
            .map_or_else(SourceRange::call_site, Ranged::range)
            .first
    }
}
