//! Whether a trait is marked by `#[device]`: such a trait has a macro of its own name beside it, which whoever imports the
//! trait imports, too, under whatever name. An impl hands that macro its methods, and a call asks it whether it is there. Where there is none, the
//! name means a macro that reports the trait.

use std::hash::{DefaultHasher, Hash, Hasher};

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use crate::diagnostics::{Mistake, codes};
use crate::lower::path_text;

/// What the macro is called where it is used.
const MARK: &str = "device_trait";

/// A macro of the trait's name, so that whoever imports the trait imports it, too: it joins its methods and what impls give it
/// (see [`super::impls`]).
pub fn of_trait(item: &syn::ItemTrait, methods: &[syn::Signature]) -> TokenStream {
    let (vis, trait_name, plain) = (&item.vis, &item.ident, item.ident.unraw());
    // Macros of other crates' are all found at their roots, by names of their own.
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

/// The methods of an impl, with what each has if its trait is marked; else an error at its path. Outside of impls, a macro that may not be
/// there keeps rustc from knowing what the names around it mean.
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

/// An error at the path of a trait that a call names if it is not marked. The macro has these tokens alone, apart from all others: it may be
/// one of the user's of the same name, and nothing that it makes may get among what is `unsafe`.
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

/// Items that know the macro: the trait's own, or, where it has none, the one that reports that.
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
