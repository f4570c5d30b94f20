//! The item and its attribute, before the body is looked at.

mod attribute;
mod signature;

pub use attribute::Attribute;
pub use signature::{Argument, ArgumentKind, Signature, scalar_type};
