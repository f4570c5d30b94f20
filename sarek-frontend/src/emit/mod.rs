//! A lowered kernel as tokens: the launch function, the IR as bytes, the compiled body and
//! the user's own function.
//!
//! Tokens that this crate makes up carry mixed-site spans, so that no lint of the user's looks at
//! them; tokens of the user's keep theirs, so that rustc reports at the source.

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

/// What bodies name: the runtime's modules, and scalars in one word each, since most tokens of a body would be the paths of their
/// types. The names begin with `__`, as all do that stand where the user's constants and types are named, too.
pub(crate) fn scope(krate: &TokenStream) -> TokenStream {
    quote_spanned! {Span::mixed_site()=>
        use #krate::__private::{host as __host, ir as __ir};
        use #krate::__private::host::scalars::*;
    }
}

/// The path of the façade crate at a place of the user's: what rustc says of an expression, it says where that begins.
pub(crate) fn at(path: &TokenStream, span: Span) -> TokenStream {
    let located = |mut token: TokenTree| {
        token.set_span(span);
        token
    };
    path.clone().into_iter().map(located).collect()
}

/// All tokens, those in groups as well.
pub(crate) fn flat(tokens: TokenStream) -> Box<dyn Iterator<Item = TokenTree>> {
    Box::new(tokens.into_iter().flat_map(|token| match token {
        TokenTree::Group(group) => flat(group.stream()),
        other => Box::new(std::iter::once(other)),
    }))
}
