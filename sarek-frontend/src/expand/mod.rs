//! The pipelines of the macros, from their tokens to the expansion.

mod configured;
mod device;
mod kernel;
mod kernel_test;
mod messages;
mod methods;
mod operators;

use proc_macro2::TokenStream;
use quote::quote;

use crate::diagnostics::{Errors, Mistake, codes};

pub use device::device;
pub use kernel::{kernel, lowered};
pub use kernel_test::{OPTIONS as TEST_OPTIONS, kernel_test};
pub use messages::messages;

/// The result of one macro call.
pub struct Expansion {
    /// The tokens that replace the item.
    pub tokens: TokenStream,
    /// The errors, as text.
    pub errors: Vec<String>,
    /// The kernel, if there were no errors.
    pub kernel: Option<sarek_ir::Kernel>,
}

/// The replacement for an item that could not be read: the errors, and the item.
fn unread(errors: Errors, item: TokenStream) -> Expansion {
    let (reports, errors) = errors.finish();
    Expansion {
        tokens: quote!(#reports #item),
        errors,
        kernel: None,
    }
}

/// Expands a `native!` outside of kernels to an error.
pub fn stray_native(tokens: TokenStream) -> TokenStream {
    let span = tokens
        .into_iter()
        .next()
        .map_or_else(proc_macro2::Span::call_site, |t| t.span());
    let what = "`native!` is used outside a kernel";
    let instead = "move it into the body of a `#[kernel]` or `#[device]` function";
    stray(what, instead, span)
}

/// Expands a `superstep!` outside of kernels to an error.
pub fn stray_superstep(tokens: TokenStream) -> TokenStream {
    let span = tokens
        .into_iter()
        .next()
        .map_or_else(proc_macro2::Span::call_site, |t| t.span());
    let what = "`superstep!` is used outside a kernel, or as an expression";
    let instead = "move it into the body of a `#[kernel]` function, as a statement";
    stray(what, instead, span)
}

fn stray(what: &str, instead: &str, span: proc_macro2::Span) -> TokenStream {
    let mistake = Mistake::new(codes::STRAY_MACRO, what, instead);
    mistake.at(span).to_compile_error()
}
