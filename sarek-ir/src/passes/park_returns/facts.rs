//! Facts of the original kernel that the transformation needs.

use crate::analysis::spine::Spine;
use crate::analysis::termination;
use crate::facts::Check;
use crate::{Block, ExprId, Kernel, Stmt, StmtId};

/// The iterations that a block may execute although all its threads are parked.
const FEW: i128 = 1024;

pub(super) struct Facts {
    parks: Vec<bool>,
    delicate: Vec<bool>,
    polls: Vec<bool>,
    /// True if any thread can fault.
    pub checked: bool,
}

impl Facts {
    pub fn of(kernel: &Kernel, spine: &Spine) -> Facts {
        let none = vec![false; kernel.stmts.len()];
        let mut walk = Walk {
            kernel,
            spine,
            out: Facts {
                parks: none.clone(),
                delicate: none.clone(),
                polls: none,
                checked: false,
            },
        };
        walk.out.checked = walk.is_checked(kernel.body);
        walk.block(kernel.body);
        walk.out
    }

    /// True for a `return` outside the spine that a barrier may follow, and for a statement that contains one.
    pub fn parks(&self, id: StmtId) -> bool {
        self.parks.get(id.index()).is_some_and(|p| *p)
    }

    /// True if any statement parks threads.
    pub fn parks_any(&self) -> bool {
        self.parks.contains(&true)
    }

    /// True if the part of the statement on the spine may misbehave when all threads are parked.
    pub fn delicate(&self, id: StmtId) -> bool {
        self.delicate[id.index()]
    }

    /// True for a loop on the spine that votes in each iteration.
    pub fn polls(&self, id: StmtId) -> bool {
        self.polls[id.index()]
    }
}

struct Walk<'a> {
    kernel: &'a Kernel,
    spine: &'a Spine,
    out: Facts,
}

/// The contents of a block or statement.
#[derive(Clone, Copy, Default)]
struct Holds {
    parks: bool,
    delicate: bool,
}

impl Walk<'_> {
    fn block(&mut self, block: Block) -> Holds {
        let mut all = Holds::default();
        for id in self.kernel.block(block) {
            let own = self.stmt(id);
            all.parks |= own.parks;
            all.delicate |= own.delicate;
        }
        all
    }

    fn stmt(&mut self, id: StmtId) -> Holds {
        let stmt = self.kernel.stmt(id);
        let on = self.spine.has(id);
        let (exprs, blocks) = self.kernel.children(stmt);
        let mut holds = Holds {
            parks: stmt == Stmt::Return && !on && self.spine.leads(id),
            delicate: on && exprs.iter().any(|e| self.is_delicate(*e)),
        };
        for block in blocks {
            let inner = self.block(block);
            holds.parks |= inner.parks;
            holds.delicate |= inner.delicate;
        }
        let is_loop = matches!(stmt, Stmt::Loop { .. });
        let unbounded = is_loop && !termination::ends(self.kernel, id);
        let repeats = is_loop || matches!(stmt, Stmt::For { .. });
        holds.delicate |= on && repeats && !self.is_short(stmt);
        self.out.parks[id.index()] = holds.parks;
        self.out.delicate[id.index()] = holds.delicate;
        self.out.polls[id.index()] =
            on && repeats && (holds.parks && holds.delicate || unbounded && self.out.checked);
        holds
    }

    /// True for a loop with a small constant trip count.
    fn is_short(&self, stmt: Stmt) -> bool {
        let Stmt::For { start, end, .. } = stmt else {
            return false;
        };
        let number = |e| self.kernel.literal(e).and_then(|v| v.as_int());
        match (number(start), number(end)) {
            (Some(start), Some(end)) => end.saturating_sub(start) <= FEW,
            (None, _) | (_, None) => false,
        }
    }

    /// True if the expression reads memory, divides or is checked. A load may have lost its check because the check was
    /// proved for active threads only.
    fn is_delicate(&self, id: ExprId) -> bool {
        self.kernel.exprs_in([id]).any(|id| {
            self.kernel.expr(id).facts().check != Check::None
                || self.kernel.overflow_site(id).is_some()
        })
    }

    fn is_checked(&self, block: Block) -> bool {
        let kernel = self.kernel;
        let mut all = kernel.stmts_in(kernel.block(block));
        all.any(|id| {
            let mut exprs = kernel.operands_of(id).into_iter();
            kernel.stmt(id).facts().check.site().is_some() || exprs.any(|e| can_fault(kernel, e))
        })
    }
}

/// True if the expression contains a check.
pub(super) fn can_fault(kernel: &Kernel, id: ExprId) -> bool {
    let mut parts = kernel.exprs_in([id]);
    parts.any(|id| {
        kernel.expr(id).facts().check.site().is_some() || kernel.overflow_site(id).is_some()
    })
}
