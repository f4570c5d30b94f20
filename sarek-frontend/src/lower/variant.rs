//! Fields of variants, which compiled bodies reach by patterns.
//!
//! rustc says of these patterns what it says of the user's own, and prints once what has the same words at the same places.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote_spanned};
use sarek_ir::NameId;
use syn::spanned::Spanned;

use super::type_syntax::member;
use super::{Lowerer, Ty};
use crate::emit::fn_type::ends;

impl Lowerer<'_> {
    /// The type of a field of a struct, or of a variant, with the pattern that binds it.
    pub(super) fn part_type(
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

/// A field of a value that is of a variant, by a pattern that binds it; `otherwise` stands where it is of another.
pub(crate) fn part_of_variant(
    value: &TokenStream,
    pattern: &TokenStream,
    otherwise: &TokenStream,
    span: Span,
) -> TokenStream {
    let part = bound(pattern);
    quote_spanned!(span=> match #value { #pattern => #part, _ => #otherwise })
}

/// The pattern that binds a field by its name, or by its number. It names those `beside` the field as the user's own does: of a wrong name, rustc
/// says the same of both, once.
pub(super) fn by_name(
    path: &TokenStream,
    name: &str,
    beside: &[&syn::Member],
    span: Span,
) -> TokenStream {
    let span = span.resolved_at(path.span());
    let (name, part) = (member(name, span), part(Span::mixed_site()));
    quote_spanned!(span=> #path { #name: #part, #(#beside: _,)* .. })
}

/// The pattern that binds a field by its place in a pattern of the user's. It has as many parts at the same places: of too many, rustc says the
/// same of both.
pub(super) fn by_place(path: &TokenStream, position: usize, parts: &[&syn::Pat]) -> TokenStream {
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

/// What the patterns call the field.
fn part(span: Span) -> Ident {
    Ident::new(PART, span)
}

/// The same in a pattern that was made: it means what it means there.
fn bound(pattern: &TokenStream) -> Option<Ident> {
    pattern.clone().into_iter().find_map(|token| match token {
        TokenTree::Ident(ident) if ident == PART => Some(ident),
        TokenTree::Group(group) => bound(&group.stream()),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    })
}
