//! Methods and associated functions of `#[device]` impl blocks.
//!
//! The macro does not see whether a method takes `self`, `&self` or `&mut self`. A receiver that is a variable is
//! given as one that may change. Other receivers are given by value where the result is used, and are written back
//! where it is not; rustc evaluates an assertion that the method does, or does not, change its receiver.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use sarek_ir::{Argument, LocalId};
use syn::spanned::Spanned;

use super::array::peeled;
use super::compound::{is_camel_case, is_type_name};
use super::device::{Back, Callee};
use super::types::Node;
use super::{Binding, Lowerer, Ty, Value};

impl Lowerer<'_> {
    /// `P::new(a)`. `None` when the path names no associated function.
    pub(super) fn associated_function(
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
        if !last.arguments.is_empty() {
            let instead = "make the type generic in place of its function";
            let what = "a generic associated function is";
            self.errors
                .unsupported(last.arguments.span(), what, instead);
            return Some(Value::Never);
        }
        let mut owner = path.clone();
        owner.segments.pop();
        owner.segments.pop_punct();
        let method = Some(last.ident.clone());
        let callee = self.new_callee(owner.to_token_stream(), method, path.span());
        let arguments: Vec<&syn::Expr> = e.args.iter().collect();
        Some(self.call_function(callee, &arguments, wanted, e.span()))
    }

    /// `value.method(…)` of a type of the user's. `None` when the receiver is of another type.
    pub(super) fn own_method(&mut self, e: &syn::ExprMethodCall, wanted: bool) -> Option<Value> {
        let mark = self.mark();
        let (receiver, back) = self.receiver(&e.receiver, wanted)?;
        let ty = match receiver {
            Argument::Local(local) => self.local_types[local.index()],
            Argument::Value(id) => self.ty(id),
            Argument::Memory(_) => unreachable!("a receiver is a value"),
        };
        let owner = self.owner_of(ty)?;
        let method = Some(e.method.clone());
        let callee = Callee {
            has_receiver: true,
            ..self.new_callee(owner, method, e.method.span())
        };
        self.check_receiver(&callee, receiver, !back.is_empty());
        let function = self.function_id(callee);
        let arguments: Vec<&syn::Expr> = e.args.iter().collect();
        let before = self.mark();
        let Some((args, more)) = self.arguments(&arguments) else {
            return Some(Value::Never);
        };
        let mut all = vec![receiver];
        if self.mark() > before.max(mark) {
            self.settle_arguments(&mut all, before);
        }
        all.extend(args);
        let back = back.into_iter().chain(more).collect();
        Some(self.call_with(function, all, back, wanted, e.span()))
    }

    /// The type that has the methods of a value: one that the source names.
    fn owner_of(&self, ty: Ty) -> Option<TokenStream> {
        match self.types.node(ty) {
            Node::Named(named) if self.is_parameter(&named.path) || named.packed.is_some() => None,
            Node::Named(_) => self.type_tokens(ty),
            _ => None,
        }
    }

    /// Is it known to be a type parameter?
    pub(super) fn is_parameter_type(&self, ty: Ty) -> bool {
        match self.types.node(ty) {
            Node::Named(named) => self.is_parameter(&named.path),
            _ => false,
        }
    }

    /// Is it a type parameter of the kernel or function?
    fn is_parameter(&self, path: &TokenStream) -> bool {
        let text = super::path_text(path);
        self.parameters.contains(&text)
    }

    /// The receiver, if it may be of a type of the user's.
    fn receiver(&mut self, expr: &syn::Expr, wanted: bool) -> Option<(Argument, Vec<Back>)> {
        if let Some(local) = self.variable(expr) {
            self.owner_of(self.local_types[local.index()])?;
            return Some((Argument::Local(local), vec![]));
        }
        if !self.names_own_type(expr) {
            return None;
        }
        let is_place = matches!(peeled(expr), syn::Expr::Index(_) | syn::Expr::Field(_));
        if is_place && !wanted {
            let place = self.place(expr)?;
            let (place, value) = self.read_place(place, expr.span());
            self.owner_of(self.ty(value))?;
            let local = self.temporary(value, expr.span());
            return Some((Argument::Local(local), vec![(place, local, expr.span())]));
        }
        let value = self.referred(expr)?;
        Some((Argument::Value(value), vec![]))
    }

    /// Is the receiver of a type that has methods of the user's? What it is told by is not lowered yet: names, fields
    /// and elements; other receivers are bound first.
    fn names_own_type(&mut self, expr: &syn::Expr) -> bool {
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
        ty.is_some_and(|ty| self.owner_of(ty).is_some())
    }

    /// The mutable variable that an expression names.
    fn variable(&mut self, expr: &syn::Expr) -> Option<LocalId> {
        if let Some(local) = self.referent(expr) {
            let is_mutable = self.references.iter().any(|(_, l)| *l == local);
            return is_mutable.then_some(local);
        }
        let syn::Expr::Path(path) = peeled(expr) else {
            return None;
        };
        match self.find(path.path.get_ident()?)? {
            Binding::Local(local) => self.kernel.locals[local.index()].mutable.then_some(local),
            _ => None,
        }
    }

    fn check_receiver(&mut self, callee: &Callee, receiver: Argument, written_back: bool) {
        let mutates = callee.mutates();
        let span = Span::mixed_site().located_at(callee.span);
        match receiver {
            Argument::Value(_) => {
                let message =
                    "this method changes its receiver: call it on a variable, or as a statement";
                self.checks
                    .push(quote_spanned!(span=> ::core::assert!(!#mutates, #message);));
            }
            Argument::Local(_) if written_back => {
                let message =
                    "this method does not change its receiver: bind the receiver with `let` first";
                self.checks
                    .push(quote_spanned!(span=> ::core::assert!(#mutates, #message);));
            }
            Argument::Local(_) | Argument::Memory(_) => {}
        }
    }
}
