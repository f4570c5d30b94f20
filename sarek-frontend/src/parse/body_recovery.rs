//! Error recovery for bodies that are not valid Rust, for instance because a semicolon is missing.
//!
//! The function is then parsed without its body, so that callers find the items that they call.
//! rustc parses an item before any macro sees it, so the syntax error has been reported already.

use proc_macro2::{Delimiter, Group, LineColumn, Span, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::parse::Parse;
use syn::{Block, Stmt};

use crate::diagnostics::Errors;

/// The text that stands in for a body that does not parse.
const ASIDE: &str = "its body does not parse";

/// Parses an item. Reports bodies of functions that do not parse, and replaces them.
///
/// # Errors
/// Returns syntax errors outside of bodies, and a reserved word in place of a name.
pub fn parse<T: Parse>(item: &TokenStream, errors: &mut Errors) -> syn::Result<T> {
    if let Some(word) = reserved(item) {
        return Err(syn::Error::new(word, "`try` is a keyword, not a name"));
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

/// The place of a `try` that stands for a name. That was valid before Rust 2018, and syn still
/// accepts it.
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

/// True if the body was replaced.
pub fn is_in(body: &Block) -> bool {
    let is_aside = |mac: &syn::Macro| {
        let text: syn::Result<syn::LitStr> = mac.parse_body();
        text.is_ok_and(|text| text.value() == ASIDE)
    };
    matches!(body.stmts.as_slice(), [Stmt::Macro(only)] if is_aside(&only.mac))
}

/// Replaces the body around a place in the item; `None` if that place is in no body.
fn put_aside(item: &TokenStream, at: LineColumn) -> Option<TokenStream> {
    let mut is_function = false;
    let mut tokens: Vec<TokenTree> = item.clone().into_iter().collect();
    for token in &mut tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                if (group.span_open().start()..=group.span_close().start()).contains(&at) {
                    let inner = match is_function {
                        true => body_recovery(group)?,
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

/// The replacement for a body. `None` if the body is the replacement already, which then does not
/// parse.
fn body_recovery(body: &Group) -> Option<TokenStream> {
    let body_recovery = quote_spanned!(body.span()=> ::core::unreachable!(#ASIDE));
    (body.stream().to_string() != body_recovery.to_string()).then_some(body_recovery)
}
