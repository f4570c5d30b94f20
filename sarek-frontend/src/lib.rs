//! Compiles Rust tokens to sarek IR, and writes the IR back as Rust tokens.
//!
//! A kernel passes through four phases, in this order. [`parse`] reads the item and its attribute.
//! [`lower`] translates the body to IR and infers all types. [`check`] reports code that rustc
//! would accept but that has no meaning on a device. [`emit`] writes the launch function, the IR as
//! bytes, the compiled body and the user's own function.
//!
//! [`expand`] runs the phases, in one module for each macro. All errors accumulate in one [`diagnostics::Errors`] and are
//! reported together. A function with errors is still emitted, so that an editor can complete code
//! in its body.
//!
//! This is an ordinary library on `proc-macro2`, so it is tested without rustc.

pub mod check;
pub mod derive;
pub mod diagnostics;
pub mod emit;
pub mod expand;
pub mod lower;
pub mod parse;
mod tokens;
