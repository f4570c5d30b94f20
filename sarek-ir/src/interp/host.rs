//! The environment of a block's threads: arguments, memory and ids; and the faults that threads report.

use super::sanitize::Finding;
use crate::nodes::Ids;
use crate::{ExprId, ParamId, SiteId, StmtId, Value};

/// The arguments and memory of a launch.
pub trait Host {
    /// The value of a scalar parameter.
    fn scalar(&self, param: ParamId) -> Value;

    /// The number of elements of a slice.
    fn len(&self, slice: ParamId) -> u64;

    /// Reads an element; `index` is in bounds.
    fn load(&mut self, slice: ParamId, index: u64) -> Value;

    /// Writes an element; `index` is in bounds, `value` of the element's type.
    fn store(&mut self, slice: ParamId, index: u64, value: Value);

    /// Called with the value of each expression that is evaluated.
    fn evaluated(&mut self, _expr: ExprId, _value: Value) {}

    /// Prints a line, or a part of one.
    fn print(&mut self, _text: &str) {}

    /// The result of an intrinsic whose texts are registered at run time; `None` runs its fallback.
    fn intrinsic(&mut self, _name: &str, _thread: &Ids, _args: &[Value]) -> Option<Value> {
        None
    }

    /// Called for each barrier that opens.
    fn opened(&mut self, _barrier: StmtId) {}
}

/// A check that failed in a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The site of the check.
    pub site: SiteId,
    /// The index, the divisor (sign-extended), or 0.
    pub detail: u64,
}

/// The reason why a thread stops before its end.
pub(super) enum Halt {
    /// A check failed.
    Fault(Fault),
    /// The sanitizer found something.
    Found(Box<Finding>),
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Halt {
        Halt::Fault(fault)
    }
}

impl From<Box<Finding>> for Halt {
    fn from(finding: Box<Finding>) -> Halt {
        Halt::Found(finding)
    }
}

/// The kind of device whose behaviour the interpreter imitates, where devices differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Like {
    /// A thread stops at a failed check. Barriers do not wait for threads that have returned.
    Host,
    /// A thread continues after a failed check, with a harmless value. Barriers wait for all threads of the
    /// block.
    Accelerator,
}
