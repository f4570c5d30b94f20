//! A lowered kernel as tokens: the launch function, the IR as `const` data, the compiled body and
//! the user's own function.
//!
//! Tokens that this crate makes up carry mixed-site spans, so that no lint of the user's looks at
//! them; tokens of the user's keep theirs, so that rustc reports at the source.

mod constant;
mod direct;
pub mod function;
mod item;
pub mod nesting;
pub mod reference;
pub mod types;

pub use direct::Shapes;
pub use item::{FILE, Parts, broken, kernel};
