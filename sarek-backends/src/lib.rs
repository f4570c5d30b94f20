//! The built-in backends of sarek. Each stands in a folder with the same five files, and uses
//! nothing that a backend of another crate could not use.

#[cfg(feature = "interpreter")]
pub mod interpreter;
