//! A body as regions that one lane after the other can run.
//!
//! A processor runs the lanes of a block by a loop. Where lanes meet, at a barrier for instance, the loop
//! ends and another one begins: the body falls into *regions*. A statement that holds no *boundary*
//! joins the region before it; one that holds a boundary becomes a node of the [`Tree`], with its
//! own body split in turn. What of a node all lanes agree on is evaluated once; where they do not, a
//! *mask* says which lanes take part: a flag for each lane.
//!
//! [`Plan`] adds where the locals live, see [`Place`].

mod build;
mod place;

pub use build::{Rules, Tree};
pub use place::{Place, Plan, Uses, Values};

use crate::{Expr, ExprId, Kernel, LocalId, StmtId};

/// A stretch that lanes run alone: a region, or a condition that each lane evaluates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct RegionId(pub u32);

/// A flag of each lane: does it take part?
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct MaskId(pub u32);

/// A part of a split body.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the fields are told by the sentence of the variant
pub enum Node {
    /// Statements that each lane runs alone.
    Region { id: RegionId, stmts: Vec<StmtId> },
    /// A `let`, an assignment (of a part, too) or a jump that all lanes agree on: it is run once for all.
    Once(StmtId),
    /// A barrier.
    Barrier,
    /// An operation of subgroups; each lane evaluates the operands.
    Subgroup { id: RegionId, stmt: StmtId },
    /// An `if`. Without masks, all lanes agree on the condition.
    If {
        stmt: StmtId,
        masked: Option<MaskedIf>,
        then: Vec<Node>,
        otherwise: Vec<Node>,
    },
    /// A loop. Unless it is masked, all lanes agree on its condition or bounds, and leave it together. `iteration`
    /// is there if some lanes go on with the next iteration before others.
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
    /// Where the condition is evaluated.
    pub cond: RegionId,
    /// The lanes for which it is true.
    pub then: MaskId,
    /// The lanes for which it is false.
    pub otherwise: MaskId,
}

/// A loop that some lanes leave before others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MaskedLoop {
    /// Where the condition, or the bounds, are evaluated.
    pub cond: RegionId,
    /// The lanes that have not left it.
    pub live: MaskId,
}

/// Is it a value that costs less to evaluate again than to keep: ids, and a few operations on them?
/// `local` answers for locals in it.
fn is_cheap(kernel: &Kernel, expr: ExprId, local: &dyn Fn(LocalId) -> bool) -> bool {
    /// Operations that may be repeated.
    const BUDGET: usize = 12;
    fn count(kernel: &Kernel, expr: ExprId, local: &dyn Fn(LocalId) -> bool) -> Option<usize> {
        let itself = match kernel.expr(expr) {
            Expr::Local(of) => local(of),
            Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Param(_)
            | Expr::Len(_)
            | Expr::Builtin(_)
            | Expr::Unary { .. }
            | Expr::Binary { .. }
            | Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Cast { .. } => true,
            Expr::Divide { rhs, .. } => kernel.literal(rhs).is_some(),
            Expr::Load { .. }
            | Expr::Bounded { .. }
            | Expr::Call { .. }
            | Expr::Compound(_)
            | Expr::Faulted => false,
        };
        let operands = kernel.operands(expr).into_iter();
        operands
            .map(|e| count(kernel, e, local))
            .try_fold(1, |sum, e| Some(sum + e?))
            .filter(|_| itself)
    }
    count(kernel, expr, local).is_some_and(|n| n <= BUDGET)
}

#[cfg(test)]
mod tests;
