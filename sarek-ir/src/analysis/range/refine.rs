//! Narrows ranges by the conditions of guards.
//!
//! A comparison narrows both of its sides. A compound side narrows its operands, by the inverse of its
//! operator. An immutable local narrows its initialiser. Afterwards, all such locals are evaluated again. So
//! facts flow in both directions along chains of `let`s.

use super::Analyser;
use crate::analysis::linear::{Comparison, Guard, Interval, Relation};
use crate::{BinaryOp, DivideOp, Expr, ExprId, Intrinsic, Kernel, List, LocalId, Scalar};

impl Analyser<'_> {
    /// Refines the state by the fact that `cond` has evaluated to `truth`.
    pub(super) fn assume(&mut self, cond: ExprId, truth: bool) {
        // Evaluating the operands may meet nested conditions, which must not refresh locals.
        let outer = std::mem::replace(&mut self.refreshing, true);
        self.assume_one(cond, truth);
        // One operand of `&&` may need the facts of the other.
        let compound = matches!(self.kernel.expr(cond), Expr::And { .. } | Expr::Or { .. });
        if compound && self.env.live {
            self.assume_one(cond, truth);
        }
        self.refreshing = outer;
        if !outer {
            self.refresh();
        }
    }

    /// Evaluates every local with a known definition again.
    fn refresh(&mut self) {
        self.refreshing = true;
        for i in 0..self.scope.len() {
            if !self.env.live {
                break;
            }
            let local = self.scope[i];
            if let Some(init) = self.defs[local.index()] {
                let range = self.peek(init);
                self.narrow_local(local, range);
            }
        }
        self.refreshing = false;
    }

    fn assume_one(&mut self, cond: ExprId, truth: bool) {
        match Guard::of(self.kernel, cond, truth) {
            Guard::Both { lhs, rhs } => {
                self.assume_one(lhs, truth);
                self.assume_one(rhs, truth);
            }
            // One of two paths leads here: either the left operand decides, or the right one does.
            Guard::Either { lhs, rhs } => {
                let before = self.env.clone();
                self.assume_one(lhs, truth);
                let decided = std::mem::replace(&mut self.env, before);
                self.assume_one(lhs, !truth);
                self.assume_one(rhs, truth);
                self.env.join(&decided);
            }
            Guard::Not(arg) => self.assume_one(arg, !truth),
            Guard::Compare(comparison) => match comparison.of_integers(self.kernel, truth) {
                Some(comparison) => self.assume_comparison(comparison),
                None => self.assume_equivalence(comparison, truth),
            },
            Guard::Local(_) | Guard::Other => self.narrow(cond, Interval::exactly(truth.into())),
        }
    }

    /// Refines the state by a comparison of two conditions, of which one is known.
    fn assume_equivalence(&mut self, comparison: Comparison, truth: bool) {
        let Comparison { relation, lhs, rhs } = comparison;
        let same = match relation {
            Relation::Eq => truth,
            Relation::Ne => !truth,
            Relation::Lt | Relation::Le | Relation::Gt | Relation::Ge => return,
        };
        if self.kernel.scalar_of(lhs) != Scalar::Bool {
            return;
        }
        let (l, r) = (self.peek(lhs), self.peek(rhs));
        for (side, other) in [(lhs, r), (rhs, l)] {
            if let Some(v) = other.exact() {
                self.assume_one(side, (v == 1) == same);
            }
        }
    }

    pub(super) fn assume_comparison(&mut self, comparison: Comparison) {
        let Comparison { relation, lhs, rhs } = comparison;
        let (l, r) = (self.peek(lhs), self.peek(rhs));
        self.assume_difference(relation, lhs, rhs);
        self.narrow(lhs, relation.narrowed(l, r));
        self.narrow(rhs, relation.swapped().narrowed(r, l));
    }

    fn narrow_local(&mut self, local: LocalId, to: Interval) -> bool {
        let range = &mut self.env.locals[local.index()];
        let met = range.meet(to);
        let moved = met != *range;
        *range = met;
        self.env.live &= !met.is_empty();
        moved
    }

    /// Refines the state by the fact that the expression's value is in `to`.
    fn narrow(&mut self, id: ExprId, to: Interval) {
        if !self.env.live {
            return;
        }
        let ty = self.kernel.scalar_of(id);
        if ty.is_float() {
            return;
        }
        let now = self.peek(id);
        let to = now.meet(to);
        if to.is_empty() {
            self.env.live = false;
            return;
        }
        match self.kernel.expr(id) {
            Expr::Local(local) => {
                if self.narrow_local(local, to)
                    && let Some(init) = self.defs[local.index()]
                {
                    self.narrow_definition(init, to, ty);
                }
            }
            Expr::Builtin(builtin) => self.env.narrow_builtin(builtin, to),
            Expr::Cast { arg } => {
                let from = self.peek(arg);
                if let Some(to) = before_wrapping(from, to, ty)
                    && !self.kernel.scalar_of(arg).is_float()
                {
                    self.narrow(arg, to);
                }
            }
            Expr::Binary { op, lhs, rhs } => {
                self.note(id, now, to);
                self.narrow_binary(op, lhs, rhs, to, ty);
            }
            Expr::Divide { op, lhs, rhs, .. } => {
                self.note(id, now, to);
                self.narrow_divide(op, lhs, rhs, to);
            }
            Expr::Call { intrinsic, args } => self.narrow_call(intrinsic, args, to),
            Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Param(_)
            | Expr::Len(_)
            | Expr::Load { .. }
            | Expr::Bounded { .. }
            | Expr::Unary { .. }
            | Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Compound(_)
            | Expr::Faulted => {}
        }
    }

    /// Narrows an initialiser: for a `bool` it is a condition, for a number a formula.
    fn narrow_definition(&mut self, init: ExprId, to: Interval, ty: Scalar) {
        match to.exact() {
            Some(truth) if ty == Scalar::Bool => self.assume_one(init, truth == 1),
            _ => self.narrow(init, to),
        }
    }

    /// Remembers a guard on a formula of immutable values.
    fn note(&mut self, id: ExprId, now: Interval, to: Interval) {
        if to != now && is_stable(self.kernel, id) {
            self.env.add_fact(id, to);
        }
    }

    fn narrow_binary(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId, to: Interval, ty: Scalar) {
        if op.is_comparison() || ty == Scalar::Bool {
            return;
        }
        let (l, r) = (self.peek(lhs), self.peek(rhs));
        match op {
            BinaryOp::Add => {
                if let Some(to) = before_wrapping(l.plus(r), to, ty) {
                    self.narrow(lhs, to.minus(r));
                    self.narrow(rhs, to.minus(l));
                }
            }
            BinaryOp::Sub => {
                if let Some(to) = before_wrapping(l.minus(r), to, ty) {
                    self.narrow(lhs, to.plus(r));
                    self.narrow(rhs, l.minus(to));
                }
            }
            BinaryOp::Mul if l.times(r).within(Interval::of(ty)) => {
                self.narrow_factor(lhs, l, r, to);
                self.narrow_factor(rhs, r, l, to);
            }
            BinaryOp::Shr => {
                if let Some(by) = r
                    .exact()
                    .filter(|by| (0..i128::from(ty.bits())).contains(by))
                {
                    let below = (1 << by) - 1;
                    let lo = to.lo.saturating_mul(1 << by);
                    let hi = to.hi.saturating_mul(1 << by).saturating_add(below);
                    self.narrow(lhs, Interval::new(lo, hi));
                }
            }
            // These say little about their operands.
            BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => {}
        }
    }

    /// Narrows a factor of the product `factor * other`, which lies in `to` and has not wrapped. Neither factor
    /// may be negative.
    fn narrow_factor(&mut self, factor: ExprId, range: Interval, other: Interval, to: Interval) {
        if range.lo < 0 || other.lo < 0 || other.hi == 0 || !self.env.live {
            return;
        }
        let lo = (to.lo.max(0) + other.hi - 1) / other.hi;
        let hi = if other.lo > 0 {
            to.hi / other.lo
        } else {
            i128::MAX
        };
        self.narrow(factor, Interval::new(lo, hi));
    }

    fn narrow_divide(&mut self, op: DivideOp, lhs: ExprId, rhs: ExprId, to: Interval) {
        let (l, r) = (self.peek(lhs), self.peek(rhs));
        let Some(d) = r.exact().filter(|&d| d > 0) else {
            return;
        };
        match op {
            DivideOp::Div | DivideOp::DivEuclid if l.lo >= 0 => {
                let lo = to.lo.saturating_mul(d);
                let hi = to.hi.saturating_mul(d).saturating_add(d - 1);
                self.narrow(lhs, Interval::new(lo, hi));
            }
            // A dividend is at least its remainder.
            DivideOp::Rem | DivideOp::RemEuclid if l.lo == 0 && to.lo > 0 => {
                self.narrow(lhs, Interval::at_least(to.lo));
            }
            DivideOp::Div | DivideOp::DivEuclid | DivideOp::Rem | DivideOp::RemEuclid => {}
        }
    }

    fn narrow_call(&mut self, intrinsic: Intrinsic, args: List, to: Interval) {
        let bound = if intrinsic == Intrinsic::Min {
            Interval::at_least(to.lo)
        } else if intrinsic == Intrinsic::Max {
            Interval::at_most(to.hi)
        } else {
            return;
        };
        for i in 0..args.len {
            let arg = ExprId(self.kernel.lists[(args.start + i) as usize]);
            self.narrow(arg, bound);
        }
    }
}

