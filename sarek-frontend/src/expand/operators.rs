//! `#[device] impl Add for V`: the impl of the trait that kernels call in place of `core::ops::Add`.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::emit::marks;
use crate::parse::OperatorTrait;

/// The impl that stands beside the user's, with the items of its methods. Its own method, which kernels do not call, is the
/// user's.
pub fn on_devices(
    block: &syn::ItemImpl,
    (path, operator): (&syn::Path, OperatorTrait),
    of_items: &[TokenStream],
    krate: &TokenStream,
) -> TokenStream {
    let span = Span::mixed_site().located_at(path.span());
    let is_method = |item: &syn::ImplItem| matches!(item, syn::ImplItem::Fn(f) if f.sig.ident == operator.method);
    if !block.items.iter().any(is_method) {
        // rustc reports that it is missing.
        return TokenStream::new();
    }
    let (generics, clause) = (&block.generics.params, &block.generics.where_clause);
    let ty = &block.self_ty;
    let written = path.segments.last().map(|last| &last.arguments);
    let written = match written {
        Some(syn::PathArguments::AngleBracketed(list)) => Some(list.args.clone()),
        _ => None,
    };
    let (arguments, core_arguments) = match (written, operator.is_infix()) {
        (Some(list), _) => (quote!(<#list>), Some(quote!(<#list>))),
        // `Rhs` is `Self` by default.
        (None, true) => (quote!(<#ty>), None),
        (None, false) => (quote!(<()>), None),
    };
    let (of_trait, in_core) = (operator.on_devices(krate, span), operator.in_core());
    let on_devices: syn::Path = syn::parse_quote!(#of_trait #arguments);
    let types = block.items.iter().filter_map(|item| match item {
        syn::ImplItem::Type(of) => {
            let name = &of.ident;
            Some(quote_spanned!(span=> type #name = <#ty as #path>::#name;))
        }
        _ => None,
    });
    let methods = block.items.iter().filter_map(|item| match item {
        syn::ImplItem::Fn(function) => {
            let (sig, name) = (&function.sig, &function.sig.ident);
            let given = sig.inputs.iter().map(|input| match input {
                syn::FnArg::Receiver(_) => quote!(self),
                syn::FnArg::Typed(typed) => {
                    let pat = &typed.pat;
                    quote!(#pat)
                }
            });
            Some(quote_spanned!(span=> #sig { <#ty as #path>::#name(#(#given),*) }))
        }
        _ => None,
    });
    let of_items = marks::if_marked(&on_devices, &quote!(#(#of_items)*), krate);
    let implemented = quote! {
        #[automatically_derived]
        #[allow(warnings, clippy::all)]
        impl<#generics> #on_devices for #ty #clause {
            #(#types)*
            #(#methods)*
            #of_items
        }
    };
    let implemented = marks::known(&on_devices, &implemented, krate);
    // The trait is that of `core`, so its operator is the one that was compiled.
    let method = syn::Ident::new(operator.method, span);
    quote_spanned! {span=>
        #implemented
        #[allow(warnings, clippy::all)]
        const _: () = {
            fn __same<#generics>() #clause {
                #krate::named(<#ty as #in_core #core_arguments>::#method, <#ty as #path>::#method);
            }
        };
    }
}

/// True if the impl has the associated type of the operator's result, or needs none.
pub fn has_output(block: &syn::ItemImpl, operator: OperatorTrait) -> bool {
    let is_output =
        |item: &syn::ImplItem| matches!(item, syn::ImplItem::Type(of) if of.ident == "Output");
    operator.is_assigning() || block.items.iter().any(is_output)
}
