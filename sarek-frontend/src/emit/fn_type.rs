//! The struct of a function's name, which has what belongs to the function.
//!
//! It stands in a module of its own and is imported beside the function. So two functions of one name are one mistake, which rustc
//! reports at the second name; each expansion goes on with a struct of its own.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::Visibility;

use crate::lower::plain_name;
use crate::parse::Parameters;

/// The struct, as what stands beside it names it.
pub fn path(name: &Ident) -> TokenStream {
    let (module, name) = (module(name), located(name));
    quote_spanned!(name.span()=> #module::#name)
}

/// Its declaration, with these parameters, and its import. That has the place of the function's head, so that rustc takes
/// both for one where it reports a name.
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
    // rustc shows where it begins, and where the import does, if another module uses a private one.
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

/// Where tokens begin and end.
pub(crate) fn ends(tokens: &TokenStream) -> Option<[Span; 2]> {
    let mut tokens = tokens.clone().into_iter();
    let first = tokens.next()?;
    let last = match tokens.last().unwrap_or_else(|| first.clone()) {
        TokenTree::Group(group) => group.span_close(),
        other => other.span(),
    };
    Some([first.span(), last])
}

/// The user's name without the user's lints.
pub fn located(name: &Ident) -> Ident {
    let mut name = name.clone();
    name.set_span(Span::mixed_site().located_at(name.span()));
    name
}

/// The module, by where the function stands.
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