/// The range of an integer before wrapping, if it lay in `exact` and wrapped into `to`.
fn before_wrapping(exact: Interval, to: Interval, ty: Scalar) -> Option<Interval> {
    if ty.is_float() {
        return None;
    }
    let full = Interval::of(ty);
    if exact.within(full) {
        return Some(to);
    }
    let period = 1i128 << ty.bits();
    let reach = Interval::new(full.lo - period, full.hi + period);
    if !exact.within(reach) {
        return None;
    }
    let turns = [-period, 0, period].map(|d| to.shift_by(d).meet(exact));
    let all = turns.into_iter().reduce(Interval::join)?;
    (!all.is_empty()).then_some(all)
}

/// True if the expression keeps one value as long as its locals are in scope.
pub(super) fn is_stable(kernel: &Kernel, id: ExprId) -> bool {
    match kernel.expr(id) {
        Expr::Literal(_) | Expr::Link(_) | Expr::Param(_) | Expr::Len(_) | Expr::Builtin(_) => true,
        Expr::Local(local) => !kernel.locals[local.index()].mutable,
        Expr::Load { .. } | Expr::Compound(_) | Expr::Faulted => false,
        Expr::Unary { arg, .. } | Expr::Cast { arg } => is_stable(kernel, arg),
        Expr::Bounded {
            index: lhs,
            len: rhs,
            ..
        }
        | Expr::Binary { lhs, rhs, .. }
        | Expr::Divide { lhs, rhs, .. }
        | Expr::And { lhs, rhs }
        | Expr::Or { lhs, rhs } => is_stable(kernel, lhs) && is_stable(kernel, rhs),
        Expr::Call { args, .. } => kernel.list(args).all(|a| is_stable(kernel, a)),
    }
}
