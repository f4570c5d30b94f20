use std::borrow::Cow;
use std::fmt;

use crate::{CallableId, FunctionId, Length, NameId, Scalar, TypeId, TypeLinkId};

/// The type of a local or an expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// A scalar.
    Scalar(Scalar),
    /// Another type, in [`crate::Kernel::types`]: a compound one, or one that is known when the kernel is linked.
    Compound(TypeId),
}

/// A type other than a scalar, as the macro sees it. A closed kernel has only arrays of scalars.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // the fields are told by the sentence
pub enum TypeDef {
    /// `[elem; len]`
    Array { elem: Type, len: Length },
    /// `(a, b, …)`
    Tuple(Cow<'static, [Type]>),
    /// A type named in the user's crate: a struct, an enum, a type parameter.
    Link(TypeLinkId),
    /// The type of a field of a struct or tuple.
    Field { of: Type, name: NameId },
    /// The type of the elements of an array.
    Element { of: Type },
    /// The type of a field of an enum's variant.
    Payload {
        of: Type,
        variant: NameId,
        name: NameId,
    },
    /// The result type of a function.
    Result(FunctionId),
    /// The type of a function's parameter; for a slice, of its elements.
    Parameter { of: FunctionId, index: u32 },
    /// The type of parameter `takes` of a callable parameter of the function `of`; without `takes`, its result type.
    Callable {
        of: FunctionId,
        callable: CallableId,
        takes: Option<u32>,
    },
}

impl Type {
    /// The scalar type of a value in a closed kernel, where every expression is a scalar.
    pub fn scalar(self) -> Scalar {
        match self {
            Type::Scalar(scalar) => scalar,
            Type::Compound(_) => unreachable!("a value of a closed kernel is a scalar"),
        }
    }

    /// The scalar type, if it is known to be one.
    pub fn as_scalar(self) -> Option<Scalar> {
        match self {
            Type::Scalar(scalar) => Some(scalar),
            Type::Compound(_) => None,
        }
    }

    /// The handle of its definition, if it is not a scalar.
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
