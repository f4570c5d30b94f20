//! The signature of a `#[device]` function.

use syn::spanned::Spanned;
use syn::{FnArg, Ident, Pat, ReturnType, Type};

use super::signature::{argument_kind, view_kind};
use super::{Argument, ArgumentKind, Callables, ElementType, Own, Signature};
use crate::diagnostics::{Errors, Mistake, codes};
use crate::tokens::range::Ranged;

impl Signature {
    /// Reads the signature of a `#[device]` function. Returns `None` if a parameter is invalid,
    /// which is reported.
    pub fn read_function(sig: &syn::Signature, errors: &mut Errors) -> Option<Signature> {
        let refused = [
            (sig.asyncness.map(|t| t.span()), "`async`"),
            (sig.abi.as_ref().map(|t| t.span()), "`extern`"),
            (sig.variadic.as_ref().map(|t| t.span()), "variadic"),
        ];
        for (span, what) in refused {
            if let Some(span) = span {
                errors.at(
                    codes::QUALIFIER,
                    span,
                    format!("a `#[device]` function cannot be {what}"),
                    "drop this keyword",
                );
            }
        }
        let inputs = sig.inputs.iter();
        let callables = Callables::of(&sig.generics);
        lent_by_length(sig, errors);
        let arguments = inputs.filter_map(|a| parameter(a, &callables, errors));
        let arguments: Vec<Argument> = arguments.collect();
        if let Some(Type::Reference(reference)) = result_type(&sig.output) {
            let mistake = Mistake::new(
                codes::TYPE,
                "a `#[device]` function returns a value, not a reference",
                "return the element itself, or its index",
            );
            let mistake = mistake.because("not every device can return pointers");
            errors.report(reference.range(), &mistake);
            return None;
        }
        (arguments.len() == sig.inputs.len()).then(|| Signature {
            name: sig.ident.clone(),
            is_unsafe: matches!(sig.safety, syn::Safety::Unsafe(_)),
            returns_nothing: result_type(&sig.output).is_none(),
            arguments,
            unread: vec![],
            is_function: true,
            inline: None,
            intrinsic: None,
            method: None,
            is_plain: true,
            result_type: result_type(&sig.output).cloned(),
            generics: callables.strip(&sig.generics),
            own: Own::default(),
            carrier: None,
        })
    }
}

/// The result type of a function, if it is not `()`.
fn result_type(output: &ReturnType) -> Option<&Type> {
    match output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) => match &**ty {
            Type::Tuple(tuple) if tuple.elems.is_empty() => None,
            ty => Some(ty),
        },
    }
}

/// Reports `&[T; N]` in a function that is generic over `N`. The array is passed as a slice, so `N`
/// could not be inferred.
fn lent_by_length(sig: &syn::Signature, errors: &mut Errors) {
    for argument in &sig.inputs {
        if let FnArg::Typed(typed) = argument
            && let Type::Reference(reference) = &*typed.ty
            && let Type::Array(array) = &*reference.elem
            && let syn::Expr::Path(len) = &array.len
            && let Some(len) = len.path.get_ident()
            && sig.generics.const_params().any(|param| param.ident == *len)
        {
            errors.at(
                codes::FUNCTION_PARAMETER,
                array.range(),
                "arrays are passed as slices, and a slice does not determine a constant parameter",
                "write `&[T]` or `&mut [T]`, and use its `len()`",
            );
        }
    }
}

fn parameter(argument: &FnArg, callables: &Callables, errors: &mut Errors) -> Option<Argument> {
    let typed = match argument {
        FnArg::Receiver(receiver) => return receiver_argument(receiver, errors),
        FnArg::Typed(typed) => typed,
    };
    if let Some(attr) = typed.attrs.first() {
        errors.at(
            codes::ATTRIBUTE,
            attr.range(),
            "attributes on a function's parameters are not supported",
            "remove it",
        );
    }
    let name = match &*typed.pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => pat,
        other => {
            errors.at(
                codes::PARAMETER_NAME,
                other.range(),
                "a parameter of a `#[device]` function must be a plain name",
                "use a plain name, and destructure it in the body",
            );
            return None;
        }
    };
    if let Some(callable) = callables.read(&typed.ty) {
        callable.check(errors)?;
        return Some(Argument {
            name: name.ident.clone(),
            mutable: false,
            kind: ArgumentKind::Callable(Box::new(callable)),
            item: None,
        });
    }
    let kind = parameter_kind(&typed.ty, errors)?;
    let by_value = match kind {
        ArgumentKind::Scalar(_) | ArgumentKind::Value(_) => true,
        ArgumentKind::View { .. } => !is_reference(&typed.ty),
        ArgumentKind::Reference { .. } | ArgumentKind::Slice { .. } | ArgumentKind::Callable(_) => {
            false
        }
    };
    if let (Some(_), false) = (name.mutability, by_value) {
        errors.at(
            codes::PARAMETER_NAME,
            name.span(),
            "a reference cannot be rebound",
            "drop the `mut` before its name",
        );
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
            errors.at(
                codes::FUNCTION_PARAMETER,
                receiver.range(),
                "kernels do not support this receiver",
                "write `self`, `&self` or `&mut self`",
            );
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

fn is_reference(ty: &Type) -> bool {
    match ty {
        Type::Paren(inner) => is_reference(&inner.elem),
        Type::Group(inner) => is_reference(&inner.elem),
        other => matches!(other, Type::Reference(_)),
    }
}

fn parameter_kind(ty: &Type, errors: &mut Errors) -> Option<ArgumentKind> {
    match ty {
        Type::Paren(inner) => parameter_kind(&inner.elem, errors),
        Type::Group(inner) => parameter_kind(&inner.elem, errors),
        Type::Reference(reference) => match &*reference.elem {
            Type::Slice(_) => argument_kind(ty, errors),
            // rustc checks the length.
            Type::Array(array) => {
                let slice = syn::TypeSlice {
                    attrs: array.attrs.clone(),
                    bracket_token: array.bracket_token,
                    elem: array.elem.clone(),
                };
                let elem = Box::new(Type::Slice(slice));
                let reference = syn::TypeReference {
                    elem,
                    ..reference.clone()
                };
                argument_kind(&Type::Reference(reference), errors)
            }
            of => {
                if let Some(view) = view_kind(of, reference.mutability.is_some(), errors) {
                    return view;
                }
                ElementType::read(of, errors)?;
                Some(ArgumentKind::Reference {
                    of: reference.elem.clone(),
                    mutable: reference.mutability.is_some(),
                })
            }
        },
        Type::ImplTrait(of) => {
            errors.at(
                codes::FUNCTION_PARAMETER,
                of.range(),
                "only `impl Fn`, `impl FnMut` and `impl FnOnce` are supported for a parameter",
                "write `impl Fn(f32) -> f32` for a closure, and a generic parameter for other types",
            );
            None
        }
        _ => argument_kind(ty, errors),
    }
}
