//! Bounds of locals that loops move on, such as a cursor beside a counter: each turn adds a bounded number to the local,
//! and the number of turns is bounded.

use std::collections::BTreeSet;

use super::Analyser;
use crate::analysis::linear::{Interval, Relation};
use crate::analysis::local_uses::{self, LocalUse};
use crate::analysis::stepped::Stepped;
use crate::facts::Flow;
use crate::{BinaryOp, Block, Expr, ExprId, LabelId, LocalId, Stmt, StmtId};

/// The locals that a loop changes.
type Changed = BTreeSet<LocalId>;

impl Analyser<'_> {
    /// The ranges of locals at the head of a loop of at most this many turns.
    pub(super) fn limits(&mut self, body: Block, turns: i128) -> Vec<(LocalId, Interval)> {
        if self.after_faults {
            return vec![];
        }
        let changed = self.changed(body);
        let candidates: Vec<LocalId> = changed.iter().copied().collect();
        candidates
            .into_iter()
            .filter_map(|local| Some((local, self.limit(local, body, turns, &changed)?)))
            .collect()
    }

    /// Tightens the ranges of locals.
    pub(super) fn hold(&mut self, limits: &[(LocalId, Interval)]) {
        for (local, limit) in limits {
            let range = &mut self.env.locals[local.index()];
            let tight = range.meet(*limit);
            if !tight.is_empty() {
                *range = tight;
            }
        }
    }

    /// The largest number of turns of a loop over a range.
    pub(super) fn turns_of_stepped(&mut self, of: &Stepped) -> Option<i128> {
        let [start, end] = [of.start, of.end].map(|e| self.peek(e));
        let step = of.step.map_or(1, |step| self.peek(step).lo).max(1);
        let last = end.hi.checked_sub(i128::from(!of.inclusive))?;
        Some((last.checked_sub(start.lo)?.max(0) / step) + 1)
    }

    /// The range of the current value of a loop over a range. If it begins and steps by known numbers, its last value
    /// is known, too.
    pub(super) fn last_of_stepped(&mut self, of: &Stepped) -> Option<Interval> {
        let (first, step) = (self.peek(of.start), of.step.map_or(1, |s| self.peek(s).lo));
        let exact = of.step.is_none_or(|s| self.peek(s).hi == step) && step > 0;
        let turns = self.turns_of_stepped(of)?;
        let last = step.checked_mul(turns - 1)?.checked_add(first.lo)?;
        (exact && first.lo == first.hi).then(|| Interval::new(first.lo, last))
    }

    /// The largest number of turns of a loop that begins each turn with `counter < end`, and adds a number to the counter.
    pub(super) fn turns_of_while(
        &mut self,
        label: LabelId,
        cond: ExprId,
        body: Block,
    ) -> Option<i128> {
        let kernel = self.kernel;
        let Expr::Binary { op, lhs, rhs } = kernel.expr(cond) else {
            return None;
        };
        let (counter, end) = match Relation::of(op)? {
            Relation::Lt => (lhs, rhs),
            Relation::Gt => (rhs, lhs),
            Relation::Le | Relation::Ge | Relation::Eq | Relation::Ne => return None,
        };
        let Expr::Local(counter) = kernel.expr(counter) else {
            return None;
        };
        let changed = self.changed(body);
        let assigns = |id: &StmtId| kernel.stmt(*id).facts().assigns == Some(counter);
        let mut own = kernel.block(body).filter(assigns);
        let all = kernel.stmts_in(kernel.block(body)).filter(assigns);
        let Stmt::Assign { value, .. } = kernel.stmt(own.next()?) else {
            return None;
        };
        let continues = |id: StmtId| kernel.stmt(id).facts().flow == Flow::Continue(label);
        let mut stmts = kernel.stmts_in(kernel.block(body));
        if all.count() != 1 || self.reads(end, &changed) || stmts.any(continues) {
            return None;
        }
        let step = self.added(counter, value, &changed)?;
        let (first, end) = (self.env.locals[counter.index()], self.peek(end));
        let ty = kernel.locals[counter.index()].ty.as_scalar()?;
        let most = end.hi.checked_add(step.hi)?;
        let fits = step.lo >= 1 && most <= Interval::of(ty).hi;
        fits.then(|| (end.hi - first.lo).max(0) / step.lo + 1)
    }

    /// The range of a local at the loop's head, if it has the exact sum of what the turns add.
    fn limit(
        &mut self,
        local: LocalId,
        body: Block,
        turns: i128,
        changed: &Changed,
    ) -> Option<Interval> {
        let kernel = self.kernel;
        let ty = kernel.locals[local.index()].ty.as_scalar()?;
        let (change, seen) = self.growth(local, body, changed)?;
        let writes = |id: &StmtId| {
            let mut found = false;
            local_uses::itself(kernel, *id, &mut |of, used| {
                found |= of == local && used != LocalUse::Read;
            });
            found
        };
        let all = kernel.stmts_in(kernel.block(body)).filter(writes).count();
        let entry = self.env.locals[local.index()];
        let after = |turns: i128| {
            let lo = entry.lo.checked_add(change.lo.checked_mul(turns)?)?;
            let hi = entry.hi.checked_add(change.hi.checked_mul(turns)?)?;
            Some(Interval::new(lo, hi))
        };
        let whole = after(turns)?;
        let exact = seen == all && ty.is_int() && whole.within(Interval::of(ty));
        exact.then(|| after((turns - 1).max(0)))?
    }

    /// The least and the largest sum that any part of a block's run adds to a local, and the number of its assignments.
    fn growth(
        &mut self,
        local: LocalId,
        block: Block,
        changed: &Changed,
    ) -> Option<(Interval, usize)> {
        let kernel = self.kernel;
        let (mut sum, mut seen) = (Interval::exactly(0), 0);
        for id in kernel.block(block) {
            let (change, count) = match kernel.stmt(id) {
                Stmt::Assign { local: to, value } if to == local => {
                    (self.added(local, value, changed)?, 1)
                }
                Stmt::If {
                    then, otherwise, ..
                } => {
                    let (a, first) = self.growth(local, then, changed)?;
                    let (b, second) = self.growth(local, otherwise, changed)?;
                    (a.join(b), first + second)
                }
                Stmt::For {
                    start, end, body, ..
                } => {
                    let (change, count) = self.growth(local, body, changed)?;
                    if count == 0 {
                        continue;
                    }
                    if self.reads(start, changed) || self.reads(end, changed) {
                        return None;
                    }
                    let turns = self.peek(end).hi.checked_sub(self.peek(start).lo)?.max(0);
                    let lo = change.lo.checked_mul(turns)?;
                    (Interval::new(lo, change.hi.checked_mul(turns)?), count)
                }
                _ => continue,
            };
            let (lo, hi) = (change.lo.min(0), change.hi.max(0));
            sum = Interval::new(sum.lo.checked_add(lo)?, sum.hi.checked_add(hi)?);
            seen += count;
        }
        Some((sum, seen))
    }

    /// The range of what an assignment adds to a local; `None` if it does not add, or if the loop changes the summand.
    fn added(&mut self, local: LocalId, value: ExprId, changed: &Changed) -> Option<Interval> {
        let kernel = self.kernel;
        let itself = |e: ExprId| kernel.expr(e) == Expr::Local(local);
        let (by, is_added) = match kernel.expr(value) {
            Expr::Binary {
                op: BinaryOp::Add,
                lhs,
                rhs,
            } if itself(lhs) => (rhs, true),
            Expr::Binary {
                op: BinaryOp::Add,
                lhs,
                rhs,
            } if itself(rhs) => (lhs, true),
            Expr::Binary {
                op: BinaryOp::Sub,
                lhs,
                rhs,
            } if itself(lhs) => (rhs, false),
            _ => return None,
        };
        if self.reads(by, changed) {
            return None;
        }
        let range = self.peek(by);
        Some(if is_added { range } else { range.negated() })
    }

    /// True if an expression reads memory or a local that changes.
    fn reads(&self, id: ExprId, changed: &Changed) -> bool {
        let mut exprs = self.kernel.exprs_in([id]);
        exprs.any(|e| match self.kernel.expr(e) {
            Expr::Local(local) => changed.contains(&local),
            Expr::Load { .. } | Expr::Compound(_) => true,
            _ => false,
        })
    }

    fn changed(&self, body: Block) -> Changed {
        let mut found = Changed::new();
        for id in self.kernel.stmts_in(self.kernel.block(body)) {
            local_uses::itself(self.kernel, id, &mut |local, used| {
                if used != LocalUse::Read {
                    found.insert(local);
                }
            });
        }
        found
    }
}
