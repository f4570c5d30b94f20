//! Writes a lowered kernel as Rust tokens: the launch function, the IR as bytes, the compiled body
//! and the user's own function.
//!
//! Tokens that this crate generates carry mixed-site spans, so the user's lints do not apply to
//! them. The user's tokens keep their own spans, so rustc reports errors in the source.

pub mod assumed_results;
pub mod bounded_recursion;
mod callee_contracts;
mod collected;
mod cpu;
mod dummy_types;
mod encode;
pub mod error_gate;
pub mod fn_type;
mod formula;
pub mod function;
pub mod impls;
pub mod intrinsic;
mod item;
mod links;
pub mod literal_types;
pub mod marks;
pub mod method_items;
mod missing_device_attr;
pub mod reference;
pub mod reported;
pub mod types;

pub use item::{FILE, Parts, broken, kernel};

use proc_macro2::{Span, TokenStream};
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
