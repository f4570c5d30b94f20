//! What a type is known to be.

use proc_macro2::TokenStream;
use sarek_ir::{CallableId, FunctionId, LinkId, NameId, Scalar};

use super::Ty;
use crate::lower::callee::Typed;
use crate::lower::length::Dim;
use crate::parse::Packed;

/// What a type is known to be.
#[derive(Clone)]
pub(in crate::lower) enum Node {
    Known(Scalar),
    /// Nothing is known.
    Any,
    /// An integer literal's type; `i32` by default.
    Int,
    /// A float literal's type; `f64` by default.
    Float,
    Array(Ty, Dim),
    Tuple(Vec<Ty>),
    Named(Named),
    Hole(Hole),
    /// Same as another.
    Same(Ty),
}

/// A type by its path.
#[derive(Clone)]
pub(in crate::lower) struct Named {
    /// The path, without the arguments of its last segment.
    pub path: TokenStream,
    /// The arguments of its last segment. None may mean that they are not written.
    pub args: Vec<Arg>,
    /// What vector of the façade's it is, if any.
    pub packed: Option<Packed>,
    /// The literal that made it, if that alone tells its arguments.
    pub literal: Option<Literal>,
}

/// A literal of a type whose arguments are not written: those of `Complex { re, im }` are up to its fields.
#[derive(Clone)]
pub(in crate::lower) struct Literal {
    /// How the source names the struct or variant.
    pub path: TokenStream,
    pub variant: Option<NameId>,
    pub fields: Vec<LiteralField>,
    /// Is its type another than what else is of its name, for all that is known?
    pub(super) apart: bool,
}

/// A field of such a literal.
#[derive(Clone)]
pub(in crate::lower) struct LiteralField {
    pub name: NameId,
    pub ty: Ty,
    /// What its value tells of its type.
    pub value: Typed,
    /// The pattern that binds it in a variant.
    pub pattern: TokenStream,
}

/// A generic argument.
#[derive(Clone)]
pub(in crate::lower) enum Arg {
    Type(Ty),
    Const(TokenStream),
}

/// A type that is a part of another, which the macro cannot see into.
#[derive(Clone)]
pub(in crate::lower) enum Hole {
    Field {
        of: Ty,
        name: NameId,
    },
    Element {
        of: Ty,
    },
    /// `pattern` binds the field.
    Payload {
        of: Ty,
        variant: NameId,
        name: NameId,
        pattern: TokenStream,
    },
    /// What a function yields.
    Result(FunctionId),
    /// What a constant is.
    Constant(LinkId),
    /// What a function takes.
    Parameter {
        of: FunctionId,
        index: u32,
    },
    /// What rustc makes of a literal that meets what only rustc knows.
    Literal {
        float: bool,
    },
    /// What that which a function is given to call takes at a position, or yields.
    Callable {
        of: FunctionId,
        callable: CallableId,
        takes: Option<u32>,
    },
}

impl Named {
    pub(super) fn is_apart(&self) -> bool {
        self.literal.as_ref().is_some_and(|literal| literal.apart)
    }
}

impl Arg {
    pub(super) fn ty(&self) -> Option<Ty> {
        match self {
            Arg::Type(ty) => Some(*ty),
            Arg::Const(_) => None,
        }
    }
}
