//! Operations on compound values: structs, tuples, enums and arrays. A closed kernel contains none of them.

use std::borrow::Cow;

use crate::{
    CallTarget, CallableArg, ExprId, Kernel, List, LocalId, Memory, NameId, ParamId, SiteId,
};

/// The name of the variant that holds the value of an `Option` or a `Result`, where only rustc knows which of the two it is:
/// `Some` or `Ok`.
pub const HELD: &str = "Some|Ok";

/// An operation on compound values; pure, like every expression.
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
    /// True if the enum's value is of this variant; a `bool`.
    IsVariant { value: ExprId, variant: NameId },
    /// A field of an enum's value; the value must be of this variant.
    Payload {
        value: ExprId,
        variant: NameId,
        name: NameId,
    },
    /// Constructs a struct, tuple or variant from fields, evaluated in the order listed. The fields that are not listed
    /// come from `rest`.
    Construct {
        variant: Option<NameId>,
        fields: Cow<'static, [(NameId, ExprId)]>,
        rest: Option<ExprId>,
    },
    /// `[a, b, …]`. Allowed only as the value of a declaration or an assignment of a local.
    Array { items: List },
    /// `[value; n]`, `n` being the type's length. Allowed only as the value of a declaration or an assignment of a
    /// local.
    Repeat { value: ExprId },
    /// The length of an array, a `usize`.
    Len { base: ExprId },
    /// The position, in the slice `view`, of the element at `indices` of a strided view: `offset + Σ index · stride`, a
    /// `usize`. The view's shape, offset and strides are the scalar parameters that follow it, see
    /// [`Kernel::view_param`]. The indices are within the shape. The launch guarantees that the element then exists
    /// and, for a slice to be written, that different indices name different elements.
    At { view: ParamId, indices: List },
}

/// A place inside a local or an element, as it appears left of `=`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The local, parameter or element that contains the place.
    pub root: Root,
    /// The path from the root, outermost step first.
    pub steps: Cow<'static, [Step]>,
}

/// The root of a [`Place`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Root {
    /// A local.
    Local(LocalId),
    /// The referent of a `&mut T` parameter.
    Param(ParamId),
    /// An element of memory. Faults when out of bounds.
    Element {
        memory: Memory,
        index: ExprId,
        site: Option<SiteId>,
    },
}

/// One step of the path to a [`Place`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Step {
    /// Selects a field.
    Field(NameId),
    /// Selects an element of an array. Faults when out of bounds.
    Index { index: ExprId, site: Option<SiteId> },
}

/// A call of a `#[device]` function or of a callable parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// The callee.
    pub called: CallTarget,
    /// The arguments, evaluated in order.
    pub args: Cow<'static, [Argument]>,
    /// The callable arguments, one for each of the callee's [`Kernel::callables`].
    pub callable_args: Cow<'static, [CallableArg]>,
    /// The local that receives the result, if the function yields one that is used.
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

/// The meaning of a scalar parameter that follows the slice of a view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ViewPart {
    /// The number of elements along a dimension.
    Extent(u32),
    /// The position of the first element in the slice.
    Offset,
    /// The distance between neighbours along a dimension, in elements.
    Stride(u32),
}

impl Kernel {
    /// The scalar parameter of a view of rank `rank`. The extents come first, then the offset, then the strides.
    pub const fn view_param(view: ParamId, rank: u32, part: ViewPart) -> ParamId {
        let at = match part {
            ViewPart::Extent(dimension) => dimension,
            ViewPart::Offset => rank,
            ViewPart::Stride(dimension) => rank + 1 + dimension,
        };
        ParamId(view.0 + 1 + at)
    }

    /// The number of parameters of a view of rank `rank`.
    pub const fn view_params(rank: u32) -> u32 {
        2 * rank + 2
    }
}
