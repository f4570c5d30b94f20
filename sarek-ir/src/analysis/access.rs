//! Which element a thread touches: every load and store of a `&mut` slice, its index as an affine
//! form of ids and bounded locals, and the bounds that the guards around it state.
//!
//! Coefficients and constant parts are polynomials over values that are the same for the whole
//! launch. Forms are resolved through immutable locals. A form is true of the integers; where the
//! machine's wrapping could tell, it says so ([`Affine::needs_exact`]).
//!
//! Native blocks are the user's promise and are not looked into.

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

/// A load or store of memory that threads share and write.
#[derive(Clone, Debug)]
pub struct Access {
    /// The slice or shared array.
    pub memory: Memory,
    /// Where it is.
    pub place: Place,
    /// Where it stands in the source.
    pub loc: Loc,
    /// The index.
    pub index: ExprId,
    /// The index as an affine form; `None` where it has none.
    pub form: Option<Affine>,
    /// The coordinates, if the slice is seen as a view.
    pub coordinates: Vec<Option<Affine>>,
    /// What the guards around it say.
    pub bounds: Vec<Bound>,
    /// Is it all that a function may do with what it is lent?
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
    /// Of what: a sum of atoms with their factors, most often one atom by itself.
    pub terms: Vec<(Atom, Poly)>,
    /// The largest value, or the smallest.
    pub limit: Limit,
    /// It holds only if these expressions do not leave their types' ranges on the way.
    pub exact: Vec<ExprId>,
    /// It holds only if an axis has at most so many threads.
    pub extents: Vec<(Axis, u64)>,
}

impl Bound {
    /// Is it a bound of this atom by itself?
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

/// The plain shared arrays that a call lends.
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

/// Every access of a `&mut` slice that the kernel may execute, in order of evaluation.
pub fn accesses(kernel: &Kernel) -> Vec<Access> {
    collect::collect(kernel, false)
}

/// Every access of a slice, that of one which nobody writes included.
pub fn of_slices(kernel: &Kernel) -> Vec<Access> {
    collect::collect(kernel, true)
}

impl Affine {
    /// Writes `block_idx * block_dim + thread_idx` as the global id that it is.
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
