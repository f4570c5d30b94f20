//! Marker macros of `#[device]` traits.
//!
//! A marked trait has a macro of the same name beside it. An import of the trait, under any name,
//! imports the macro, too. An impl passes its methods to that macro, and a call tests whether the
//! macro exists. For a trait without the macro, the name resolves to a macro that reports the
//! trait.

use std::hash::{DefaultHasher, Hash, Hasher};

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use crate::diagnostics::{Mistake, codes};
use crate::lower::path_text;

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
            (else [$($error:tt)*]) => { () };
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
        format!("`{name}` is no `#[device]` trait"),
        format!(
            "write `#[device]` before `trait {}`",
            last.unwrap_or_default()
        ),
    )
}

/// Reports an unmarked trait at its path in a call. The macro receives only these tokens. It may be
/// a macro of the user's with the same name, and its output must not get into `unsafe` code.
pub fn asked(path: &syn::Path, krate: &TokenStream) -> TokenStream {
    let span = Span::mixed_site().located_at(path.span());
    let mark = Ident::new(MARK, span);
    let error = not_marked(path).at(path.span()).to_compile_error();
    known(
        path,
        &quote_spanned!(span=> const _: () = #mark!(else [#error]);),
        krate,
    )
}

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

fn without_arguments(path: &syn::Path) -> syn::Path {
    let mut path = path.clone();
    for segment in &mut path.segments {
        segment.arguments = syn::PathArguments::None;
    }
    path
}
