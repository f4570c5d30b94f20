//! Macros and constants that mark `#[device]` traits.
//!
//! A marked trait has a macro of the same name beside it. An import of the trait, under any name,
//! imports the macro, too. An impl passes its methods to that macro. For a trait without the macro,
//! the name resolves to a macro that reports the trait. Calls use a constant of the same name in the
//! same way.

use std::hash::{DefaultHasher, Hash, Hasher};

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::GenericParam;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use crate::diagnostics::{Mistake, codes};
use crate::parse::parameter_name;
use crate::tokens::names::{accessor, trait_constant, without_arguments};
use crate::tokens::path_text;

/// The name of the macro where it is used.
const MARK: &str = "device_trait";

/// Declares the trait's macro, under the trait's name so that both are imported together. It
/// combines the trait's methods with those of an impl (see [`super::impls`]).
pub fn of_trait(item: &syn::ItemTrait, methods: &[syn::Signature]) -> TokenStream {
    let (vis, trait_name, plain) = (&item.vis, &item.ident, item.ident.unraw());
    // Exported macros are all found at the crate root, so each needs a unique name.
    let (exported, name) = match vis {
        syn::Visibility::Public(_) => {
            let mut hasher = DefaultHasher::new();
            format!("{:?}", trait_name.span()).hash(&mut hasher);
            let name = format!("__sarek_marked_{plain}_{:x}", hasher.finish());
            (Some(quote!(#[macro_export])), name)
        }
        syn::Visibility::Restricted(_) | syn::Visibility::Inherited => {
            (None, format!("__sarek_marked_{plain}"))
        }
    };
    let span = Span::mixed_site();
    let (name, mut alias) = (Ident::new(&name, span), trait_name.clone());
    alias.set_span(span.located_at(alias.span()));
    quote! {
        #[doc(hidden)]
        #[allow(non_local_definitions, unused_macros)]
        #exported
        macro_rules! #name {
            ([$message:literal] [$($krate:tt)*] $($items:tt)*) => {
                $($krate)*::__private::fitting! { [$($krate)*] [#(#methods;)*] $($items)* }
            };
        }
        #[doc(hidden)]
        #[allow(unused_imports)]
        #vis use #name as #alias;
    }
}

/// The items of an impl's methods if the trait is marked; otherwise an error at the trait's path.
/// Only impls may use this. Elsewhere a macro that may not exist keeps rustc from resolving the
/// names around it.
pub fn if_marked(path: &syn::Path, items: &TokenStream, krate: &TokenStream) -> TokenStream {
    let span = Span::mixed_site().located_at(path.span());
    let mark = Ident::new(MARK, span);
    let message = Literal::string(&not_marked(path).to_string());
    quote_spanned!(span=> #mark! { [#message] [#krate] #items })
}

fn not_marked(path: &syn::Path) -> Mistake {
    let name = path_text(without_arguments(path));
    let last = path.segments.last().map(|last| last.ident.to_string());
    Mistake::new(
        codes::NOT_MARKED,
        format!("`{name}` is not a `#[device]` trait"),
        format!(
            "write `#[device]` before `trait {}`",
            last.unwrap_or_default()
        ),
    )
}

/// Declares the constant that calls through the trait's path use, under the trait's name so that both are imported together. Its
/// methods give, for a type, access to the hidden items that the type's impl of the trait has; `items` are those.
///
/// A call names no macro: a macro of the user's with that name would be expanded in `unsafe` code. A constant of the user's with
/// that name has no bodies that yield the right type.
pub fn items_by_path(item: &syn::ItemTrait, items: &[TokenStream]) -> TokenStream {
    let (vis, trait_name) = (&item.vis, &item.ident);
    let plain = trait_name.unraw();
    let (of_trait, of_type) = (
        Ident::new(&format!("__sarek_{plain}"), Span::mixed_site()),
        Ident::new(&format!("__sarek_items_of_{plain}"), Span::mixed_site()),
    );
    let mut alias = trait_name.clone();
    alias.set_span(Span::mixed_site().located_at(alias.span()));
    let mut generics = item.generics.clone();
    let defaults: Vec<_> = generics.params.iter_mut().map(take_default).collect();
    let (lifetimes, own): (Vec<_>, Vec<_>) = (generics.params.iter().zip(defaults))
        .partition(|(param, _)| matches!(param, GenericParam::Lifetime(_)));
    let lifetimes: Vec<_> = lifetimes.iter().map(|(param, _)| param).collect();
    let names: Vec<_> = own.iter().map(|(param, _)| parameter_name(param)).collect();
    let clause = &generics.where_clause;
    let required = own.iter().filter(|(_, default)| default.is_none()).count();
    let accessors = (required..=own.len()).map(|given| {
        let name = accessor(given, Span::mixed_site());
        let (first, rest) = own.split_at(given);
        let first = first.iter().map(|(param, _)| param);
        let rest = rest.iter().map(|(_, default)| default);
        let (names, clause) = (&names[..given], clause.as_ref().filter(|_| given == own.len()));
        quote! {
            pub fn #name<#(#lifetimes,)* __S: #trait_name<#(#lifetimes,)* #(#names),*>, #(#first),*>(
                self,
            ) -> #of_type<#(#lifetimes,)* __S, #(#names,)* #(#rest),*> #clause {
                #of_type(::core::marker::PhantomData)
            }
        }
    });
    let types = generics.type_params().map(|param| &param.ident);
    let bare = own.iter().map(|(param, _)| match param {
        GenericParam::Type(param) => param.ident.to_token_stream(),
        param => param.to_token_stream(),
    });
    let own = own.iter().map(|(param, _)| param);
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code, clippy::all)]
        #vis struct #of_type<#(#lifetimes,)* __S, #(#bare),*>(
            ::core::marker::PhantomData<(fn() -> (__S, #(#types,)*), #(&#lifetimes (),)*)>,
        );
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code, clippy::all)]
        #vis struct #of_trait;
        #[automatically_derived]
        #[allow(dead_code, private_bounds, private_interfaces, clippy::all)]
        impl #of_trait { #(#accessors)* }
        #[automatically_derived]
        #[allow(dead_code, private_bounds, private_interfaces, clippy::all)]
        impl<#(#lifetimes,)* __S: #trait_name<#(#lifetimes,)* #(#names),*>, #(#own),*>
            #of_type<#(#lifetimes,)* __S, #(#names),*> #clause
        {
            #(#items)*
        }
        #[doc(hidden)]
        #[allow(non_upper_case_globals, dead_code)]
        #vis const #alias: #of_trait = #of_trait;
    }
}

