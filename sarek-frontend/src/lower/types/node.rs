//! The knowledge about a type.

use proc_macro2::TokenStream;
use sarek_ir::{CallableId, FunctionId, LinkId, NameId, Scalar};

use super::Ty;
use crate::lower::calls::callee::Typed;
use crate::lower::memory::length::Dim;
use crate::parse::SimdType;

/// The knowledge about a type.
#[derive(Clone)]
pub(in crate::lower) enum Node {
    Known(Scalar),
    /// A type variable without constraints.
    Any,
    /// An integer literal's type, by default `i32`.
    Int,
    /// A float literal's type, by default `f64`.
    Float,
    Array(Ty, Dim),
    Tuple(Vec<Ty>),
    Named(Named),
    Hole(Hole),
    /// Unified with another type.
    Same(Ty),
}

/// A type by its path.
#[derive(Clone)]
pub(in crate::lower) struct Named {
    /// The path, without the arguments of its last segment.
    pub path: TokenStream,
    /// The generic arguments of its last segment. An empty list may mean that they are omitted.
    pub args: Vec<GenericArg>,
    /// The SIMD vector type of the façade that it is, if it is one.
    pub simd: Option<SimdType>,
    /// The struct literal that constructed it, if only that determines its arguments.
    pub literal: Option<Literal>,
}

/// A struct literal whose type has no written arguments. In `Complex { re, im }` they depend on the
/// fields.
#[derive(Clone)]
pub(in crate::lower) struct Literal {
    /// The path of the struct or variant in the source.
    pub path: TokenStream,
    pub variant: Option<NameId>,
    pub fields: Vec<LiteralField>,
    /// True while its type may differ from other types of the same name.
    pub(super) apart: bool,
}

/// A field of such a literal.
#[derive(Clone)]
pub(in crate::lower) struct LiteralField {
    pub name: NameId,
    pub ty: Ty,
    /// The knowledge about the type of its value.
    pub value: Typed,
    /// The pattern that binds it in a variant.
    pub pattern: TokenStream,
}

/// A generic argument.
#[derive(Clone)]
pub(in crate::lower) enum GenericArg {
    Type(Ty),
    Const(TokenStream),
}

/// A type that is a part of another one, and that the macro cannot see.
#[derive(Clone)]
pub(in crate::lower) enum Hole {
    Field {
        of: Ty,
        name: NameId,
    },
    Element {
        of: Ty,
    },
    /// The type of a variant's field, which `pattern` binds.
    Payload {
        of: Ty,
        variant: NameId,
        name: NameId,
        pattern: TokenStream,
    },
    /// The result type of a function.
    Result(FunctionId),
    /// The type of a constant.
    Constant(LinkId),
    /// The type of a function's parameter.
    Parameter {
        of: FunctionId,
        index: u32,
    },
    /// The type of a literal that was unified with a type that only rustc knows.
    Literal {
        float: bool,
    },
    /// A type in the signature of a callable parameter: that of a parameter, or the result if
    /// `takes` is `None`.
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

impl GenericArg {
    pub(super) fn ty(&self) -> Option<Ty> {
        match self {
            GenericArg::Type(ty) => Some(*ty),
            GenericArg::Const(_) => None,
        }
    }
}
