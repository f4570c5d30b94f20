//! Errors accumulate; a kernel's are reported all at once.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};

/// What is wrong with one kernel. Must be taken with [`Errors::finish`]; dropping a context with
/// errors in it would lose them, so that is a bug and panics.
#[derive(Default)]
pub struct Errors {
    list: Vec<syn::Error>,
}

impl Errors {
    /// Reports an error at a token.
    pub fn at(&mut self, span: Span, message: impl Display) {
        self.list.push(syn::Error::new(span, message));
    }

    /// Reports a construct that kernels do not have.
    pub fn unsupported(&mut self, span: Span, what: &str, instead: &str) {
        self.at(span, format!("{what} not supported in a kernel: {instead}"));
    }

    /// Reports a parser's error.
    pub fn push(&mut self, error: syn::Error) {
        self.list.push(error);
    }

    /// Are there none yet?
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All of them as `compile_error!`s, and as text for tests.
    pub fn finish(mut self) -> (TokenStream, Vec<String>) {
        let list = std::mem::take(&mut self.list);
        let messages = list.iter().map(ToString::to_string).collect();
        (
            list.iter().map(syn::Error::to_compile_error).collect(),
            messages,
        )
    }
}

impl Drop for Errors {
    fn drop(&mut self) {
        if !self.list.is_empty() && !std::thread::panicking() {
            panic!("errors of a kernel were dropped unreported");
        }
    }
}
