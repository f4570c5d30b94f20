//! A constant that has a value only where the user's function type checks: it holds the function once more, as a closure.
//!
//! Types in compiled bodies depend on it (`direct::known`), so that rustc says what is wrong with a call where the
//! user wrote it, and nothing of what the expansion makes of that call. What it says of the closure are the same words at the same places
//! as of the function, which it prints once.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::lower::Lowered;
use crate::parse::{ArgumentKind, Signature};

/// Can a closure stand for the function? None is generic, and types do not depend on constants of those who are.
pub fn is_possible(signature: &Signature) -> bool {
    let is_callable = |kind: &ArgumentKind| matches!(kind, ArgumentKind::Callable(_));
    signature.method.is_none()
        && signature.generics.params.is_empty()
        && !signature.arguments.iter().any(|a| is_callable(&a.kind))
}

/// What the constant is called.
pub fn constant(span: Span) -> Ident {
    Ident::new("__AUDITED", span)
}

/// The constant of a function that calls others.
pub fn of(lowered: &Lowered, sig: &syn::Signature, body: &syn::Block) -> Option<TokenStream> {
    if !lowered.callees.iter().any(|callee| callee.is_audited) {
        return None;
    }
    let name = constant(Span::mixed_site());
    let (inputs, output) = (&sig.inputs, &sig.output);
    let output = match output {
        syn::ReturnType::Default => quote!(-> ()),
        syn::ReturnType::Type(..) => quote!(#output),
    };
    let body = match lowered.is_unsafe {
        true => quote!({ unsafe #body }),
        false => quote!(#body),
    };
    Some(quote! {
        #[allow(
            warnings,
            arithmetic_overflow,
            overflowing_literals,
            unconditional_panic,
            clippy::all
        )]
        const #name: ::core::primitive::bool = {
            let _ = |#inputs| #output #body;
            true
        };
    })
}
