//! A constant that has a value only where the user's function type checks: it holds the function once more, as a closure.
//!
//! Types in compiled bodies depend on it (`direct::known`), so that rustc says what is wrong with a call where the
//! user wrote it, and nothing of what the expansion makes of that call. What it says of the closure are the same words at the same places
//! as of the function, which it prints once.

use proc_macro2::{Group, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{FnArg, ReturnType};

use super::function::Owner;
use crate::lower::Lowered;
use crate::parse::{ArgumentKind, Signature};

/// Can a closure stand for the function? None is generic, and types do not depend on constants of those who are.
pub fn is_possible(signature: &Signature) -> bool {
    let is_callable = |kind: &ArgumentKind| matches!(kind, ArgumentKind::Callable(_));
    signature.is_plain
        && signature.generics.params.is_empty()
        && !signature.arguments.iter().any(|a| is_callable(&a.kind))
}

/// What the constant is called.
pub fn constant(span: Span) -> Ident {
    Ident::new("__AUDITED", span)
}

/// The constant of a function that calls others.
pub fn of(lowered: &Lowered, sig: &syn::Signature, body: &syn::Block) -> Option<TokenStream> {
    let is_asked = lowered.callees.iter().any(|callee| callee.is_audited);
    let name = constant(Span::mixed_site());
    is_asked.then(|| declared(&name, lowered, sig, body))
}

/// The same of a method: a constant of its type's, so that `Self` means that.
pub fn of_method(
    owner: &Owner,
    lowered: &Lowered,
    sig: &syn::Signature,
    body: &syn::Block,
) -> Option<TokenStream> {
    let is_asked = lowered.callees.iter().any(|callee| callee.is_audited);
    let (ty, name, own) = (
        &owner.ty,
        constant(Span::mixed_site()),
        owner.name("audited"),
    );
    is_asked.then(|| {
        let declared = declared(&own, lowered, sig, body);
        quote! {
            #[automatically_derived]
            #[allow(non_upper_case_globals)]
            impl #ty {
                #[doc(hidden)]
                #declared
            }
            const #name: ::core::primitive::bool = <#ty>::#own;
        }
    })
}

fn declared(
    name: &Ident,
    lowered: &Lowered,
    sig: &syn::Signature,
    body: &syn::Block,
) -> TokenStream {
    let inputs = sig.inputs.iter().map(|input| match input {
        FnArg::Typed(typed) => typed.to_token_stream(),
        FnArg::Receiver(receiver) => {
            let ty = match &receiver.kind {
                syn::ReceiverKind::Reference(and, _, mutability) => quote!(#and #mutability Self),
                _ => quote!(Self),
            };
            quote!(mut self: #ty)
        }
    });
    let output = match &sig.output {
        ReturnType::Default => quote!(-> ()),
        output => quote!(#output),
    };
    let body = match lowered.is_unsafe {
        true => quote!({ unsafe #body }),
        false => quote!(#body),
    };
    let closure = quote!(|#(#inputs),*| #output #body);
    let closure = match sig.receiver() {
        Some(_) => without_receiver(closure),
        None => closure,
    };
    quote! {
        #[allow(
            warnings,
            arithmetic_overflow,
            overflowing_literals,
            unconditional_panic,
            clippy::all
        )]
        const #name: ::core::primitive::bool = {
            let _ = #closure;
            true
        };
    }
}

/// The tokens with another name for `self`, which no closure takes. `self::area` stays a path.
fn without_receiver(tokens: TokenStream) -> TokenStream {
    let mut tokens = tokens.into_iter().peekable();
    let mut renamed = vec![];
    while let Some(token) = tokens.next() {
        renamed.push(match token {
            TokenTree::Group(group) => {
                let inner = without_receiver(group.stream());
                let mut copy = Group::new(group.delimiter(), inner);
                copy.set_span(group.span());
                TokenTree::Group(copy)
            }
            TokenTree::Ident(ident) if ident == "self" && !is_joined(tokens.peek()) => {
                TokenTree::Ident(Ident::new("__self", ident.span()))
            }
            other => other,
        });
    }
    renamed.into_iter().collect()
}

/// Is it the first colon of `::`?
fn is_joined(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == ':' && punct.spacing() == Spacing::Joint)
}
