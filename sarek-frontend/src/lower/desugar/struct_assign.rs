//! `P { x, y } = value`: destructuring assignments of structs.
//!
//! Such an assignment is desugared as in Rust: a `let` of the pattern with fresh names, and then an
//! assignment of each.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

use crate::lower::compound::is_type_name;
use crate::lower::{Lowerer, Value};
use crate::tokens::range::Ranged;

impl Lowerer<'_> {
    /// Lowers the assignment; `None` if its left side destructures no struct.
    pub(in crate::lower) fn struct_assign(&mut self, e: &syn::ExprAssign) -> Option<Value> {
        if !has_struct(&e.left) {
            return None;
        }
        let mut parts = vec![];
        let pattern = pattern(&e.left, &mut parts);
        let (span, value) = (e.eq_token.range(), &e.right);
        let assignments = parts.iter().map(|(name, place)| {
            let span = place.range();
            quote_spanned!(span.first=> #place = #name;)
        });
        let rust = quote_spanned!(span.first=> { let #pattern = #value; #(#assignments)* });
        match syn::parse2(rust) {
            Ok(rust) => Some(self.value(&rust)),
            // A path that is no pattern, such as `self`.
            Err(error) => {
                self.errors.push(error);
                Some(Value::Never)
            }
        }
    }
}

/// True if a left side destructures a struct.
fn has_struct(left: &syn::Expr) -> bool {
    match left {
        syn::Expr::Struct(_) => true,
        syn::Expr::Call(call) => names_type(&call.func),
        syn::Expr::Paren(inner) => has_struct(&inner.expr),
        syn::Expr::Tuple(tuple) => tuple.elems.iter().any(has_struct),
        syn::Expr::Array(array) => array.elems.iter().any(has_struct),
        _ => false,
    }
}

fn names_type(func: &syn::Expr) -> bool {
    let syn::Expr::Path(path) = func else {
        return false;
    };
    path.path
        .segments
        .last()
        .is_some_and(|s| is_type_name(&s.ident))
}

/// The pattern, with the place to which each of its names is assigned.
fn pattern(left: &syn::Expr, parts: &mut Vec<(Ident, syn::Expr)>) -> TokenStream {
    let mut each = |elems: &syn::punctuated::Punctuated<syn::Expr, syn::Token![,]>| {
        let elems = elems.iter().map(|elem| pattern(elem, parts));
        elems.collect::<Vec<_>>()
    };
    match left {
        syn::Expr::Infer(_) => quote!(_),
        syn::Expr::Range(range) if range.start.is_none() && range.end.is_none() => quote!(..),
        syn::Expr::Paren(inner) => pattern(&inner.expr, parts),
        syn::Expr::Tuple(tuple) => {
            let elems = each(&tuple.elems);
            quote_spanned!(tuple.range().first=> (#(#elems,)*))
        }
        syn::Expr::Array(array) => {
            let elems = each(&array.elems);
            quote_spanned!(array.range().first=> [#(#elems),*])
        }
        syn::Expr::Call(call) if names_type(&call.func) => {
            let (path, elems) = (&call.func, each(&call.args));
            quote_spanned!(call.range().first=> #path(#(#elems),*))
        }
        syn::Expr::Struct(of) => {
            let (path, rest) = (&of.path, of.dot2_token.map(|_| quote!(..)));
            let fields = of.fields.iter().map(|field| {
                let (member, inner) = (&field.member, pattern(&field.expr, parts));
                quote_spanned!(member.range().first=> #member: #inner,)
            });
            let fields: Vec<TokenStream> = fields.collect();
            quote_spanned!(of.range().first=> #path { #(#fields)* #rest })
        }
        place => {
            let name = format_ident!("__part{}", parts.len(), span = place.range().first);
            parts.push((name.clone(), place.clone()));
            name.to_token_stream()
        }
    }
}
