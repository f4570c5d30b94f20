//! Gives names to parameters that are `_` or patterns.
//!
//! `_: u32` becomes a parameter with a name of ours, and `(a, b): (u32, u32)` one that the body takes apart first.

use proc_macro2::Span;
use quote::format_ident;
use syn::spanned::Spanned;

/// Names the parameters of a function, and takes them apart at the head of its body.
pub fn name_all(sig: &mut syn::Signature, body: &mut syn::Block) {
    let mut taken: Vec<syn::Stmt> = vec![];
    for (at, input) in sig.inputs.iter_mut().enumerate() {
        let syn::FnArg::Typed(typed) = input else {
            continue;
        };
        let span = typed.pat.span();
        let is_unnamed = match &*typed.pat {
            syn::Pat::Wild(_) => true,
            syn::Pat::Tuple(_)
            | syn::Pat::TupleStruct(_)
            | syn::Pat::Struct(_)
            | syn::Pat::Slice(_) => false,
            _ => continue,
        };
        let name = format_ident!("_unnamed_{at}", span = Span::mixed_site().located_at(span));
        let pat = std::mem::replace(&mut *typed.pat, syn::parse_quote!(#name));
        if !is_unnamed {
            taken.push(syn::parse_quote_spanned!(span=> let #pat = #name;));
        }
    }
    body.stmts.splice(0..0, taken);
}
