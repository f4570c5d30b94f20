use std::fmt;

use crate::{Length, Scalar, TypeId};

/// The type of a local or an expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// A scalar.
    Scalar(Scalar),
    /// A type of several parts, in [`crate::Kernel::types`].
    Compound(TypeId),
}

/// A type of several parts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // the fields are told by the sentence
pub enum TypeDef {
    /// `[elem; len]`
    Array { elem: Scalar, len: Length },
}

impl Type {
    /// The scalar that it is known to be: expressions of a closed kernel are scalars.
    pub fn scalar(self) -> Scalar {
        match self {
            Type::Scalar(scalar) => scalar,
            Type::Compound(_) => unreachable!("an array is not a value of a closed kernel"),
        }
    }

    /// The scalar, if it is one.
    pub fn as_scalar(self) -> Option<Scalar> {
        match self {
            Type::Scalar(scalar) => Some(scalar),
            Type::Compound(_) => None,
        }
    }

    /// The definition, if it has several parts.
    pub fn def(self) -> Option<TypeId> {
        match self {
            Type::Scalar(_) => None,
            Type::Compound(id) => Some(id),
        }
    }
}

impl From<Scalar> for Type {
    fn from(scalar: Scalar) -> Type {
        Type::Scalar(scalar)
    }
}

impl PartialEq<Scalar> for Type {
    fn eq(&self, other: &Scalar) -> bool {
        *self == Type::Scalar(*other)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Scalar(scalar) => scalar.fmt(f),
            Type::Compound(id) => write!(f, "type{}", id.0),
        }
    }
}
