//! The item and its attribute, before the body is looked at.

mod attribute;
mod function;
mod generics;
mod signature;
pub mod superstep;

pub use attribute::Attribute;
pub use generics::Parameters;
pub use signature::{
    Argument, ArgumentKind, ElementType, Signature, atomic_type, named_scalar, scalar_type,
};
