//! The names of items in an expansion, for the code that refers to them.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote_spanned};
use syn::spanned::Spanned;

use super::{at, flat, path_text, plain_name};

/// The name of the error gate's constant, see [`crate::emit::error_gate`].
pub fn gate(span: Span) -> Ident {
    Ident::new("__GATE", span)
}

/// A type that resolves only if the function type checks. `ty` may also be the path of a struct.
pub fn known_type(ty: &TokenStream, krate: &TokenStream, span: Span) -> TokenStream {
    let (krate, name) = (at(krate, span), gate(span));
    quote_spanned!(span=> #krate::__private::host::CheckedType::<{ #name }, #ty>)
}

/// The variable that has the same type as the literal with this mark.
pub fn literal_variable(mark: u32) -> Ident {
    format_ident!("__literal{mark}", span = Span::mixed_site())
}

/// True if the tokens name such a variable.
pub fn has_literal_variable(tokens: &TokenStream) -> bool {
    let is_variable = |name: &Ident| name.to_string().starts_with("__literal");
    flat(tokens.clone()).any(|token| matches!(&token, TokenTree::Ident(name) if is_variable(name)))
}

/// The path of a function's struct (see [`crate::emit::fn_type`]), from the items beside it.
pub fn fn_type(name: &Ident) -> TokenStream {
    let (module, name) = (fn_module(name), located(name));
    quote_spanned!(name.span()=> #module::#name)
}

/// The user's name with a mixed-site span, so that the user's lints ignore it.
pub fn located(name: &Ident) -> Ident {
    let mut name = name.clone();
    name.set_span(Span::mixed_site().located_at(name.span()));
    name
}

/// The name of the module of a function's struct, made unique by the function's line and column.
pub(crate) fn fn_module(name: &Ident) -> Ident {
    let (plain, start) = (plain_name(name), name.span().start());
    let span = Span::mixed_site().located_at(name.span());
    format_ident!(
        "__sarek_{plain}_{}_{}",
        start.line,
        start.column,
        span = span
    )
}

/// The method of a trait's constant that takes so many arguments of the trait.
pub(crate) fn accessor(arguments: usize, span: Span) -> Ident {
    Ident::new(&format!("__sarek_items_{arguments}"), span)
}

/// The hidden items that a type has by its impl of a trait, as an expression. The items around it
/// contain the import of the constant, see [`crate::emit::marks::import`].
pub fn items_of(ty: &TokenStream, path: &syn::Path) -> TokenStream {
    let span = Span::mixed_site().located_at(path.span());
    let arguments = arguments(path);
    let (constant, accessor) = (trait_constant(path), accessor(arguments.len(), span));
    quote_spanned!(span=> (#constant.#accessor::<#ty, #(#arguments),*>()))
}

/// The arguments of a trait's path but for lifetimes.
fn arguments(path: &syn::Path) -> Vec<&syn::GenericArgument> {
    let last = path.segments.last().map(|last| &last.arguments);
    let Some(syn::PathArguments::AngleBracketed(list)) = last else {
        return vec![];
    };
    let is_lifetime = |of: &&syn::GenericArgument| matches!(of, syn::GenericArgument::Lifetime(_));
    list.args.iter().filter(|of| !is_lifetime(of)).collect()
}

/// The name of a trait's constant where calls use it.
pub fn trait_constant(path: &syn::Path) -> Ident {
    let name = path_text(without_arguments(path));
    let plain = name.replace(|c: char| !c.is_alphanumeric(), "_");
    Ident::new(&format!("DeviceTrait_{plain}"), Span::mixed_site())
}

/// A path without the generic arguments of its segments.
pub(crate) fn without_arguments(path: &syn::Path) -> syn::Path {
    let mut path = path.clone();
    for segment in &mut path.segments {
        segment.arguments = syn::PathArguments::None;
    }
    path
}
