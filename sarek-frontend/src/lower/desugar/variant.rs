//! Fields of variants, which compiled bodies access by patterns.
//!
//! rustc reports the same errors for these patterns as for the user's own. It prints errors with
//! the same text and place once.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote_spanned};
use sarek_ir::NameId;
use syn::spanned::Spanned;

use crate::lower::types::type_syntax::member;
use crate::lower::{Lowerer, Ty};
use crate::tokens::{ends, relocated};

impl Lowerer<'_> {
    /// The type of a field of a struct, or of a variant with the pattern that binds the field.
    pub(in crate::lower) fn part_type(
        &mut self,
        of: Ty,
        variant: Option<(NameId, &TokenStream)>,
        name: NameId,
    ) -> Ty {
        let text = self.kernel.name(name).to_string();
        let Some((variant, pattern)) = variant else {
            return self.types.field(of, name, &text);
        };
        let position = usize::from(self.kernel.name(variant) == "Err");
        match self.core_argument(of, position) {
            Some(ty) => ty,
            None => self.types.payload(of, variant, name, pattern.clone()),
        }
    }
}

/// A field of a variant, bound by a pattern; `otherwise` is the value for other variants. Without a name that it binds, the
/// pattern is the path of a function that yields the field.
pub(crate) fn part_of_variant(
    value: &TokenStream,
    pattern: &TokenStream,
    otherwise: &TokenStream,
    span: Span,
) -> TokenStream {
    let Some(part) = bound(pattern) else {
        // rustc reports the type of the argument at the argument.
        let value = relocated(value.clone(), span);
        return quote_spanned!(span=> #pattern(#value));
    };
    quote_spanned!(span=> match #value { #pattern => #part, _ => #otherwise })
}

/// A pattern that binds a field by its name or its number. It also names the fields `beside` it
/// that the user's pattern names. For a wrong name, rustc then reports the same error for both,
/// once.
pub(in crate::lower) fn by_name(
    path: &TokenStream,
    name: &str,
    beside: &[&syn::Member],
    span: Span,
) -> TokenStream {
    let span = span.resolved_at(path.span());
    let (name, part) = (member(name, span), part(Span::mixed_site()));
    quote_spanned!(span=> #path { #name: #part, #(#beside: _,)* .. })
}

/// A pattern that binds a field by its position in a pattern of the user's. It has the same number
/// of parts, at the same places. For too many parts, rustc then reports the same error for both.
pub(in crate::lower) fn by_place(
    path: &TokenStream,
    position: usize,
    parts: &[&syn::Pat],
) -> TokenStream {
    let parts = parts.iter().filter(|pat| !matches!(pat, syn::Pat::Rest(_)));
    let parts = parts.enumerate().map(|(i, pat)| {
        let [first, last] = ends(&pat.to_token_stream()).unwrap_or([pat.span(); 2]);
        let name = match i == position {
            true => part(first),
            false => format_ident!("__beside{i}", span = first),
        };
        quote_spanned!(last=> #name @ _)
    });
    quote_spanned!(path.span()=> #path(#(#parts,)* ..))
}

const PART: &str = "__part";

/// The name that these patterns bind.
fn part(span: Span) -> Ident {
    Ident::new(PART, span)
}

/// The same name in an existing pattern, with its hygiene.
fn bound(pattern: &TokenStream) -> Option<Ident> {
    pattern.clone().into_iter().find_map(|token| match token {
        TokenTree::Ident(ident) if ident == PART => Some(ident),
        TokenTree::Group(group) => bound(&group.stream()),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    })
}
