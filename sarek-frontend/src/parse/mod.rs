//! The item and its attribute, before the body is looked at.

mod attribute;
mod signature;
pub mod superstep;

pub use attribute::Attribute;
pub use signature::{Argument, ArgumentKind, ElementType, Signature, atomic_type, scalar_type};
