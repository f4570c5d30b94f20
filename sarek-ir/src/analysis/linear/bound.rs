//! Bounds on integers that conditions and loops imply for the code behind them.

use super::collect::Collector;
use super::{Atom, Bound, Limit, Poly};
use crate::{Axis, BinaryOp, Expr, ExprId, UnaryOp};

impl Collector<'_> {
    /// Adds the bounds that hold if `cond` has evaluated to `truth`.
    pub(super) fn suppose(&mut self, cond: ExprId, truth: bool) {
        match self.kernel.expr(cond) {
            Expr::And { lhs, rhs } if truth => {
                self.suppose(lhs, true);
                self.suppose(rhs, true);
            }
            Expr::Or { lhs, rhs } if !truth => {
                self.suppose(lhs, false);
                self.suppose(rhs, false);
            }
            Expr::Unary {
                op: UnaryOp::Not,
                arg,
            } => self.suppose(arg, !truth),
            Expr::Local(local) => {
                if let Some(init) = self.resolver.init(local)
                    && (self.resolver.block.is_none() || self.resolver.is_constant(init))
                {
                    self.suppose(init, truth);
                }
            }
            Expr::Binary { op, lhs, rhs } => self.suppose_comparison(op, lhs, rhs, truth),
            // These bound no integer.
            Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Bounded { .. }
            | Expr::Unary { .. }
            | Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Param(_)
            | Expr::Len(_)
            | Expr::Builtin(_)
            | Expr::Load { .. }
            | Expr::Divide { .. }
            | Expr::Cast { .. }
            | Expr::Call { .. }
            | Expr::Compound(_)
            | Expr::Faulted => {}
        }
    }

    pub(super) fn suppose_comparison(
        &mut self,
        op: BinaryOp,
        lhs: ExprId,
        rhs: ExprId,
        truth: bool,
    ) {
        let (Some(l), Some(r)) = (self.resolver.affine(lhs), self.resolver.affine(rhs)) else {
            return;
        };
        // `l - r <= most`, and `l - r >= least`.
        let (most, least) = match (op, truth) {
            (BinaryOp::Lt, true) | (BinaryOp::Ge, false) => (Some(-1), None),
            (BinaryOp::Le, true) | (BinaryOp::Gt, false) => (Some(0), None),
            (BinaryOp::Gt, true) | (BinaryOp::Le, false) => (None, Some(1)),
            (BinaryOp::Ge, true) | (BinaryOp::Lt, false) => (None, Some(0)),
            (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => (Some(0), Some(0)),
            (BinaryOp::Ne, true) | (BinaryOp::Eq, false) => return,
            (
                BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::Div
                | BinaryOp::Rem
                | BinaryOp::BitAnd
                | BinaryOp::BitOr
                | BinaryOp::BitXor
                | BinaryOp::Shl
                | BinaryOp::Shr,
                _,
            ) => return,
        };
        let mut difference = l.plus(&r, -1);
        if difference.terms.is_empty() {
            return;
        }
        let base = &difference.base;
        let at = |d: i128| Poly::constant(d).minus(base);
        let first = difference.terms[0].1.as_constant();
        let (most, least) = match first {
            // Normal form: the first factor of the sum is positive.
            Some(factor) if factor < 0 => (
                least.map(|d| at(d).scaled(-1)),
                most.map(|d| at(d).scaled(-1)),
            ),
            Some(_) | None => (most.map(at), least.map(at)),
        };
        if first.is_some_and(|factor| factor < 0) {
            let negated = difference.terms.iter().map(|(a, c)| (*a, c.scaled(-1)));
            difference.terms = negated.collect();
        }
        let sides = [(lhs, &l), (rhs, &r)].into_iter();
        let exact = sides
            .filter(|(e, form)| !self.resolver.is_plain(*e) && !form.is_plain_id())
            .map(|(e, _)| e)
            .collect();
        let limits = most
            .map(Limit::AtMost)
            .into_iter()
            .chain(least.map(Limit::AtLeast));
        let limits = limits.collect();
        self.add_bounds(&difference.terms, limits, exact, &difference.extents);
    }

    pub(super) fn bound_counter(&mut self, atom: Atom, start: ExprId, end: ExprId) {
        for (bound, is_end) in [(start, false), (end, true)] {
            let Some(form) = self.resolver.affine(bound) else {
                continue;
            };
            let Some(at) = form.uniform() else { continue };
            let limit = if is_end {
                Limit::AtMost(at.minus(&Poly::constant(1)))
            } else {
                Limit::AtLeast(at.clone())
            };
            let exact = if self.resolver.is_plain(bound) {
                vec![]
            } else {
                vec![bound]
            };
            let counter = [(atom, Poly::constant(1))];
            self.add_bounds(&counter, vec![limit], exact, &form.extents);
        }
    }

    fn add_bounds(
        &mut self,
        terms: &[(Atom, Poly)],
        limits: Vec<Limit>,
        exact: Vec<ExprId>,
        extents: &[(Axis, u64)],
    ) {
        for limit in limits {
            self.bounds.push(Bound {
                terms: terms.to_vec(),
                limit,
                exact: exact.clone(),
                extents: extents.to_vec(),
            });
        }
    }
}
