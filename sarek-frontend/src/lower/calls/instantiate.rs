//! Lets rustc infer the instance of each called function, from a call that is never evaluated.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use sarek_ir::FunctionId;

use super::callee::{Callee, Typed, unnamed_name};
use crate::diagnostics::codes;
use crate::lower::types::{Hole, Node};
use crate::lower::{Lowerer, Ty};
use crate::tokens::at;

impl Lowerer<'_> {
    /// Writes the calls from which rustc infers the instances. A call that takes the result of
    /// another follows that one.
    pub(in crate::lower) fn infer_callees(&mut self) {
        let mut left: Vec<usize> = (0..self.callees.len()).collect();
        left.retain(|index| !self.callees[*index].is_self);
        while !left.is_empty() {
            let ready = |index: &usize| {
                let callee = self.inferred_by(*index);
                let mut given = callee.given.iter();
                given.all(|typed| self.is_alone(callee, typed) || self.typed_expr(typed).is_some())
            };
            // If all wait for others, the argument types of the first are unimportant or cannot be
            // inferred.
            let next = left.iter().position(ready).unwrap_or(0);
            self.infer_callee(left.remove(next));
        }
    }

    /// The function whose call determines the instance: this one, or the one to which it is passed.
    fn inferred_by(&self, index: usize) -> &Callee {
        let callee = &self.callees[index];
        let to = callee.given_to.map(|to| &self.callees[to.index()]);
        to.filter(|to| !to.is_self).unwrap_or(callee)
    }

    fn infer_callee(&mut self, index: usize) {
        let (callee, called) = (&self.callees[index], self.inferred_by(index));
        let is_itself = std::ptr::eq(callee, called);
        let Some(call) = self.inferring_call(called) else {
            // For a function that is passed to another, the error is reported at that one.
            if is_itself {
                let method = callee.method.as_ref().map(ToString::to_string);
                let method = method.unwrap_or_default();
                self.errors.at(
                    codes::UNKNOWN_TYPE,
                    callee.span,
                    format!("the type must be known before `.{method}()` is called on it"),
                    "write it where the value is bound, as in `let p: Point = …;`",
                );
            }
            return;
        };
        let span = Span::mixed_site().located_at(callee.span);
        let result_type = called.result.and_then(|ty| self.type_tokens(ty));
        let result_type = result_type.map(|ty| {
            let yielded = called.known(&quote_spanned!(span=> &__call.1));
            quote_spanned!(span=> let _: &#ty = #yielded;)
        });
        let functions = called.given.iter().filter_map(|typed| match typed {
            Typed::Function(function) => Some(*function),
            Typed::By(_)
            | Typed::Int(_)
            | Typed::Float(_)
            | Typed::Callable(..)
            | Typed::Unknown => None,
        });
        let (slots, instances): (Vec<_>, Vec<_>) = functions
            .map(|function| self.given_instance(function))
            .unzip();
        let instance = match is_itself {
            true => quote_spanned!(span=> __call),
            false => instance_name(FunctionId(index as u32)),
        };
        let is_call = is_itself && result_type.is_none() && slots.is_empty();
        self.callees[index].inferred = match is_call {
            true => call,
            false => quote_spanned! {span=> {
                #(#slots)*
                let __call = #call;
                #(#instances)*
                #result_type
                #instance
            }},
        };
    }

    /// A call that yields the instance and the result type. `None` if the type of the receiver is
    /// not known.
    fn inferring_call(&self, callee: &Callee) -> Option<TokenStream> {
        // An expression of any type: rustc takes the parameter's type, if that is fixed.
        let any = || quote!(::core::unreachable!());
        let args = callee.given.iter();
        let args = args.map(|typed| match self.is_alone(callee, typed) {
            true => any_literal(typed),
            false => self.typed_expr(typed),
        });
        let mut args: Vec<TokenStream> = args.map(|arg| arg.unwrap_or_else(any)).collect();
        let infer = match callee.is_unnamed {
            false => callee.item("infer", 0),
            true => {
                let receiver = callee
                    .given
                    .first()
                    .and_then(|typed| self.typed_expr(typed))?;
                // The receiver determines the type once. Repeating it would double the code with
                // each call of a chain.
                args[0] = any();
                callee.through(&receiver, unnamed_name, 0)
            }
        };
        let span = Span::mixed_site().located_at(callee.span);
        let args = match callee.given_to {
            // The surrounding call has no part in this.
            Some(_) => quote_spanned!(span=> ::core::unreachable!()),
            None => callee.known(&quote_spanned!(span=> (#(#args,)*))),
        };
        Some(quote_spanned!(span=> #infer(#args)))
    }

    /// True for a literal whose type only this call determines. Any other literal then has the same
    /// type there.
    fn is_alone(&self, callee: &Callee, typed: &Typed) -> bool {
        let (Typed::Int(ty) | Typed::Float(ty)) = typed else {
            return false;
        };
        let is_parameter = matches!(self.types.node(*ty), Node::Hole(Hole::Parameter { .. }));
        let is_call = |typed: &Typed| matches!(typed, Typed::Callable(..) | Typed::Function(_));
        let yields_known = |ty: Ty| self.type_tokens(ty).is_some();
        is_parameter
            && self.types.holes_of(*ty) == 1
            && callee.result.is_none_or(yields_known)
            && callee.given_to.is_none()
            && !callee.given.iter().any(is_call)
    }

    /// For a function that is passed as an argument: the variable that stands for it, and its
    /// instance by the type that the variable then has.
    fn given_instance(&self, function: FunctionId) -> (TokenStream, TokenStream) {
        let callee = &self.callees[function.index()];
        let span = Span::mixed_site().located_at(callee.span);
        let (slot, instance) = (self.slot(function), instance_name(function));
        let (krate, infer) = (at(&self.krate, span), callee.known(&callee.infer_value()));
        (
            quote_spanned!(span=> let #slot = #krate::__private::host::of_type();),
            quote_spanned!(span=> let #instance = #krate::__private::host::given_instance(#slot, #infer);),
        )
    }

    /// The variable that stands for a function among the arguments of a call.
    fn slot(&self, function: FunctionId) -> TokenStream {
        let span = self.callees[function.index()].span;
        let span = Span::mixed_site().located_at(span);
        format_ident!("__function{}", function.0, span = span).into_token_stream()
    }

    /// An expression with the type of an argument, which is never evaluated.
    pub(in crate::lower) fn typed_expr(&self, typed: &Typed) -> Option<TokenStream> {
        match typed {
            Typed::Int(ty) => Some(self.probe(*ty).unwrap_or_else(|| quote!(0))),
            Typed::Float(ty) => Some(self.probe(*ty).unwrap_or_else(|| quote!(0.0))),
            Typed::By(ty) => self.probe(*ty),
            Typed::Callable(takes, result_type, at) => {
                Some(self.callable_expr(takes, *result_type, *at))
            }
            Typed::Function(function) => Some(self.slot(*function)),
            Typed::Unknown => Some(quote!(::core::unreachable!())),
        }
    }
}

/// A literal that can replace another one and has any type that fits.
pub(in crate::lower) fn any_literal(typed: &Typed) -> Option<TokenStream> {
    match typed {
        Typed::Int(_) => Some(quote!(0)),
        Typed::Float(_) => Some(quote!(0.0)),
        Typed::By(_) | Typed::Callable(..) | Typed::Function(_) | Typed::Unknown => None,
    }
}

fn instance_name(function: FunctionId) -> TokenStream {
    format_ident!("__instance{}", function.0, span = Span::mixed_site()).into_token_stream()
}
