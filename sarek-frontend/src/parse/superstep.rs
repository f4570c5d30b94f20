//! `superstep! { … }`: a body, and a barrier after it. It becomes a block before anything else looks
//! at the kernel, so that its body is marked, lowered and audited as all other code is.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};

/// Writes every `superstep!` of a body as `{ { … } barrier(); }`, and yields how they were named. One that does not parse
/// stays, to be reported when it is lowered.
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
        // The body's braces make it a statement: a value at its end is rustc's to reject.
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

/// The tokens, all of them at one place.
fn respanned(tokens: TokenStream, span: Span) -> TokenStream {
    let respan = |mut token: TokenTree| {
        token.set_span(token.span().located_at(span));
        token
    };
    tokens.into_iter().map(respan).collect()
}
