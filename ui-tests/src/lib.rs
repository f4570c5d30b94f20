//! UI tests: cases for the messages of sarek, and for the conditions under which its expansions must compile.
//!
//! - `fail/<kind>/*.rs` contain one mistake each, with the compiler's output beside it.
//! - `pass/*.rs` compile and run.
//! - `refused/*.rs` are programs without `unsafe` that name hidden items. rustc refuses them with errors of its own.
//!
//! `TRYBUILD=overwrite cargo test -p ui-tests` writes the outputs anew. Read each of them before you commit it.
