//! Describes the memory accesses of a kernel as formulas: every load and store of a `&mut` slice, with its
//! index and bounds. The index is an affine form of ids and bounded locals. The bounds follow from the guards
//! around the access.
//!
//! [`super::linear`] reads indices and guards. This module walks the code and keeps the bounds and the values of
//! locals at each point.
//!
//! Native blocks are not analysed: the user vouches for them.

mod advance;
mod barrier_intervals;
mod collect;
mod induction;
mod ranges;
mod turns;
mod values;

pub use barrier_intervals::{barrier_intervals, barrier_intervals_of_values};

use super::linear::{Affine, Bound, Fact, Terms};
use crate::{Argument, CallId, ExprId, Kernel, Loc, Memory, StmtId};

/// A load or store of a slice or shared array.
#[derive(Clone, Debug)]
pub struct Access {
    /// The slice or shared array.
    pub memory: Memory,
    /// The load or store itself.
    pub place: Place,
    /// The position in the source.
    pub loc: Loc,
    /// The index.
    pub index: ExprId,
    /// The index as an affine form; `None` if it has none.
    pub form: Option<Affine>,
    /// The coordinates, if the memory is a strided view.
    pub coordinates: Vec<Option<Affine>>,
    /// The bounds that hold here.
    pub bounds: Vec<Bound>,
    /// The facts that hold here, if the resolver of values found them. It finds no bounds.
    pub facts: Vec<Fact>,
    /// True if this stands for any access by a callee to an array that a call passes to it.
    pub lent: bool,
}

/// The node of an [`Access`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// A load.
    Load(ExprId),
    /// A store.
    Store(StmtId),
}

/// The plain shared arrays that a call passes to its callee.
pub fn lent(kernel: &Kernel, call: CallId) -> Vec<Memory> {
    let args = kernel.calls[call.index()].args.iter();
    let memories = args.filter_map(|arg| match *arg {
        Argument::Memory(memory) => Some(memory),
        Argument::Value(_) | Argument::Local(_) => None,
    });
    memories
        .filter(|memory| barrier_intervals::is_plain_shared(kernel, *memory))
        .collect()
}

/// Every access of a `&mut` slice that the kernel may execute, in evaluation order.
pub fn accesses(kernel: &Kernel) -> Vec<Access> {
    collect::collect(kernel, false)
}

/// [`accesses`] with the resolver of values.
pub fn accesses_of_values(kernel: &Kernel) -> (Vec<Access>, Terms) {
    collect::collect_values(kernel)
}

/// Every access of a slice, including slices that the kernel never writes.
pub fn of_slices(kernel: &Kernel) -> Vec<Access> {
    collect::collect(kernel, true)
}
