//! What a `#[device]` function is given to call: closures and other functions.

use std::borrow::Cow;

use crate::{Block, CallableId, ClosureId, FunctionId, LocalId, Type};

/// A parameter of a `#[device]` function that it calls: `f: impl Fn(f32) -> f32`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Callable {
    /// The name in the source.
    pub name: Cow<'static, str>,
    /// What it takes.
    pub takes: Cow<'static, [Type]>,
    /// What it yields, unless that is `()`.
    pub yields: Option<Type>,
}

/// A closure that a call gives on: a block that the function called runs any number of times, each time with other values.
///
/// The block belongs to the call, and stands in the scopes around it: what a closure captures are the locals, parameters
/// and memory that its block names. There is no barrier, subgroup operation or `return` in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Closure {
    /// What it takes; declared by the closure.
    pub params: Cow<'static, [LocalId]>,
    /// What it yields, once the block has been run; declared by the closure.
    pub result: Option<LocalId>,
    /// What it does.
    pub body: Block,
}

/// What a call calls.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Called {
    /// A `#[device]` function.
    Function(FunctionId),
    /// What the function that calls was given.
    Callable(CallableId),
}

/// What a call gives on for a [`Callable`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Given {
    /// A closure.
    Closure(ClosureId),
    /// A `#[device]` function.
    Function(FunctionId),
    /// What the function that calls was given itself.
    Callable(CallableId),
}

impl Called {
    /// The function, if it is one.
    pub fn function(self) -> Option<FunctionId> {
        match self {
            Called::Function(function) => Some(function),
            Called::Callable(_) => None,
        }
    }
}
