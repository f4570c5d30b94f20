//! What is done with values of several parts: structs, tuples, enums and arrays. None of it is left in a
//! closed kernel.

use std::borrow::Cow;

use crate::{Called, ExprId, Given, Kernel, List, LocalId, Memory, NameId, ParamId, SiteId};

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
    /// The length of an array, a `usize`.
    Len { base: ExprId },
    /// Where the element at `indices` of a strided view stands in the slice `view`: `offset + Σ index · stride`, a
    /// `usize`. The view's shape, offset and strides are the scalar parameters behind it, see [`Kernel::view_param`].
    /// The indices are within the shape; the launch sees to it that then the element is there, and in a slice to be
    /// written another one than at any other indices.
    At { view: ParamId, indices: List },
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

/// A call of a `#[device]` function, or of what such a function is given to call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// What is called.
    pub called: Called,
    /// The arguments, evaluated in order.
    pub args: Cow<'static, [Argument]>,
    /// What it gives on for the function to call, one for each of [`Kernel::callables`].
    pub given: Cow<'static, [Given]>,
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

/// What a parameter behind that of a view's slice holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ViewPart {
    /// The elements along a dimension.
    Extent(u32),
    /// The position of the first element in the slice.
    Offset,
    /// How far elements next to each other along a dimension lie apart.
    Stride(u32),
}

impl Kernel {
    /// The scalar parameter of a view of so many dimensions: first come the extents, then the offset, then the strides.
    pub const fn view_param(view: ParamId, rank: u32, part: ViewPart) -> ParamId {
        let at = match part {
            ViewPart::Extent(dimension) => dimension,
            ViewPart::Offset => rank,
            ViewPart::Stride(dimension) => rank + 1 + dimension,
        };
        ParamId(view.0 + 1 + at)
    }

    /// How many parameters a view of so many dimensions has.
    pub const fn view_params(rank: u32) -> u32 {
        2 * rank + 2
    }
}