fn take_default(param: &mut GenericParam) -> Option<TokenStream> {
    match param {
        GenericParam::Type(param) => param.default.take().map(|(_, default)| quote!(#default)),
        GenericParam::Const(param) => param.default.take().map(|(_, default)| quote!(#default)),
        GenericParam::Lifetime(_) => None,
    }
}

/// The constant of a trait that calls name, for two nested blocks: a stand-in that reports an unmarked trait, and the import
/// of the trait's own.
pub fn import(path: &syn::Path) -> (TokenStream, TokenStream) {
    let span = Span::mixed_site().located_at(path.span());
    let constant = trait_constant(path);
    let message = not_marked(path).to_string();
    let path = without_arguments(path);
    let accessors = (0..MOST_ARGUMENTS).map(|given| {
        let name = accessor(given, span);
        let taken = (0..given).map(|i| format_ident!("__T{i}"));
        quote_spanned!(span=> fn #name<S: #constant, #(#taken),*>(self) -> S::Items { ::core::unreachable!() })
    });
    let stand_in = format_ident!("Stand_in_{constant}", span = span);
    let outer = quote_spanned! {span=>
        #[diagnostic::on_unimplemented(message = #message, label = "not for devices")]
        #[allow(unused, non_camel_case_types)]
        trait #constant { type Items; }
        #[diagnostic::do_not_recommend]
        impl<__T> #constant for &__T { type Items = (); }
        #[allow(unused, non_camel_case_types)]
        struct #stand_in;
        #[allow(unused)]
        impl #stand_in { #(#accessors)* }
        #[allow(unused, non_upper_case_globals)]
        const #constant: #stand_in = #stand_in;
    };
    (
        outer,
        quote_spanned!(span=> #[allow(unused_imports)] use #path as #constant;),
    )
}

/// More arguments than a trait's path has.
const MOST_ARGUMENTS: usize = 8;

/// Brings the macro into scope around `items`: the trait's own, or the one that reports that there
/// is none.
pub fn known(path: &syn::Path, items: &TokenStream, krate: &TokenStream) -> TokenStream {
    let (mark, path) = (
        Ident::new(MARK, Span::mixed_site()),
        without_arguments(path),
    );
    quote! {
        #[allow(non_local_definitions)]
        const _: () = {
            #[allow(unused_imports)]
            use #krate::__private::unmarked as #mark;
            const _: () = {
                #[allow(unused_imports)]
                use #path as #mark;
                #items
            };
        };
    }
}
