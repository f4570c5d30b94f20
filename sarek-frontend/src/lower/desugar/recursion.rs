//! Functions that call themselves. A tail call becomes the next iteration of a loop around the
//! body. Other calls nest, up to the depth in `#[device(inline = N)]`; without that they are
//! errors.

use std::collections::HashSet;

use quote::ToTokens;
use sarek_ir::{Argument, Expr, ExprId, Kernel, LabelId, LocalId, Memory, ParamId, Stmt};
use syn::visit::{self, Visit};

use crate::diagnostics::codes;
use crate::lower::calls::call_args::Arguments;
use crate::lower::memory::array::peeled;
use crate::lower::stmt::is_empty;
use crate::lower::{Binding, Callee, Lowerer, Value};
use crate::parse::Signature;
use crate::tokens::range::{Ranged, SourceRange};

/// The state of a function that calls itself.
pub(in crate::lower) struct Recursion {
    /// The loop around the body.
    label: LabelId,
    /// The binding of each parameter.
    bound: Vec<Binding>,
    /// The tail calls, by their addresses in the syntax tree.
    last: HashSet<*const syn::ExprCall>,
}

/// Finds the function's tail calls of itself.
pub(in crate::lower) fn last_calls(
    signature: &Signature,
    body: &syn::Block,
) -> HashSet<*const syn::ExprCall> {
    let Some(own) = OwnName::of(signature) else {
        return HashSet::new();
    };
    let mut finder = Finder {
        own,
        last: HashSet::new(),
        unit: signature.result_type.is_none(),
    };
    finder.block(body);
    finder.visit_block(body);
    finder.last
}

struct Finder {
    own: OwnName,
    last: HashSet<*const syn::ExprCall>,
    /// True if the function has no result, so that a statement can be a tail call.
    unit: bool,
}

impl Finder {
    fn block(&mut self, block: &syn::Block) {
        match block.stmts.iter().rfind(|stmt| !is_empty(stmt)) {
            Some(syn::Stmt::Expr(expr, None)) => self.tail(expr),
            Some(syn::Stmt::Expr(expr, Some(_))) if self.unit => self.tail(expr),
            _ => {}
        }
    }

    fn tail(&mut self, expr: &syn::Expr) {
        match peeled(expr) {
            syn::Expr::Call(call) if self.own.is_called(call) => {
                self.last.insert(std::ptr::from_ref(call));
            }
            syn::Expr::Block(e) if e.label.is_none() => self.block(&e.block),
            syn::Expr::Unsafe(e) => self.block(&e.block),
            syn::Expr::If(e) => {
                self.block(&e.then_branch);
                if let Some((_, otherwise)) = &e.else_branch {
                    self.tail(otherwise);
                }
            }
            syn::Expr::Match(e) => e.arms.iter().for_each(|arm| self.tail(&arm.body)),
            _ => {}
        }
    }
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_expr_return(&mut self, e: &'ast syn::ExprReturn) {
        if let Some(expr) = &e.expr {
            self.tail(expr);
        }
        visit::visit_expr_return(self, e);
    }
}

