//! Bounds that conditions and loops imply for the code behind them, before a launch.

use std::collections::HashSet;

use super::guard::{Comparison, Guard, Limits, Relation};
use super::{Affine, Atom, Form, Poly, Resolver};
use crate::{Axis, Expr, ExprId, LocalId};

/// A bound that holds at a point of the code.
#[derive(Clone, PartialEq, Debug)]
pub struct Bound {
    /// The bounded form, without base: most often one atom alone. Its first coefficient is positive, if its sign is
    /// known.
    pub form: Form<Poly>,
    /// The largest or the smallest value of the form.
    pub limit: Limit,
    /// The bound holds only if these expressions do not overflow on the way.
    pub exact: Vec<ExprId>,
    /// The bound holds only if the launch has at most this many threads along the axis.
    pub extents: Vec<(Axis, u64)>,
}

/// The value of a [`Bound`], inclusive.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum Limit {
    AtMost(Poly),
    AtLeast(Poly),
}

impl Bound {
    /// True if the bound limits this atom alone, with factor 1.
    pub fn is_of(&self, atom: Atom) -> bool {
        self.form.sole_atom() == Some(atom)
    }

    /// The same bound on a form that is equal to the bounded one.
    pub fn of_equal(&self, mut form: Form<Poly>) -> Bound {
        let base = std::mem::take(&mut form.base);
        let limit = match &self.limit {
            Limit::AtMost(most) => Limit::AtMost(most.minus(&base)),
            Limit::AtLeast(least) => Limit::AtLeast(least.minus(&base)),
        };
        let first = form.terms().first();
        let is_negative = first.is_some_and(|(_, c)| c.scaled(-1).is_natural());
        let (form, limit) = match form.negated().filter(|_| is_negative) {
            Some(form) => (form, limit.negated()),
            None => (form, limit),
        };
        Bound {
            form,
            limit,
            exact: self.exact.clone(),
            extents: self.extents.clone(),
        }
    }
}

impl Limit {
    /// The limit of a form with the opposite sign.
    fn negated(&self) -> Limit {
        match self {
            Limit::AtMost(most) => Limit::AtLeast(most.scaled(-1)),
            Limit::AtLeast(least) => Limit::AtMost(least.scaled(-1)),
        }
    }
}

impl Resolver<'_> {
    /// The bounds that hold if `cond` has evaluated to `truth`.
    pub fn implied(&mut self, cond: ExprId, truth: bool) -> Vec<Bound> {
        match Guard::of(self.kernel, cond, truth) {
            Guard::Both { lhs, rhs } => {
                let mut bounds = self.implied(lhs, truth);
                bounds.extend(self.implied(rhs, truth));
                bounds
            }
            Guard::Not(arg) => self.implied(arg, !truth),
            Guard::Local(local) => match self.init(local) {
                Some(init) if self.block.is_none() || self.is_constant(init) => {
                    self.implied(init, truth)
                }
                Some(_) | None => vec![],
            },
            Guard::Compare(comparison) => {
                let comparison = comparison.of_integers(self.kernel, truth);
                comparison.map_or_else(Vec::new, |comparison| self.compared(comparison))
            }
            Guard::Either { .. } | Guard::Other => vec![],
        }
    }

    /// The bounds that hold if a comparison of integers does.
    pub fn compared(&mut self, comparison: Comparison) -> Vec<Bound> {
        let Comparison { relation, lhs, rhs } = comparison;
        let (Some(l), Some(r)) = (self.affine(lhs), self.affine(rhs)) else {
            return vec![];
        };
        let Some(difference) = l.plus(&r, -1) else {
            return vec![];
        };
        let sides = [(lhs, &l), (rhs, &r)].into_iter();
        let exact = sides
            .filter(|(e, affine)| !self.is_plain(*e) && !affine.is_plain_id())
            .map(|(e, _)| e)
            .collect();
        let limits = Limits::of(relation, difference.form);
        limits.map_or_else(Vec::new, |limits| {
            bounds(limits, exact, &difference.extents)
        })
    }

    /// The bounds of the counter of a loop over `start..end`.
    pub fn counted(&mut self, counter: Atom, start: ExprId, end: ExprId) -> Vec<Bound> {
        let mut found = vec![];
        for (bound, is_end) in [(start, false), (end, true)] {
            let Some(affine) = self.affine(bound) else {
                continue;
            };
            let Some(at) = affine.form.uniform() else {
                continue;
            };
            let limit = match is_end {
                true => Limit::AtMost(at.minus(&Poly::constant(1))),
                false => Limit::AtLeast(at.clone()),
            };
            let is_plain = self.is_plain(bound);
            found.push(Bound {
                form: Form::atom(counter),
                limit,
                exact: if is_plain { vec![] } else { vec![bound] },
                extents: affine.extents,
            });
        }
        found
    }

    /// The bounds that the dimensions of an array of arrays put on its indices.
    pub fn dimensions(&mut self, index: ExprId) -> Vec<Bound> {
        let bounded = self.bounded_in(index).into_iter();
        bounded.flat_map(|of| self.compared(of)).collect()
    }

    /// The comparisons that hold for the parts of an index behind its checks.
    pub(super) fn bounded_in(&self, index: ExprId) -> Vec<Comparison> {
        let (mut found, mut left) = (vec![], vec![index]);
        let mut seen: HashSet<LocalId> = HashSet::new();
        while let Some(index) = left.pop() {
            match self.kernel.expr(index) {
                Expr::Bounded { index, len, .. } => {
                    found.push(Comparison {
                        relation: Relation::Lt,
                        lhs: index,
                        rhs: len,
                    });
                    left.push(index);
                }
                // A compound assignment keeps its index in a local.
                Expr::Local(local) if seen.insert(local) => {
                    let init = self.init(local);
                    left.extend(init.filter(|init| self.is_constant(*init)));
                }
                Expr::Binary { lhs, rhs, .. } => left.extend([rhs, lhs]),
                Expr::Local(_)
                | Expr::Literal(_)
                | Expr::Link(_)
                | Expr::Param(_)
                | Expr::Len(_)
                | Expr::Builtin(_)
                | Expr::Load { .. }
                | Expr::Unary { .. }
                | Expr::Divide { .. }
                | Expr::And { .. }
                | Expr::Or { .. }
                | Expr::Cast { .. }
                | Expr::Call { .. }
                | Expr::Compound(_)
                | Expr::Faulted => {}
            }
        }
        found
    }
}

fn bounds(limits: Limits<Poly>, exact: Vec<ExprId>, extents: &[(Axis, u64)]) -> Vec<Bound> {
    let most = limits.most.map(Limit::AtMost);
    let least = limits.least.map(Limit::AtLeast);
    let each = most.into_iter().chain(least).map(|limit| Bound {
        form: limits.form.clone(),
        limit,
        exact: exact.clone(),
        extents: extents.to_vec(),
    });
    each.collect()
}

impl Affine {
    /// The form with the opposite sign, under the same conditions; `None` if a number does not fit.
    pub fn negated(&self) -> Option<Affine> {
        Some(self.with(self.form.negated()?))
    }
}
