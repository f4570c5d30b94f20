//! The **spine** of a kernel: the statements that decide whether, and how often, the threads of a block reach
//! its barriers.
//!
//! The spine is a backward program slice with the barriers as criterion. It consists of the barriers, the
//! statements around them with their conditions and bounds, uniform jumps between them, and all assignments to
//! locals that those read. It ends at the last barrier, after which threads do not depend on each other. In a
//! kernel that [`super::barriers`] accepts, the spine is uniform: every thread that follows it takes the same
//! path.

use super::uniformity::Uniformity;
use crate::facts::Flow;
use crate::{Block, Expr, ExprId, Kernel, LabelId, Stmt, StmtId};

/// The spine of one kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spine {
    stmts: Vec<bool>,
    leads: Vec<bool>,
}

impl Spine {
    /// Analyses a kernel. A kernel without barriers has an empty spine.
    pub fn of(kernel: &Kernel) -> Spine {
        let mut leads = vec![false; kernel.stmts.len()];
        mark(kernel, kernel.body, false, &mut leads);
        let mut walk = Walk {
            kernel,
            leads: &leads,
            uniformity: Uniformity::of(kernel),
            stmts: vec![false; kernel.stmts.len()],
            locals: vec![false; kernel.locals.len()],
            loops: vec![],
            changed: true,
        };
        while walk.changed {
            walk.changed = false;
            walk.block(kernel.body);
        }
        let stmts = walk.stmts;
        Spine { stmts, leads }
    }

    /// True if the statement is on the spine.
    pub fn has(&self, id: StmtId) -> bool {
        self.stmts[id.index()]
    }

    /// True if a thread may reach a barrier in the statement, or after it.
    pub fn leads(&self, id: StmtId) -> bool {
        self.leads[id.index()]
    }

    /// True if no statement is on the spine.
    pub fn is_empty(&self) -> bool {
        !self.stmts.contains(&true)
    }
}

/// Marks the statements that lead to a barrier, and returns whether the block contains one. `follows` is true
/// if a barrier may follow the block.
fn mark(kernel: &Kernel, block: Block, follows: bool, leads: &mut [bool]) -> bool {
    let mut holds = false;
    for id in kernel.block(block).rev() {
        let stmt = kernel.stmt(id);
        let follows = follows || holds;
        let blocks = kernel.blocks_of(id);
        let mut inside = stmt.waits_for_block();
        for inner in &blocks {
            inside |= mark(kernel, *inner, follows, leads);
        }
        if matches!(stmt, Stmt::Loop { .. } | Stmt::For { .. }) && inside && !follows {
            // Another iteration, and so its barrier, may follow each iteration.
            for inner in &blocks {
                mark(kernel, *inner, true, leads);
            }
        }
        leads[id.index()] |= inside || follows;
        holds |= inside;
    }
    holds
}

struct Walk<'a> {
    kernel: &'a Kernel,
    leads: &'a [bool],
    uniformity: Uniformity,
    stmts: Vec<bool>,
    /// The locals that influence the path of the spine.
    locals: Vec<bool>,
    loops: Vec<(LabelId, StmtId)>,
    changed: bool,
}

impl Walk<'_> {
    /// Marks the statements of a block, and returns whether any is on the spine.
    fn block(&mut self, block: Block) -> bool {
        let mut any = false;
        for id in self.kernel.block(block) {
            any |= self.stmt(id);
        }
        any
    }

    fn stmt(&mut self, id: StmtId) -> bool {
        let kernel = self.kernel;
        let stmt = kernel.stmt(id);
        if let Stmt::Loop { label, .. } | Stmt::For { label, .. } = stmt {
            self.loops.push((label, id));
        }
        let (exprs, blocks) = kernel.children(stmt);
        let inside = blocks.into_iter().fold(false, |any, b| self.block(b) | any);
        let together = self.uniformity.control(id);
        let on = match stmt.facts().flow {
            Flow::Next => match stmt {
                Stmt::Let { local, .. } | Stmt::Assign { local, .. } => self.locals[local.index()],
                other => other.waits_for_block() || inside,
            },
            Flow::Return => together,
            Flow::Break(label) | Flow::Continue(label) => {
                let of = self.loops.iter().find(|l| l.0 == label);
                together && of.is_some_and(|l| self.stmts[l.1.index()])
            }
            Flow::Loop(_) => {
                self.loops.pop();
                inside
            }
            Flow::Branch => inside,
            Flow::Panic => false,
        };
        let on = on && self.leads[id.index()];
        if on && !self.stmts[id.index()] {
            self.stmts[id.index()] = true;
            self.changed = true;
            for expr in exprs {
                self.expr(expr);
            }
        }
        on
    }

    fn expr(&mut self, id: ExprId) {
        for id in self.kernel.exprs_in([id]) {
            if let Expr::Local(local) = self.kernel.expr(id) {
                self.changed |= !self.locals[local.index()];
                self.locals[local.index()] = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Spine;
    use crate::sketch::Sketch;
    use crate::{Axis, Builtin, Kernel, Scalar, Stmt, StmtId};

    fn on(kernel: &Kernel) -> Vec<Stmt> {
        let spine = Spine::of(kernel);
        let ids = (0..kernel.stmts.len() as u32).map(StmtId);
        ids.filter(|id| spine.has(*id))
            .map(|id| kernel.stmt(id))
            .collect()
    }

    #[test]
    fn what_decides_on_barriers_is_on_it() {
        let s = Sketch::new("k");
        let v = s.slice_mut("v", Scalar::U32);
        let thread = || s.id(Builtin::ThreadIdx(Axis::X));
        let n = s.let_("n", s.len(v));
        let aside = s.let_mut("aside", s.n(0));
        let step = s.let_mut("step", n.get());
        s.while_(step.get().gt(s.n(0)), |l| {
            s.if_(thread().eq(step.get()), || s.return_());
            s.set(aside, step.get());
            s.barrier();
            s.if_(step.get().eq(s.n(5)), || s.break_(l));
            s.if_(step.get().eq(s.n(6)), || s.set(aside, s.n(1)));
            s.set(step, step.get() >> s.n(1));
        });
        let ids = [n.id, step.id];
        let kernel = s.finish();
        let found = on(&kernel);
        let declared: Vec<_> = found
            .iter()
            .filter_map(|s| {
                let (Stmt::Let { local, .. } | Stmt::Assign { local, .. }) = s else {
                    return None;
                };
                Some(*local)
            })
            .collect();
        assert_eq!(declared, [ids[0], ids[1], ids[1]]);
        assert!(matches!(
            found[2..],
            [
                Stmt::Barrier,
                Stmt::Break { .. },
                Stmt::If { .. },
                Stmt::Assign { .. },
                Stmt::Loop { .. }
            ]
        ));
    }

    #[test]
    fn without_barriers_there_is_none() {
        let s = Sketch::new("k");
        s.loop_(|l| s.break_(l));
        s.return_();
        let kernel = s.finish();
        assert!(Spine::of(&kernel).is_empty());
        assert_eq!(on(&kernel), []);
    }
}
