//! What is done with values of several parts: structs, tuples, enums and arrays. None of it is left in a
//! closed kernel.

use std::borrow::Cow;

use crate::{ExprId, List, LocalId, Memory, NameId, ParamId, SiteId};

/// An operation on values of several parts; pure, like every expression.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the fields are told by the sentence
pub enum Compound {
    /// `base.name`; a tuple's fields are `0`, `1`, ….
    Field { base: ExprId, name: NameId },
    /// `base[index]` of an array. Faults when out of bounds.
    Index {
        base: ExprId,
        index: ExprId,
        site: Option<SiteId>,
    },
    /// Is the enum's value of this variant? A `bool`.
    IsVariant { value: ExprId, variant: NameId },
    /// A field of an enum's value, which is of this variant.
    Payload {
        value: ExprId,
        variant: NameId,
        name: NameId,
    },
    /// A struct, tuple or variant from its fields, evaluated in the order in which they stand. The fields that are not
    /// named are those of `rest`.
    Construct {
        variant: Option<NameId>,
        fields: Cow<'static, [(NameId, ExprId)]>,
        rest: Option<ExprId>,
    },
    /// `[a, b, …]`. It stands only where a local is declared or assigned.
    Array { items: List },
    /// `[value; n]`, `n` being the type's length. It stands only where a local is declared or assigned.
    Repeat { value: ExprId },
}

/// A place inside of a local or an element, as it stands left of `=`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// What it is inside of.
    pub root: Root,
    /// The way from there.
    pub steps: Cow<'static, [Step]>,
}

/// What a [`Place`] is inside of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Root {
    /// A local.
    Local(LocalId),
    /// What a `&mut T` parameter refers to.
    Param(ParamId),
    /// An element of memory. Faults when out of bounds.
    Element {
        memory: Memory,
        index: ExprId,
        site: Option<SiteId>,
    },
}

/// A step on the way to a [`Place`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Step {
    /// To a field.
    Field(NameId),
    /// To an element of an array. Faults when out of bounds.
    Index { index: ExprId, site: Option<SiteId> },
}

/// A call of a `#[device]` function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// What is called.
    pub function: crate::FunctionId,
    /// The arguments, evaluated in order.
    pub args: Cow<'static, [Argument]>,
    /// Where the result goes, if the function yields one that is used.
    pub result: Option<LocalId>,
}

/// An argument of a [`Call`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Argument {
    /// A value.
    Value(ExprId),
    /// A slice or an array, as `&[T]` or `&mut [T]`.
    Memory(Memory),
    /// A local, as `&mut T`.
    Local(LocalId),
}
