//! Checks the layout that a type requests by `#[repr(…)]`.

use proc_macro2::Span;
use syn::DeriveInput;
use syn::spanned::Spanned;

use crate::diagnostics::{Errors, codes};

/// The kind of a type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A struct.
    Struct,
    /// An enum without fields.
    Bare,
    /// An enum with fields.
    Data,
}

/// Reports a type whose layout is not the same everywhere.
pub fn check(item: &DeriveInput, shape: Shape, errors: &mut Errors) {
    let words = words(item, errors);
    let has = |word: &str| words.iter().any(|(known, _)| known == word);
    for (word, span) in &words {
        let fits = match shape {
            Shape::Struct => matches!(word.as_str(), "C" | "align"),
            Shape::Bare | Shape::Data => matches!(word.as_str(), "C" | "u32"),
        };
        if !fits {
            let what = format!("`repr({word})` is not supported");
            errors.at(codes::LAYOUT, *span, what, wanted(shape));
            return;
        }
    }
    let enough = match shape {
        Shape::Struct => has("C"),
        Shape::Bare => has("u32"),
        Shape::Data => has("C") && has("u32"),
    };
    if !enough {
        let what = "the layout of this type is not fixed";
        errors.at(codes::LAYOUT, item.ident.span(), what, wanted(shape));
    }
}

fn wanted(shape: Shape) -> &'static str {
    match shape {
        Shape::Struct => "write `#[repr(C)]`",
        Shape::Bare => "write `#[repr(u32)]`",
        Shape::Data => "write `#[repr(C, u32)]`",
    }
}

/// The words in `#[repr(…)]`.
fn words(item: &DeriveInput, errors: &mut Errors) -> Vec<(String, Span)> {
    let mut words = vec![];
    for attr in &item.attrs {
        if !attr.path().is_ident("repr") {
            continue;
        }
        let parsed = attr.parse_nested_meta(|meta| {
            let word = meta.path.get_ident().map(ToString::to_string);
            words.push((word.unwrap_or_default(), meta.path.span()));
            if meta.input.peek(syn::token::Paren) {
                let content;
                syn::parenthesized!(content in meta.input);
                content.parse::<proc_macro2::TokenStream>()?;
            }
            Ok(())
        });
        if let Err(error) = parsed {
            errors.push(error);
        }
    }
    words
}
