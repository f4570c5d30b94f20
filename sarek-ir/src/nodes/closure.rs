//! Callable arguments of `#[device]` functions: closures and other functions.

use std::borrow::Cow;

use crate::{Block, CallableId, ClosureId, FunctionId, LocalId, Type};

/// A callable parameter of a `#[device]` function: `f: impl Fn(f32) -> f32`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Callable {
    /// The name in the source.
    pub name: Cow<'static, str>,
    /// The parameter types.
    pub params: Cow<'static, [Type]>,
    /// The result type, unless it is `()`.
    pub result: Option<Type>,
}

/// A closure passed to a call: a block that the callee runs any number of times, each time with other arguments.
///
/// The block belongs to the call and sees the scopes around it: a closure captures the locals, parameters and memory
/// that its block names. It contains no barrier, subgroup operation or `return`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Closure {
    /// The parameters, declared by the closure.
    pub params: Cow<'static, [LocalId]>,
    /// The local that holds the result after the block has run; declared by the closure.
    pub result: Option<LocalId>,
    /// The code.
    pub body: Block,
}

/// The callee of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CallTarget {
    /// A `#[device]` function.
    Function(FunctionId),
    /// A callable parameter of the caller.
    Callable(CallableId),
}

/// The argument that a call passes for a [`Callable`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CallableArg {
    /// A closure.
    Closure(ClosureId),
    /// A `#[device]` function.
    Function(FunctionId),
    /// A callable parameter of the caller, passed on.
    Callable(CallableId),
}

impl CallTarget {
    /// The function, if the callee is one.
    pub fn function(self) -> Option<FunctionId> {
        match self {
            CallTarget::Function(function) => Some(function),
            CallTarget::Callable(_) => None,
        }
    }
}