impl Lowerer<'_> {
    /// Lowers the body of a function, inside a loop if it calls itself.
    pub(in crate::lower) fn function_body(&mut self, signature: &Signature, body: &syn::Block) {
        let span = signature.name.range();
        let last = last_calls(signature, body);
        if last.is_empty() {
            let expected = self.own_types.1;
            self.expect_own(expected);
            let value = self.scoped_block(body);
            return self.leave_function(value, span);
        }
        let label = LabelId(self.labels);
        self.labels += 1;
        let bound = signature.arguments.iter();
        let bound = bound.map(|a| self.find(&a.name).expect("parameters were bound"));
        let bound: Vec<Binding> = bound.collect();
        let bound = bound.into_iter().flat_map(|binding| self.parts_of(binding));
        let bound = bound.collect();
        self.recursion = Some(Recursion { label, bound, last });
        let (mut open, ()) = self.in_block(|this| {
            let value = this.scoped_block(body);
            this.leave_function(value, span);
            this.push(Stmt::Return, span);
        });
        open.ended = true;
        let body = self.close(open);
        let cond = None;
        self.push(Stmt::Loop { label, cond, body }, span);
    }

    /// Turns a tail call of the function itself into the next iteration. `None` for a call of
    /// another function.
    pub(in crate::lower) fn self_call(&mut self, e: &syn::ExprCall, wanted: bool) -> Option<Value> {
        if !self.own_name.as_ref().is_some_and(|own| own.is_called(e)) {
            return None;
        }
        if !self.callables.is_empty() {
            self.errors.at(
                codes::RECURSION,
                e.range(),
                "a function that takes closures calls itself",
                "write a loop",
            );
            return Some(Value::Never);
        }
        let is_last = self
            .recursion
            .as_ref()
            .is_some_and(|r| r.last.contains(&std::ptr::from_ref(e)));
        if !is_last {
            return Some(self.nested_call(e, wanted));
        }
        let exprs: Vec<&syn::Expr> = e.args.iter().collect();
        let Some(Arguments {
            args,
            back,
            callable_args,
            ..
        }) = self.arguments(None, &exprs)
        else {
            return Some(Value::Never);
        };
        let recursion = self.recursion.as_ref().expect("it has last calls");
        let (label, bound) = (recursion.label, recursion.bound.clone());
        if args.len() != bound.len() || !back.is_empty() || !callable_args.is_empty() {
            self.errors.at(
                codes::RECURSION,
                e.range(),
                "the recursive call passes other `&mut` parameters than its own",
                "pass its own parameters on, unchanged",
            );
            return Some(Value::Never);
        }
        self.next_turn(&args, &bound, e.range());
        self.push(Stmt::Continue { label }, e.range());
        Some(Value::Never)
    }

    /// A call of the function itself that is no tail call.
    fn nested_call(&mut self, e: &syn::ExprCall, wanted: bool) -> Value {
        let is_method = self.own_name.as_ref().is_some_and(|own| own.method);
        if self.inline.is_none() || is_method {
            self.errors.at(
                codes::RECURSION,
                e.range(),
                "a `#[device]` function calls itself outside tail position",
                "write a loop, or declare the maximum depth of the recursion: `#[device(inline = 8)]`",
            );
            return Value::Never;
        }
        let syn::Expr::Path(path) = &*e.func else {
            unreachable!("the function is called by its name")
        };
        let callee = Callee {
            is_self: true,
            ..self.new_callee(path.path.to_token_stream(), None, path.range().first)
        };
        let function = self.function_id(callee);
        let arguments: Vec<&syn::Expr> = e.args.iter().collect();
        let Some(arguments) = self.arguments(None, &arguments) else {
            return Value::Never;
        };
        let (params, result_type) = self.own_types.clone();
        if arguments.args.len() != params.len() {
            let parts = self.views.values();
            let parts = parts.map(|rank| Kernel::view_params(*rank) as usize - 1);
            let (wanted, found) = (params.len() - parts.sum::<usize>(), e.args.len());
            let what = match wanted == found {
                true => {
                    "the function takes a view where the call passes none, or the reverse".into()
                }
                false => format!("the function takes {wanted} arguments, but the call has {found}"),
            };
            let instead = "pass the arguments that its signature lists";
            self.errors
                .at(codes::ARGUMENT_COUNT, e.range(), what, instead);
            return Value::Never;
        }
        for (index, ty) in (0..).zip(params) {
            let parameter = self.types.parameter(function, index);
            self.unify(parameter, ty, e.range());
        }
        if let Some(ty) = result_type {
            let result = self.types.result(function);
            self.unify(result, ty, e.range());
        }
        self.call_with(
            function,
            arguments,
            wanted && result_type.is_some(),
            e.range(),
        )
    }

    /// The bindings of the parameters behind one name; a view has several.
    fn parts_of(&self, binding: Binding) -> Vec<Binding> {
        match binding {
            Binding::View(view) => {
                let parts = (view.0 + 1)..(view.0 + Kernel::view_params(self.views[&view]));
                let parts = parts.map(|part| Binding::Scalar(ParamId(part)));
                let slice = Binding::Memory(Memory::Slice(view));
                [slice].into_iter().chain(parts).collect()
            }
            other => vec![other],
        }
    }

    /// Assigns the parameters their next values, after evaluating all of them.
    fn next_turn(&mut self, args: &[Argument], bound: &[Binding], span: SourceRange) {
        let mut next: Vec<(LocalId, ExprId)> = vec![];
        for (arg, binding) in args.iter().zip(bound) {
            match (*arg, *binding) {
                (Argument::Value(value), Binding::Local(local) | Binding::Reference(local)) => {
                    let (wanted, found) = (self.local_types[local.index()], self.ty(value));
                    self.unify(wanted, found, self.span(value));
                    let at = self.mark();
                    next.push((local, self.spill_at(at, value)));
                }
                (Argument::Local(given), Binding::Reference(local)) if given == local => {}
                (Argument::Memory(given), Binding::Memory(memory)) if given == memory => {}
                // A part of a view.
                (Argument::Value(given), Binding::Scalar(param))
                    if self.kernel.expr(given) == Expr::Param(param) => {}
                _ => {
                    self.errors.at(
                        codes::RECURSION,
                        span,
                        "the recursive call passes other slices, views or `&mut` parameters than its own",
                        "pass them on unchanged, in their places",
                    );
                }
            }
        }
        for (local, value) in next {
            self.kernel.locals.to_mut()[local.index()].mutable = true;
            self.push(Stmt::Assign { local, value }, span);
        }
    }
}

/// The name by which a function calls itself.
pub(in crate::lower) struct OwnName {
    name: String,
    method: bool,
}

impl OwnName {
    pub(in crate::lower) fn of(signature: &Signature) -> Option<OwnName> {
        signature.is_function.then(|| OwnName {
            name: signature.name.to_string(),
            method: signature.method.is_some(),
        })
    }

    fn is_called(&self, call: &syn::ExprCall) -> bool {
        let syn::Expr::Path(path) = &*call.func else {
            return false;
        };
        let path = &path.path;
        let mut names = path.segments.iter().map(|s| s.ident.to_string());
        match self.method {
            false => path.segments.len() == 1 && names.next().as_ref() == Some(&self.name),
            true => {
                path.segments.len() == 2
                    && names.next().as_deref() == Some("Self")
                    && names.next().as_ref() == Some(&self.name)
            }
        }
    }
}
