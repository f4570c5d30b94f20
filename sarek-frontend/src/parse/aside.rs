//! Bodies that are no Rust, a semicolon short, say.
//!
//! The function around such a body is read without it, so that callers find what they call. rustc has parsed the item
//! before any macro saw it: the mistake is told already.

use proc_macro2::{Delimiter, Group, LineColumn, Span, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::parse::Parse;
use syn::{Block, Stmt};

use crate::diagnostics::Errors;

/// What is in a body in the place of what does not parse.
const ASIDE: &str = "its body does not parse";

/// Parses an item. The bodies of functions that do not parse are reported and put aside.
///
/// # Errors
/// What does not parse outside of bodies, and a word that is no name.
pub fn parse<T: Parse>(item: &TokenStream, errors: &mut Errors) -> syn::Result<T> {
    if let Some(word) = reserved(item) {
        return Err(syn::Error::new(
            word,
            "`try` is a word of Rust's, and no name",
        ));
    }
    let mut item = item.clone();
    loop {
        let error = match syn::parse2(item.clone()) {
            Ok(parsed) => return Ok(parsed),
            Err(error) => error,
        };
        let Some(rest) = put_aside(&item, error.span().start()) else {
            return Err(error);
        };
        errors.unparsed(error, &item);
        item = rest;
    }
}

/// Where `try` stands for a name, as it did before Rust 2018 and as syn takes it still.
fn reserved(item: &TokenStream) -> Option<Span> {
    let mut tokens = item.clone().into_iter().peekable();
    while let Some(token) = tokens.next() {
        let found = match token {
            TokenTree::Ident(word) if word == "try" => {
                let is_block = matches!(tokens.peek(), Some(TokenTree::Group(of)) if of.delimiter() == Delimiter::Brace);
                (!is_block).then(|| word.span())
            }
            TokenTree::Group(group) => reserved(&group.stream()),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Was the body put aside?
pub fn is_in(body: &Block) -> bool {
    let is_aside = |mac: &syn::Macro| {
        let text: syn::Result<syn::LitStr> = mac.parse_body();
        text.is_ok_and(|text| text.value() == ASIDE)
    };
    matches!(body.stmts.as_slice(), [Stmt::Macro(only)] if is_aside(&only.mac))
}

/// The item with the body around a place put aside; `None` where that is in no body.
fn put_aside(item: &TokenStream, at: LineColumn) -> Option<TokenStream> {
    let mut is_function = false;
    let mut tokens: Vec<TokenTree> = item.clone().into_iter().collect();
    for token in &mut tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                if (group.span_open().start()..=group.span_close().start()).contains(&at) {
                    let inner = match is_function {
                        true => aside(group)?,
                        false => put_aside(&group.stream(), at)?,
                    };
                    let span = group.span();
                    *group = Group::new(Delimiter::Brace, inner);
                    group.set_span(span);
                    return Some(tokens.into_iter().collect());
                }
                is_function = false;
            }
            TokenTree::Ident(ident) => is_function |= ident == "fn",
            TokenTree::Punct(punct) => is_function &= punct.as_char() != ';',
            TokenTree::Group(_) | TokenTree::Literal(_) => {}
        }
    }
    None
}

/// What stands for a body; none that stands for one does not parse.
fn aside(body: &Group) -> Option<TokenStream> {
    let aside = quote_spanned!(body.span()=> ::core::unreachable!(#ASIDE));
    (body.stream().to_string() != aside.to_string()).then_some(aside)
}
