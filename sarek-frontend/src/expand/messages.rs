//! Expands a Rust source file without rustc, for tests of messages.

use proc_macro2::{TokenStream, TokenTree};

use super::{device, kernel, kernel_test};
use crate::derive;

/// The messages of the macros for the items of a Rust file.
///
/// # Panics
/// If the text does not parse.
pub fn messages(source: &str) -> Vec<String> {
    let file: syn::File = syn::parse_str(source).expect("an example is Rust");
    file.items.into_iter().flat_map(of_item).collect()
}

fn of_item(item: syn::Item) -> Vec<String> {
    let (mut item, tokens) = (item.clone(), item);
    let Some(attrs) = attributes(&mut item) else {
        return vec![];
    };
    let at = attrs.iter().position(|a| {
        let is = |name: &str| a.path().is_ident(name);
        is("kernel") || is("device") || is("kernel_test") || is("derive")
    });
    let Some(at) = at else { return vec![] };
    let attr = attrs.remove(at);
    let options = match &attr.meta {
        syn::Meta::List(list) => list.tokens.clone(),
        syn::Meta::Path(_) | syn::Meta::NameValue(_) => TokenStream::new(),
    };
    let tokens_of = |item: &syn::Item| quote::ToTokens::to_token_stream(item);
    if attr.path().is_ident("kernel") {
        kernel(options, tokens_of(&item)).errors
    } else if attr.path().is_ident("device") {
        device(options, tokens_of(&item)).errors
    } else if attr.path().is_ident("kernel_test") {
        kernel_test(options, tokens_of(&item)).errors
    } else if derives(&options, "KernelType") {
        derive::messages(tokens_of(&tokens))
    } else if derives(&options, "Kind") {
        derive::kind::messages(tokens_of(&tokens))
    } else {
        vec![]
    }
}

/// True if a trait with this name is derived.
fn derives(traits: &TokenStream, name: &str) -> bool {
    let mut tokens = traits.clone().into_iter();
    tokens.any(|token| matches!(token, TokenTree::Ident(ident) if ident == name))
}

/// The attributes of an item to which one of the macros may be applied.
fn attributes(item: &mut syn::Item) -> Option<&mut Vec<syn::Attribute>> {
    match item {
        syn::Item::Fn(item) => Some(&mut item.attrs),
        syn::Item::Impl(item) => Some(&mut item.attrs),
        syn::Item::Struct(item) => Some(&mut item.attrs),
        syn::Item::Enum(item) => Some(&mut item.attrs),
        syn::Item::Union(item) => Some(&mut item.attrs),
        // The macros take no other items.
        _ => None,
    }
}
