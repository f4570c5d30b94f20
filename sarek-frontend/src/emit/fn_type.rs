//! The struct that carries a function's associated items; it has the function's name.
//!
//! The struct stands in a module of its own and is imported beside the function. If two functions
//! have the same name, rustc therefore reports one error, at the second name. Each expansion
//! continues with its own struct.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::Visibility;

use crate::lower::plain_name;
use crate::parse::Parameters;

/// The path of the struct, as seen from the items beside it.
pub fn path(name: &Ident) -> TokenStream {
    let (module, name) = (module(name), located(name));
    quote_spanned!(name.span()=> #module::#name)
}

/// The struct's declaration with these parameters, and its import. The import takes the span of the
/// function's head, so that rustc merges its error about a duplicate name with that of the
/// function.
pub fn declared(
    name: &Ident,
    vis: &Visibility,
    declared: &TokenStream,
    parameters: &Parameters,
    head: &TokenStream,
) -> TokenStream {
    let (mut own, mut imported) = (module(name), name.clone());
    let [first, last] = ends(head).unwrap_or([name.span(); 2]);
    let (field, strukt) = (parameters.field(), located(name));
    // If another module uses a private struct, rustc shows the start of the declaration and of the
    // import.
    let declaration = quote_spanned! {strukt.span()=>
        #[doc(hidden)]
        mod #own {
            #[allow(non_camel_case_types, dead_code, clippy::exhaustive_structs)]
            pub struct #strukt<#declared> { #field }
        }
    };
    own.set_span(first);
    imported.set_span(last);
    quote! {
        #declaration
        #[doc(hidden)]
        #[allow(unused_imports, unreachable_pub)]
        #vis use #own::#imported;
    }
}

/// The spans of the first and the last token.
pub(crate) fn ends(tokens: &TokenStream) -> Option<[Span; 2]> {
    let mut tokens = tokens.clone().into_iter();
    let first = tokens.next()?;
    let last = match tokens.last().unwrap_or_else(|| first.clone()) {
        TokenTree::Group(group) => group.span_close(),
        other => other.span(),
    };
    Some([first.span(), last])
}

/// The user's name with a mixed-site span, so that the user's lints ignore it.
pub fn located(name: &Ident) -> Ident {
    let mut name = name.clone();
    name.set_span(Span::mixed_site().located_at(name.span()));
    name
}

/// The name of the struct's module, made unique by the function's line and column.
fn module(name: &Ident) -> Ident {
    let (plain, start) = (plain_name(name), name.span().start());
    let span = Span::mixed_site().located_at(name.span());
    format_ident!(
        "__sarek_{plain}_{}_{}",
        start.line,
        start.column,
        span = span
    )
}
