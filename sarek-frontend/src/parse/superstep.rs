//! `superstep! { … }`: a body, and a barrier after it. It is expanded to a block before all other
//! phases, so that its body is marked, lowered and audited like all other code.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};

/// Replaces every `superstep!` in a body by `{ { … } barrier(); }`, and returns the paths by which
/// they were called. One that does not parse stays; lowering reports it.
pub fn expand(block: &mut syn::Block, krate: &TokenStream) -> Vec<syn::Path> {
    let named = vec![];
    let mut supersteps = Supersteps { krate, named };
    supersteps.visit_block_mut(block);
    supersteps.named
}

/// The statements of a `superstep!`; `None` for other macros.
pub fn body(mac: &syn::Macro) -> Option<syn::Result<Vec<syn::Stmt>>> {
    let last = mac.path.segments.last()?;
    (last.ident == "superstep").then(|| mac.parse_body_with(syn::Block::parse_within))
}

struct Supersteps<'a> {
    krate: &'a TokenStream,
    named: Vec<syn::Path>,
}

impl Supersteps<'_> {
    fn block(&mut self, mac: &syn::Macro) -> Option<syn::ExprBlock> {
        let stmts = body(mac)?.ok()?;
        self.named.push(mac.path.clone());
        let span = Span::mixed_site().located_at(mac.path.span());
        let krate = respanned(self.krate.clone(), span);
        let barrier = quote_spanned!(span=> #krate::barrier(););
        let mut inner: syn::Block = syn::parse_quote_spanned!(span=> {});
        inner.stmts = stmts;
        // The inner braces make the body a statement, so rustc rejects a value at its end.
        Some(syn::parse_quote_spanned!(span=> { #inner #barrier }))
    }
}

impl VisitMut for Supersteps<'_> {
    fn visit_stmt_mut(&mut self, stmt: &mut syn::Stmt) {
        if let syn::Stmt::Macro(mac) = stmt
            && let Some(block) = self.block(&mac.mac)
        {
            *stmt = syn::Stmt::Expr(syn::Expr::Block(block), mac.semi_token);
        }
        visit_mut::visit_stmt_mut(self, stmt);
    }

    fn visit_expr_mut(&mut self, expr: &mut syn::Expr) {
        if let syn::Expr::Macro(mac) = expr
            && let Some(block) = self.block(&mac.mac)
        {
            *expr = syn::Expr::Block(block);
        }
        visit_mut::visit_expr_mut(self, expr);
    }
}

/// The tokens with all their spans at one place.
fn respanned(tokens: TokenStream, span: Span) -> TokenStream {
    let respan = |mut token: TokenTree| {
        token.set_span(token.span().located_at(span));
        token
    };
    tokens.into_iter().map(respan).collect()
}
