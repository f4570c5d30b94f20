//! Calls of methods and associated functions of `#[device]` impl blocks.
//!
//! The macro does not see whether a method takes `self`, `&self` or `&mut self`. A receiver that is
//! a variable is passed as one that may change. Any other receiver is passed by value if the result
//! is used, and is written back after the call if it is not. rustc evaluates an assertion that the
//! method does, or does not, change its receiver.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use sarek_ir::{Argument, ExprId, FunctionId, LocalId};
use syn::PathArguments;

use super::call_args::Back;
use super::callee::Callee;
use super::method::is_built_in;
use crate::diagnostics::{Mistake, codes};
use crate::lower::compound::{is_camel_case, is_type_name};
use crate::lower::memory::array::peeled;
use crate::lower::resolve::method_audit::{AutoRef, MethodAudit};
use crate::lower::types::{Hole, Node};
use crate::lower::{Binding, Lowerer, Ty, Value};
use crate::parse::named_scalar;
use crate::tokens::range::Ranged;

/// The type that a method belongs to.
enum Owned {
    By(TokenStream),
    /// Only rustc knows it: the type of a field, of a payload, or of a function's result.
    Unnamed,
}

impl Lowerer<'_> {
    /// `P::new(a)`. `None` if the path names no associated function.
    pub(in crate::lower) fn associated_function(
        &mut self,
        e: &syn::ExprCall,
        path: &syn::Path,
        wanted: bool,
    ) -> Option<Value> {
        if let Some(value) = self.parameter_function(e, path) {
            return Some(value);
        }
        let count = path.segments.len();
        let of = &path.segments.get(count.checked_sub(2)?)?.ident;
        let last = path.segments.last()?;
        if !is_type_name(of) || is_camel_case(&last.ident) {
            return None;
        }
        let mut owner = path.clone();
        owner.segments.pop();
        owner.segments.pop_punct();
        let method = Some(last.ident.clone());
        let callee = Callee {
            turbofish: last.arguments.clone(),
            start: path.range().first,
            ..self.new_callee(owner.to_token_stream(), method, last.ident.span())
        };
        let arguments: Vec<&syn::Expr> = e.args.iter().collect();
        Some(self.call_function(callee, &arguments, wanted, e.range()))
    }

    /// `<P as Shape>::area(&p)`
    pub(in crate::lower) fn qualified_call(
        &mut self,
        e: &syn::ExprCall,
        path: &syn::ExprPath,
        wanted: bool,
    ) -> Value {
        let qself = path.qself.as_ref();
        let qself = qself.unwrap_or_else(|| unreachable!("the path is qualified"));
        let mut of_trait = path.path.clone();
        let method = of_trait.segments.pop();
        of_trait.segments.pop_punct();
        let ty = &qself.ty;
        let scalar = matches!(&**ty, syn::Type::Path(path) if named_scalar(&path.path).is_some());
        let method = method.filter(|_| !scalar);
        let (Some(method), true) = (method, of_trait.segments.len() == qself.position) else {
            let instead = "name the type and its method, as in `<Disc as Shape>::area(&disc)`";
            self.errors
                .unsupported(codes::CALLEE, path.range(), "calling this is", instead);
            return Value::Never;
        };
        let (owner, of_trait) = match qself.position {
            0 => (ty.to_token_stream(), None),
            _ => (quote!(#ty as #of_trait), Some(((**ty).clone(), of_trait))),
        };
        let at = method.ident.range();
        let callee = Callee {
            of_trait,
            turbofish: method.arguments,
            start: path.range().first,
            ..self.new_callee(owner, Some(method.ident), at.first)
        };
        let arguments: Vec<&syn::Expr> = e.args.iter().collect();
        self.call_function(callee, &arguments, wanted, e.range())
    }

    /// `value.method(…)` on one of the user's types. `None` if the receiver has another type.
    pub(in crate::lower) fn own_method(
        &mut self,
        e: &syn::ExprMethodCall,
        wanted: bool,
    ) -> Option<Value> {
        let mark = self.mark();
        let (receiver, back) = self.receiver(e, wanted)?;
        Some(self.call_method(e, (receiver, back), mark, wanted))
    }

    /// The receiver as a value, once its type is known. `Err` if the user's type has such a method,
    /// which is then called.
    pub(in crate::lower) fn receiver_value(
        &mut self,
        e: &syn::ExprMethodCall,
        wanted: bool,
    ) -> Result<ExprId, Value> {
        let mark = self.mark();
        self.expects_own = !is_built_in(&e.method);
        let receiver = self.referred(&e.receiver);
        let receiver = receiver.unwrap_or_else(|| self.placeholder(e.receiver.range()));
        match self.owner_of(self.ty(receiver), &e.method) {
            Some(_) => Err(self.call_method(e, (Argument::Value(receiver), vec![]), mark, wanted)),
            None => Ok(receiver),
        }
    }

    fn call_method(
        &mut self,
        e: &syn::ExprMethodCall,
        (receiver, back): (Argument, Vec<Back>),
        mark: usize,
        wanted: bool,
    ) -> Value {
        let ty = match receiver {
            Argument::Local(local) => self.local_types[local.index()],
            Argument::Value(id) => self.ty(id),
            Argument::Memory(_) => unreachable!("a receiver is a value"),
        };
        let owner = match self.owner_of(ty, &e.method) {
            Some(Owned::By(owner)) => Some(owner),
            Some(Owned::Unnamed) | None => None,
        };
        let method = Some(e.method.clone());
        let callee = Callee {
            has_receiver: true,
            is_unnamed: owner.is_none(),
            is_of_parameter: self.is_parameter_type(ty),
            start: e.dot_token.span,
            turbofish: match &e.turbofish {
                Some(list) => PathArguments::AngleBracketed(list.clone()),
                None => PathArguments::None,
            },
            ..self.new_callee(owner.unwrap_or_default(), method, e.method.span())
        };
        let function = self.function_id(callee);
        self.check_receiver(function, receiver, !back.is_empty());
        let reference = self.reference_of(&e.receiver);
        self.push_method_audit(MethodAudit::own(e, ty, reference, function));
        let arguments: Vec<&syn::Expr> = e.args.iter().collect();
        let before = self.mark();
        let Some(mut given) = self.arguments(Some(function), &arguments) else {
            return Value::Never;
        };
        let mut all = vec![receiver];
        if self.mark() > before.max(mark) {
            self.settle_arguments(&mut all, before);
        }
        all.append(&mut given.args);
        given.args = all;
        given.back.splice(..0, back);
        self.call_with(function, given, wanted, e.range())
    }

    /// The kind of reference that a receiver is, if it is one.
    fn reference_of(&mut self, expr: &syn::Expr) -> AutoRef {
        let name = match peeled(expr) {
            syn::Expr::Path(path) => path.path.get_ident().cloned(),
            _ => None,
        };
        match name.and_then(|name| self.find(&name)) {
            Some(Binding::Reference(local)) => {
                match self.references.iter().any(|(_, l)| *l == local) {
                    true => AutoRef::Mutably,
                    false => AutoRef::Shared,
                }
            }
            _ => AutoRef::Not,
        }
    }

    /// The type that a value's method belongs to, if the method is one of the user's.
    fn owner_of(&self, ty: Ty, method: &syn::Ident) -> Option<Owned> {
        match self.types.node(ty) {
            Node::Named(named) if self.is_number(&named.path) || named.simd.is_some() => None,
            Node::Named(_) | Node::Hole(_) if self.is_optional_method(ty, method) => None,
            // The generic arguments of the type, if any, follow from its fields.
            Node::Named(named) if named.literal.is_some() => Some(Owned::Unnamed),
            Node::Named(_) => self.type_tokens(ty).map(Owned::By),
            // Only the called function knows these types.
            Node::Hole(Hole::Parameter { .. } | Hole::Callable { .. } | Hole::Literal { .. }) => {
                None
            }
            Node::Hole(_) => (!is_built_in(method)).then_some(Owned::Unnamed),
            Node::Tuple(_) if is_built_in(method) => None,
            // Its literals may take their types from the impl.
            Node::Tuple(_) => Some(Owned::Unnamed),
            Node::Known(_)
            | Node::Any
            | Node::Int
            | Node::Float
            | Node::Array(..)
            | Node::Same(_) => None,
        }
    }

    /// True if the type is known to be a type parameter.
    pub(in crate::lower) fn is_parameter_type(&self, ty: Ty) -> bool {
        match self.types.node(ty) {
            Node::Named(named) => self.is_parameter(&named.path),
            _ => false,
        }
    }

    /// True for a type parameter that is a number, whose methods kernels support.
    fn is_number(&self, path: &TokenStream) -> bool {
        self.numbers.contains(&crate::tokens::path_text(path))
    }

    /// True for a type parameter of the kernel or function.
    fn is_parameter(&self, path: &TokenStream) -> bool {
        let text = crate::tokens::path_text(path);
        self.parameters.contains(&text)
    }

    /// The receiver, if its type may be one of the user's.
    fn receiver(&mut self, e: &syn::ExprMethodCall, wanted: bool) -> Option<(Argument, Vec<Back>)> {
        let expr = &*e.receiver;
        if let Some(local) = self.variable(expr) {
            self.owner_of(self.local_types[local.index()], &e.method)?;
            return Some((Argument::Local(local), vec![]));
        }
        let is_field = is_in_field(expr);
        let is_changed = is_field && !wanted && !is_built_in(&e.method);
        if !is_changed && !self.names_own_type(expr, &e.method) {
            return None;
        }
        let is_place = is_field || matches!(peeled(expr), syn::Expr::Index(_));
        if is_place && !wanted {
            let place = self.place(expr)?;
            let (place, value) = self.read_place(place, expr.range());
            self.owner_of(self.ty(value), &e.method)?;
            let local = self.temporary(value, expr.range());
            return Some((Argument::Local(local), vec![(place, local, expr.range())]));
        }
        let value = self.referred(expr)?;
        Some((Argument::Value(value), vec![]))
    }

    /// True if the receiver, a name or an element that is not lowered yet, has a type with methods
    /// of the user's.
    fn names_own_type(&mut self, expr: &syn::Expr, method: &syn::Ident) -> bool {
        let ty = match peeled(expr) {
            syn::Expr::Path(path) => {
                let name = path.path.get_ident().cloned();
                match name.and_then(|name| self.find(&name)) {
                    Some(Binding::Local(local) | Binding::Reference(local)) => {
                        Some(self.local_types[local.index()])
                    }
                    _ => None,
                }
            }
            syn::Expr::Index(e) => self.find_memory(&e.expr).map(|(_, elem)| elem),
            _ => None,
        };
        ty.is_some_and(|ty| self.owner_of(ty, method).is_some())
    }

    /// The mutable variable that an expression names.
    fn variable(&mut self, expr: &syn::Expr) -> Option<LocalId> {
        if let Some(local) = self.referent(expr) {
            let is_lent = self.references.iter().any(|(_, l)| *l == local);
            let is_item = self.items.iter().any(|(_, l, _)| *l == local);
            return (is_lent || is_item).then_some(local);
        }
        let syn::Expr::Path(path) = peeled(expr) else {
            return None;
        };
        match self.find(path.path.get_ident()?)? {
            Binding::Local(local) => self.kernel.locals[local.index()].mutable.then_some(local),
            _ => None,
        }
    }

    fn check_receiver(&mut self, function: FunctionId, receiver: Argument, written_back: bool) {
        let callee = &self.callees[function.index()];
        let mutates = callee.mutates();
        let span = Span::mixed_site().located_at(callee.span);
        match receiver {
            Argument::Value(_) => {
                let message = Mistake::new(
                    codes::RECEIVER,
                    "this method changes its receiver, but the receiver here is a copy",
                    "call it on a variable, or as a statement",
                )
                .to_string();
                self.checks
                    .push(quote_spanned!(span=> ::core::assert!(!#mutates, #message);));
            }
            Argument::Local(_) if written_back => {
                let message = Mistake::new(
                    codes::RECEIVER,
                    "this method does not change its receiver, and its result is unused",
                    "bind the receiver with `let` first",
                )
                .to_string();
                self.checks
                    .push(quote_spanned!(span=> ::core::assert!(#mutates, #message);));
            }
            Argument::Local(_) | Argument::Memory(_) => {}
        }
    }
}

/// True for a field, and for an element of a field that is an array.
fn is_in_field(expr: &syn::Expr) -> bool {
    match peeled(expr) {
        syn::Expr::Field(_) => true,
        syn::Expr::Index(e) => is_in_field(&e.expr),
        _ => false,
    }
}
