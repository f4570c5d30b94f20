//! Rust tokens to sarek IR, and IR to Rust tokens.
//!
//! The way of a kernel, once and forward only: [`parse`] reads the item and its attribute,
//! [`lower`] turns the body into IR with all types known, [`check`] finds what rustc would accept and
//! a kernel cannot mean, and [`emit`] writes the launch function, the IR as bytes, the
//! compiled body and the user's own function. [`expand`] is the way itself. Errors accumulate in one
//! [`diagnostics::Errors`] and are all reported; the item survives them, so that an editor goes on
//! completing in its body.
//!
//! An ordinary library on `proc-macro2`: it is tested without rustc.

pub mod check;
pub mod derive;
pub mod diagnostics;
pub mod emit;
pub mod expand;
pub mod function;
pub mod kernel_test;
pub mod lower;
mod methods;
pub mod parse;
