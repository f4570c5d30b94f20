//! Pieces of the source, by their first and last tokens.

use proc_macro2::{Span, TokenTree};
use quote::ToTokens;

/// A piece of the source. rustc joins spans only for its own use, so both ends are kept, and errors name both.
#[derive(Clone, Copy, Debug)]
pub struct SourceRange {
    /// The first token. New tokens for the piece stand there.
    pub first: Span,
    /// The last token.
    pub last: Span,
}

impl SourceRange {
    /// The place where the macro is called.
    pub fn call_site() -> SourceRange {
        Span::call_site().into()
    }
}

impl From<Span> for SourceRange {
    fn from(token: Span) -> SourceRange {
        SourceRange {
            first: token,
            last: token,
        }
    }
}

/// Syntax that stands somewhere in the source.
pub trait Ranged {
    /// Its tokens, from the first to the last. The call of the macro if there are none.
    fn range(&self) -> SourceRange;
}

impl<T: ToTokens + ?Sized> Ranged for T {
    fn range(&self) -> SourceRange {
        let mut tokens = self.to_token_stream().into_iter();
        let Some(first) = tokens.next() else {
            return SourceRange::call_site();
        };
        let last = match tokens.last() {
            Some(TokenTree::Group(group)) => group.span_close(),
            Some(last) => last.span(),
            None => first.span(),
        };
        SourceRange {
            first: first.span(),
            last,
        }
    }
}
