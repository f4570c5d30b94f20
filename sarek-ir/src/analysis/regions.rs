//! Splits a kernel body into regions that each lane can run alone.
//!
//! A processor runs the lanes of a block in a loop. Where lanes must wait for each other, for instance at a
//! barrier, that loop ends and another one begins. So the body is split into *regions*. A statement without a
//! *boundary* inside joins the region before it. A statement with a boundary inside becomes a node of the
//! [`Tree`], and its own body is split in turn. A node evaluates its condition once if all lanes agree on it.
//! Otherwise a *mask*, one flag per lane, says which lanes take part.
//!
//! [`Plan`] adds the storage of each local, see [`Place`]. The method resembles the loop fission of MCUDA
//! (Stratton, Stone and Hwu, 2008).

mod build;
mod place;

pub use build::{Rules, Tree};
pub use place::{Place, Plan, Uses, Values};

use crate::facts::{Check, Reads, Work};
use crate::{ExprId, Kernel, LocalId, StmtId};

/// A piece of code that lanes run alone: a region of statements, or a condition that each lane evaluates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct RegionId(pub u32);

/// A mask: one flag per lane, true if the lane takes part.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct MaskId(pub u32);

/// A part of a split body.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // each variant's documentation covers its fields
pub enum Node {
    /// Statements that each lane runs alone.
    Region { id: RegionId, stmts: Vec<StmtId> },
    /// A `let`, an assignment (also of a part of a local) or a jump on which all lanes agree. It runs once for
    /// all lanes.
    Once(StmtId),
    /// A barrier.
    Barrier,
    /// A subgroup operation; each lane evaluates the operands.
    Subgroup { id: RegionId, stmt: StmtId },
    /// An `if`. Without masks, all lanes agree on the condition.
    If {
        stmt: StmtId,
        masked: Option<MaskedIf>,
        then: Vec<Node>,
        otherwise: Vec<Node>,
    },
    /// A loop. Unless it is masked, all lanes agree on its condition or bounds, and leave it together.
    /// `iteration` is present if some lanes continue with the next iteration before others.
    Loop {
        stmt: StmtId,
        masked: Option<MaskedLoop>,
        iteration: Option<MaskId>,
        body: Vec<Node>,
    },
}

/// An `if` on which lanes disagree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MaskedIf {
    /// The region that evaluates the condition.
    pub cond: RegionId,
    /// The lanes for which it is true.
    pub then: MaskId,
    /// The lanes for which it is false.
    pub otherwise: MaskId,
}

/// A loop that some lanes leave before others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MaskedLoop {
    /// The region that evaluates the condition or the bounds.
    pub cond: RegionId,
    /// The lanes that have not left the loop.
    pub live: MaskId,
}

/// True if evaluating the value again costs less than storing it: ids, and a few operations on them. `local`
/// decides for the locals in it.
fn is_cheap(kernel: &Kernel, expr: ExprId, local: &dyn Fn(LocalId) -> bool) -> bool {
    /// The largest number of nodes that may be repeated.
    const BUDGET: usize = 12;
    fn is_part(kernel: &Kernel, expr: ExprId, local: &dyn Fn(LocalId) -> bool) -> bool {
        let facts = kernel.expr(expr).facts();
        let is_known = match facts.reads {
            Reads::Local(of) => local(of),
            Reads::Memory(_) | Reads::Faults => false,
            Reads::Operands | Reads::Constant | Reads::Param(_) | Reads::Len(_) | Reads::Id(_) => {
                true
            }
        };
        let is_short = match facts.work {
            Work::Leaf | Work::Operator | Work::ShortCircuit => true,
            Work::Load | Work::Call(_) | Work::Compound => false,
        };
        let is_safe = match facts.check {
            Check::None => true,
            Check::Divisor(_) => kernel.literal(kernel.operands(expr)[1]).is_some(),
            Check::Bounds(_) | Check::Parts | Check::Assertion(_) | Check::Panic(_) => false,
        };
        is_known && is_short && is_safe
    }
    let mut parts = kernel.exprs_in([expr]).zip(1..);
    parts.all(|(part, n)| n <= BUDGET && is_part(kernel, part, local))
}

#[cfg(test)]
mod tests;
