//! Small operations on tokens, and the names of generated items.
//!
//! The lowering writes tokens that refer to items of the expansion, such as a probe that names the constant of the error gate. The names
//! stand here, so that the lowering does not depend on the code that writes these items.

pub mod names;
mod printed;
pub mod range;
mod self_type;

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::ToTokens;

pub(crate) use printed::formatted;
pub use self_type::SelfType;

/// The path of the façade crate, moved to `span`, a place in the user's code. rustc reports an
/// error in an expression at that expression's first token.
pub(crate) fn at(path: &TokenStream, span: Span) -> TokenStream {
    let located = |mut token: TokenTree| {
        token.set_span(span);
        token
    };
    path.clone().into_iter().map(located).collect()
}

/// A span for names that the frontend makes, at a place in the user's code. They are other names than the user's of the same text.
pub(crate) fn mixed_at(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}

/// The tokens with unchanged hygiene, at another place.
pub(crate) fn relocated(tokens: TokenStream, at: Span) -> TokenStream {
    let each = tokens.into_iter().map(|token| {
        let span = token.span().located_at(at);
        let mut token = match token {
            TokenTree::Group(group) => {
                let inner = relocated(group.stream(), at);
                TokenTree::Group(Group::new(group.delimiter(), inner))
            }
            other => other,
        };
        token.set_span(span);
        token
    });
    each.collect()
}

/// Iterates over all tokens, including those inside groups.
pub(crate) fn flat(tokens: TokenStream) -> Box<dyn Iterator<Item = TokenTree>> {
    Box::new(tokens.into_iter().flat_map(|token| match token {
        TokenTree::Group(group) => flat(group.stream()),
        other => Box::new(std::iter::once(other)),
    }))
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

/// A path as text, without spaces.
pub(crate) fn path_text(path: impl ToTokens) -> String {
    path.to_token_stream().to_string().replace(' ', "")
}

/// A name without the `r#` of a raw identifier.
pub(crate) fn plain_name(ident: &syn::Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").unwrap_or(&name).to_string()
}
