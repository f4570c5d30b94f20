//! Describes the memory accesses of a kernel as formulas: every load and store of a `&mut` slice, with its
//! index and bounds. The index is an affine form of ids and bounded locals. The bounds follow from the guards
//! around the access.
//!
//! Coefficients and constant parts are polynomials over values that are the same for the whole launch.
//! Immutable locals are replaced by their initialisers. A form holds for mathematical integers. If machine
//! arithmetic might wrap to another value, [`Affine::needs_exact`] is set.
//!
//! Native blocks are not analysed: the user vouches for them.

mod affine;
mod barrier_intervals;
mod bounds;
mod collect;
mod given;
mod poly;
mod values;

pub use affine::{Affine, Atom};
pub use barrier_intervals::barrier_intervals;
pub use given::relied_on;
pub use poly::{Extent, Poly, Symbol};
pub(super) use values::block_dim;

use crate::{Argument, Axis, Builtin, CallId, ExprId, Kernel, Loc, Memory, StmtId};

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

/// A bound that holds at an access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    /// The bounded value: a sum of atoms with their factors, most often one atom alone.
    pub terms: Vec<(Atom, Poly)>,
    /// The largest or the smallest value of the sum.
    pub limit: Limit,
    /// The bound holds only if these expressions do not overflow on the way.
    pub exact: Vec<ExprId>,
    /// The bound holds only if the launch has at most this many threads along the axis.
    pub extents: Vec<(Axis, u64)>,
}

impl Bound {
    /// True if the bound limits this atom alone, with factor 1.
    pub fn is_of(&self, atom: Atom) -> bool {
        match self.terms.as_slice() {
            [(only, factor)] => *only == atom && factor.as_constant() == Some(1),
            _ => false,
        }
    }
}

/// The value of a [`Bound`], inclusive.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Limit {
    AtMost(Poly),
    AtLeast(Poly),
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

/// Every access of a slice, including slices that the kernel never writes.
pub fn of_slices(kernel: &Kernel) -> Vec<Access> {
    collect::collect(kernel, true)
}

impl Affine {
    /// Replaces `block_idx * block_dim + thread_idx` by the global id, which equals it.
    pub fn join_block_ids(&mut self, kernel: &Kernel) {
        for axis in Axis::ALL {
            let thread = Atom::Id(Builtin::ThreadIdx(axis));
            let block = Atom::Id(Builtin::BlockIdx(axis));
            let size = match kernel.block {
                Some(block) => Poly::constant(block[axis.index()].into()),
                None => Poly::symbol(Symbol::Extent(Extent::Block, axis.index() as u8)),
            };
            let each = self.coefficient(thread);
            if !each.is_zero() && self.coefficient(block) == each.times(&size) {
                self.set(thread, Poly::default());
                self.set(block, Poly::default());
                let global = Atom::Id(Builtin::GlobalIdx(axis));
                self.set(global, self.coefficient(global).plus(&each));
            }
        }
    }
}
