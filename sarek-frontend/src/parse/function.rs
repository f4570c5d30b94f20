//! The signature of a `#[device]` function.

use syn::spanned::Spanned;
use syn::{FnArg, Ident, Pat, ReturnType, Type};

use super::signature::argument_kind;
use super::{Argument, ArgumentKind, Signature};
use crate::diagnostics::Errors;

impl Signature {
    /// Reads the signature of a `#[device]` function. `None` when a parameter has no meaning, which is
    /// then an error.
    pub fn read_function(sig: &syn::Signature, errors: &mut Errors) -> Option<Signature> {
        let refused = [
            (sig.asyncness.map(|t| t.span()), "`async`"),
            (sig.abi.as_ref().map(|t| t.span()), "`extern`"),
            (sig.variadic.as_ref().map(|t| t.span()), "variadic"),
        ];
        for (span, what) in refused {
            if let Some(span) = span {
                errors.at(span, format!("a `#[device]` function cannot be {what}"));
            }
        }
        let inputs = sig.inputs.iter();
        let arguments: Vec<Argument> = inputs.filter_map(|a| parameter(a, errors)).collect();
        (arguments.len() == sig.inputs.len()).then(|| Signature {
            name: sig.ident.clone(),
            is_unsafe: matches!(sig.safety, syn::Safety::Unsafe(_)),
            returns_nothing: yields(&sig.output).is_none(),
            arguments,
            is_function: true,
            inline: None,
            method: None,
            yields: yields(&sig.output).cloned(),
            generics: sig.generics.clone(),
        })
    }
}

/// The type that a function yields, if it is not `()`.
fn yields(output: &ReturnType) -> Option<&Type> {
    match output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) => match &**ty {
            Type::Tuple(tuple) if tuple.elems.is_empty() => None,
            ty => Some(ty),
        },
    }
}

fn parameter(argument: &FnArg, errors: &mut Errors) -> Option<Argument> {
    let typed = match argument {
        FnArg::Receiver(receiver) => return receiver_argument(receiver, errors),
        FnArg::Typed(typed) => typed,
    };
    if let Some(attr) = typed.attrs.first() {
        let message = "attributes on a function's parameters are not supported";
        errors.at(attr.span(), message);
    }
    let name = match &*typed.pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => pat,
        other => {
            let message = "a parameter of a `#[device]` function is a plain name";
            errors.at(other.span(), message);
            return None;
        }
    };
    let kind = parameter_kind(&typed.ty, errors)?;
    if let ArgumentKind::View { .. } = kind {
        let message = "views are arguments of kernels only: give the function elements, or the slice and its width";
        errors.at(typed.ty.span(), message);
        return None;
    }
    let by_value = matches!(kind, ArgumentKind::Scalar(_) | ArgumentKind::Value(_));
    if let (Some(_), false) = (name.mutability, by_value) {
        let message = "a reference cannot be rebound: drop the `mut` before its name";
        errors.at(name.span(), message);
    }
    Some(Argument {
        name: name.ident.clone(),
        mutable: name.mutability.is_some(),
        kind,
        item: None,
    })
}

/// `self`, `&self` or `&mut self`.
fn receiver_argument(receiver: &syn::Receiver, errors: &mut Errors) -> Option<Argument> {
    let own = || Box::new(syn::parse_quote!(Self));
    let kind = match &receiver.kind {
        syn::ReceiverKind::Value => ArgumentKind::Value(own()),
        syn::ReceiverKind::Reference(_, _, mutability) => ArgumentKind::Reference {
            of: own(),
            mutable: mutability.is_some(),
        },
        _ => {
            let message = "a receiver is `self`, `&self` or `&mut self`";
            errors.at(receiver.span(), message);
            return None;
        }
    };
    Some(Argument {
        name: Ident::new("self", receiver.self_token.span),
        mutable: receiver.mutability.is_some(),
        kind,
        item: None,
    })
}

fn parameter_kind(ty: &Type, errors: &mut Errors) -> Option<ArgumentKind> {
    match ty {
        Type::Paren(inner) => parameter_kind(&inner.elem, errors),
        Type::Group(inner) => parameter_kind(&inner.elem, errors),
        Type::Reference(reference) => match &*reference.elem {
            Type::Slice(_) => argument_kind(ty, errors),
            Type::Array(array) => {
                let message = "arrays are passed as slices: `&[T]` or `&mut [T]`";
                errors.at(array.span(), message);
                None
            }
            _ => Some(ArgumentKind::Reference {
                of: reference.elem.clone(),
                mutable: reference.mutability.is_some(),
            }),
        },
        Type::ImplTrait(of) => {
            let message = "closures are not passed to `#[device]` functions: write the function for what it calls, or \
                           call the closure where it is bound";
            errors.at(of.span(), message);
            None
        }
        _ => argument_kind(ty, errors),
    }
}
