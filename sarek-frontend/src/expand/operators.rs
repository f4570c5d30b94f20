//! `#[device] impl Add for V`: the impl of the trait that kernels call in place of `core::ops::Add`.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::diagnostics::{Mistake, codes};
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
    let literals = literals_mean_the_same(block, (path, operator), krate);
    quote_spanned! {span=>
        #implemented
        #literals
        #[allow(warnings, clippy::all)]
        const _: () = {
            fn __same<#generics>() #clause {
                #krate::named(<#ty as #in_core #core_arguments>::#method, <#ty as #path>::#method);
            }
        };
    }
}

/// A check that a literal beside a value of the type means the same number in kernels and in Rust. An `impl Mul<f64>` beside this
/// `impl Mul<f32>` must be one for devices, too: with both, `v * 2.0` has an `f64`, and with this one alone an `f32`.
///
/// It looks at all numbers that a literal can be in place of this one. `None` if the impl has none, or parameters.
fn literals_mean_the_same(
    block: &syn::ItemImpl,
    (path, operator): (&syn::Path, OperatorTrait),
    krate: &TokenStream,
) -> Option<TokenStream> {
    let ty = &*block.self_ty;
    let rhs = match &path.segments.last()?.arguments {
        syn::PathArguments::AngleBracketed(list) => match list.args.first()? {
            syn::GenericArgument::Type(rhs) => rhs,
            _ => return None,
        },
        syn::PathArguments::None | syn::PathArguments::Parenthesized(_) => return None,
    };
    if !block.generics.params.is_empty() {
        return None;
    }
    let pairs: Vec<TokenStream> = match (alike(ty), alike(rhs)) {
        (None, None) | (Some(_), Some(_)) => return None,
        (None, Some(others)) => others.map(|other| quote!(#ty, #other)).collect(),
        (Some(others), None) => others.map(|other| quote!(#other, #rhs)).collect(),
    };
    let span = Span::mixed_site().located_at(path.span());
    let (in_core, on_devices) = (operator.in_core(), operator.on_devices(krate, span));
    let message = Mistake::new(
        codes::NUMBER,
        "this operator has another `impl` for a number of the same kind, without `#[device]`",
        "write `#[device]` before that `impl`, too",
    )
    .because(
        "a literal beside such a value would be of one type in Rust, and of another one in kernels",
    )
    .to_string();
    Some(quote_spanned! {span=>
        #[allow(warnings, clippy::all)]
        const _: () = {
            struct __Of<A, B>(::core::marker::PhantomData<(A, B)>);
            // What no impl below says.
            trait __Otherwise {
                const IN_CORE: ::core::primitive::bool = false;
                const ON_DEVICES: ::core::primitive::bool = false;
            }
            impl<A, B> __Otherwise for __Of<A, B> {}
            impl<A: #in_core<B>, B> __Of<A, B> {
                const IN_CORE: ::core::primitive::bool = true;
            }
            impl<A: #on_devices<B>, B> __Of<A, B> {
                const ON_DEVICES: ::core::primitive::bool = true;
            }
            #(::core::assert!(!<__Of<#pairs>>::IN_CORE || <__Of<#pairs>>::ON_DEVICES, #message);)*
        };
    })
}

/// The numbers that a literal can be where it is one of this type.
fn alike(ty: &syn::Type) -> Option<impl Iterator<Item = syn::Ident>> {
    const KINDS: [&[&str]; 2] = [
        &["f32", "f64"],
        &[
            "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "i128", "u128", "isize", "usize",
        ],
    ];
    let syn::Type::Path(named) = ty else {
        return None;
    };
    let name = named.path.get_ident()?.to_string();
    let kind = KINDS
        .into_iter()
        .find(|kind| kind.contains(&name.as_str()))?;
    Some(
        kind.iter()
            .map(|name| syn::Ident::new(name, Span::mixed_site())),
    )
}

/// True if the impl has the associated type of the operator's result, or needs none.
pub fn has_output(block: &syn::ItemImpl, operator: OperatorTrait) -> bool {
    let is_output =
        |item: &syn::ImplItem| matches!(item, syn::ImplItem::Type(of) if of.ident == "Output");
    operator.is_assigning() || block.items.iter().any(is_output)
}
