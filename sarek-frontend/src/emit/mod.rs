//! Writes a lowered kernel as Rust tokens: the launch function, the IR as bytes, the compiled body
//! and the user's own function.
//!
//! Tokens that this crate generates carry mixed-site spans, so the user's lints do not apply to
//! them. The user's tokens keep their own spans, so rustc reports errors in the source.

pub mod bounded_recursion;
mod checks;
mod cpu;
mod dummy_types;
mod encode;
pub mod error_gate;
pub mod fn_type;
pub mod function;
pub mod impls;
mod item;
pub mod marks;
pub mod method_items;
mod missing_device_attr;
mod printed;
pub mod reference;
pub mod reported;
pub mod told;
pub mod types;

pub use cpu::Shapes;
pub use item::{FILE, Parts, broken, kernel};
pub(crate) use printed::formatted;

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote_spanned;

/// Imports for generated bodies: the runtime's modules, and each scalar type under a one-word name.
/// Type paths are most of a body's tokens, so short names keep the expansion small. All these names
/// begin with `__`, because the user's constants and types are in scope at the same place.
pub(crate) fn scope(krate: &TokenStream) -> TokenStream {
    quote_spanned! {Span::mixed_site()=>
        use #krate::__private::{host as __host, ir as __ir};
        use #krate::__private::host::scalars::*;
    }
}

/// The path of the façade crate, moved to `span`, a place in the user's code. rustc reports an
/// error in an expression at that expression's first token.
pub(crate) fn at(path: &TokenStream, span: Span) -> TokenStream {
    let located = |mut token: TokenTree| {
        token.set_span(span);
        token
    };
    path.clone().into_iter().map(located).collect()
}

/// Iterates over all tokens, including those inside groups.
pub(crate) fn flat(tokens: TokenStream) -> Box<dyn Iterator<Item = TokenTree>> {
    Box::new(tokens.into_iter().flat_map(|token| match token {
        TokenTree::Group(group) => flat(group.stream()),
        other => Box::new(std::iter::once(other)),
    }))
}
