//! A copy of the user's function, as a closure from which rustc infers the types of literals.
//!
//! A literal without a suffix may get its type from information that only rustc has: a function's
//! parameter, or the impl that contains a method. Some generated expressions ask rustc for a type
//! ([`crate::lower`] calls them probes). A probe needs the literal's own type; a copy of the
//! literal would default to `i32`. Each such literal therefore has a variable beside the closure,
//! and the closure unifies the two types. Neither the closure nor the variables are evaluated.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::FnArg;

use super::error_gate::{allowed, without_receiver};
use super::reference;
use crate::lower::Lowered;
use crate::parse::{Argument, ArgumentKind, Signature};
use crate::tokens::names::literal_variable;

/// The variables and the closure, or no tokens if no literal needs them. `marked` is the function's
/// body with its marks.
pub fn of(
    lowered: &Lowered,
    signature: &Signature,
    sig: &syn::Signature,
    marked: &syn::Block,
    krate: &TokenStream,
) -> TokenStream {
    if lowered.inferred_literals.is_empty() {
        return TokenStream::new();
    }
    let mut body = marked.clone();
    reference::annotate_inferred(&mut body, lowered, krate);
    let inputs = sig.inputs.iter().zip(&signature.arguments);
    let inputs = inputs.map(|(input, argument)| self::input(input, argument));
    let output = match &sig.output {
        syn::ReturnType::Default => quote!(-> ()),
        output => elided(output.to_token_stream()),
    };
    let body = match lowered.is_unsafe {
        true => quote!({ unsafe #body }),
        false => body.to_token_stream(),
    };
    let closure = without_receiver(quote!(|#(#inputs),*| #output #body));
    let variables = lowered
        .inferred_literals
        .iter()
        .map(|mark| literal_variable(*mark));
    let allowed = allowed();
    quote! {
        #(let #variables = ::core::marker::PhantomData;)*
        #allowed
        let _ = #closure;
    }
}

/// An input of the closure. A callable parameter becomes a function pointer.
fn input(input: &FnArg, argument: &Argument) -> TokenStream {
    let written = match input {
        FnArg::Typed(typed) => typed,
        FnArg::Receiver(receiver) => {
            let own = &receiver.self_token;
            return match &receiver.kind {
                syn::ReceiverKind::Reference(and, _, mutability) => {
                    quote!(mut #own: #and #mutability Self)
                }
                _ => quote!(mut #own: Self),
            };
        }
    };
    let (pat, ty) = (&written.pat, &written.ty);
    let ArgumentKind::Callable(of) = &argument.kind else {
        let ty = elided(ty.to_token_stream());
        return quote!(#pat: #ty);
    };
    let takes = of.takes.iter().map(|ty| elided(ty.to_token_stream()));
    let result_type = of.result_type.as_ref().map(|ty| quote!(-> #ty));
    let lent = match &**ty {
        syn::Type::Reference(of) => {
            let (and, mutability) = (&of.and_token, &of.mutability);
            Some(quote!(#and #mutability))
        }
        _ => None,
    };
    quote!(#pat: #lent fn(#(#takes),*) #result_type)
}

/// A type with its lifetime names replaced by `'_`, because the closure declares no lifetimes.
fn elided(tokens: TokenStream) -> TokenStream {
    let mut is_lifetime = false;
    let each = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(name) if is_lifetime && name != "static" => {
            is_lifetime = false;
            Ident::new("_", name.span()).into()
        }
        TokenTree::Group(group) => {
            is_lifetime = false;
            let mut inner = proc_macro2::Group::new(group.delimiter(), elided(group.stream()));
            inner.set_span(group.span());
            inner.into()
        }
        other => {
            is_lifetime = matches!(&other, TokenTree::Punct(punct) if punct.as_char() == '\'');
            other
        }
    });
    each.collect()
}
