//! The reader of guards: what a condition says once its value is known.
//!
//! [`Guard::of`] reads one node. A user of guards decides for itself how far to follow the parts.

use super::{Coefficient, Form, Interval};
use crate::{BinaryOp, Expr, ExprId, Kernel, LocalId, UnaryOp};

/// The meaning of a condition that has evaluated to a known value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // each variant's documentation covers its fields
pub enum Guard {
    /// Both operands have this value.
    Both { lhs: ExprId, rhs: ExprId },
    /// At least one of the operands has this value.
    Either { lhs: ExprId, rhs: ExprId },
    /// The operand has the opposite value.
    Not(ExprId),
    /// A comparison has this value.
    Compare(Comparison),
    /// A local has this value.
    Local(LocalId),
    /// Nothing about integers follows.
    Other,
}

impl Guard {
    /// Reads a condition that has evaluated to `truth`.
    pub fn of(kernel: &Kernel, cond: ExprId, truth: bool) -> Guard {
        match kernel.expr(cond) {
            Expr::And { lhs, rhs } if truth => Guard::Both { lhs, rhs },
            Expr::Or { lhs, rhs } if !truth => Guard::Both { lhs, rhs },
            Expr::And { lhs, rhs } | Expr::Or { lhs, rhs } => Guard::Either { lhs, rhs },
            Expr::Unary {
                op: UnaryOp::Not,
                arg,
            } => Guard::Not(arg),
            Expr::Local(local) => Guard::Local(local),
            Expr::Binary { op, lhs, rhs } => match Relation::of(op) {
                Some(relation) => Guard::Compare(Comparison { relation, lhs, rhs }),
                None => Guard::Other,
            },
            Expr::Unary {
                op: UnaryOp::Neg, ..
            }
            | Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Param(_)
            | Expr::Len(_)
            | Expr::Builtin(_)
            | Expr::Load { .. }
            | Expr::Bounded { .. }
            | Expr::Divide { .. }
            | Expr::Cast { .. }
            | Expr::Call { .. }
            | Expr::Compound(_)
            | Expr::Faulted => Guard::Other,
        }
    }
}

/// A comparison of two expressions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Comparison {
    pub relation: Relation,
    pub lhs: ExprId,
    pub rhs: ExprId,
}

impl Comparison {
    /// The comparison that holds if this one, of integers, has evaluated to `truth`. A comparison of other
    /// values gives none, because the opposite of `a < b` is not `a >= b` for floats.
    pub fn of_integers(self, kernel: &Kernel, truth: bool) -> Option<Comparison> {
        let ty = kernel.type_of(self.lhs).as_scalar();
        let relation = match truth {
            true => self.relation,
            false => self.relation.opposite(),
        };
        ty.filter(|ty| ty.is_int())
            .map(|_| Comparison { relation, ..self })
    }

    /// The smaller and the larger side, if this is `a < b` or `b > a`.
    pub fn strictly_ordered(self) -> Option<[ExprId; 2]> {
        match self.relation {
            Relation::Lt => Some([self.lhs, self.rhs]),
            Relation::Gt => Some([self.rhs, self.lhs]),
            Relation::Le | Relation::Ge | Relation::Eq | Relation::Ne => None,
        }
    }

    /// The same comparison with its sides exchanged.
    pub fn swapped(self) -> Comparison {
        Comparison {
            relation: self.relation.swapped(),
            lhs: self.rhs,
            rhs: self.lhs,
        }
    }
}

/// A relation of two values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Relation {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

impl Relation {
    /// The relation that an operator tests.
    pub fn of(op: BinaryOp) -> Option<Relation> {
        match op {
            BinaryOp::Lt => Some(Relation::Lt),
            BinaryOp::Le => Some(Relation::Le),
            BinaryOp::Gt => Some(Relation::Gt),
            BinaryOp::Ge => Some(Relation::Ge),
            BinaryOp::Eq => Some(Relation::Eq),
            BinaryOp::Ne => Some(Relation::Ne),
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Shr => None,
        }
    }

    /// The relation that holds between two integers if this one does not.
    pub fn opposite(self) -> Relation {
        match self {
            Relation::Lt => Relation::Ge,
            Relation::Le => Relation::Gt,
            Relation::Gt => Relation::Le,
            Relation::Ge => Relation::Lt,
            Relation::Eq => Relation::Ne,
            Relation::Ne => Relation::Eq,
        }
    }

    /// The relation of the two sides in the other order.
    pub fn swapped(self) -> Relation {
        match self {
            Relation::Lt => Relation::Gt,
            Relation::Le => Relation::Ge,
            Relation::Gt => Relation::Lt,
            Relation::Ge => Relation::Le,
            Relation::Eq => Relation::Eq,
            Relation::Ne => Relation::Ne,
        }
    }

    /// True for one of the four orders.
    pub fn is_order(self) -> bool {
        match self {
            Relation::Lt | Relation::Le | Relation::Gt | Relation::Ge => true,
            Relation::Eq | Relation::Ne => false,
        }
    }

    /// The least and the largest difference `lhs - rhs` of two integers in this relation.
    fn difference(self) -> [Option<i128>; 2] {
        match self {
            Relation::Lt => [None, Some(-1)],
            Relation::Le => [None, Some(0)],
            Relation::Gt => [Some(1), None],
            Relation::Ge => [Some(0), None],
            Relation::Eq => [Some(0), Some(0)],
            Relation::Ne => [None, None],
        }
    }

    /// The range of `lhs`, if `rhs` is in this range.
    pub fn narrowed(self, lhs: Interval, rhs: Interval) -> Interval {
        match self {
            Relation::Lt => Interval::at_most(rhs.hi - 1),
            Relation::Le => Interval::at_most(rhs.hi),
            Relation::Gt => Interval::at_least(rhs.lo + 1),
            Relation::Ge => Interval::at_least(rhs.lo),
            Relation::Eq => rhs,
            Relation::Ne => lhs.without(rhs),
        }
    }

    /// The truth of the relation for two values in these ranges: 0, 1 or both.
    pub fn decided(self, l: Interval, r: Interval) -> Interval {
        let (always, never) = match self {
            Relation::Lt => (l.hi < r.lo, l.lo >= r.hi),
            Relation::Le => (l.hi <= r.lo, l.lo > r.hi),
            Relation::Gt => (l.lo > r.hi, l.hi <= r.lo),
            Relation::Ge => (l.lo >= r.hi, l.hi < r.lo),
            Relation::Eq => (l.exact().is_some() && l == r, l.meet(r).is_empty()),
            Relation::Ne => (l.meet(r).is_empty(), l.exact().is_some() && l == r),
        };
        Interval::new(always.into(), (!never).into())
    }
}

/// The inequalities that a comparison implies: limits of a form without base.
#[derive(Clone, PartialEq, Debug)]
pub struct Limits<C> {
    /// The limited form. Its first coefficient is positive, if its sign is known.
    pub form: Form<C>,
    /// The least value.
    pub least: Option<C>,
    /// The largest value.
    pub most: Option<C>,
}

impl Limits<i128> {
    /// The range of the form.
    pub fn range(&self) -> Interval {
        let least = self.least.unwrap_or(i128::MIN);
        Interval::new(least, self.most.unwrap_or(i128::MAX))
    }
}

impl<C: Coefficient> Limits<C> {
    /// The limits of `difference`, which is the left side of a relation minus the right side. `None` if the
    /// relation limits nothing, or if a number does not fit.
    pub fn of(relation: Relation, mut difference: Form<C>) -> Option<Limits<C>> {
        let base = std::mem::replace(&mut difference.base, C::constant(0)).checked_negation()?;
        let at = |limit: Option<i128>| match limit {
            Some(limit) => Some(Some(C::constant(limit).checked_plus(&base)?)),
            None => Some(None),
        };
        let [least, most] = relation.difference();
        let (least, most) = (at(least)?, at(most)?);
        if least.is_none() && most.is_none() {
            return None;
        }
        let (_, first) = difference.terms().first()?;
        let limits = Limits {
            form: difference.clone(),
            least,
            most,
        };
        if first.checked_negation()?.is_natural() {
            return limits.negated();
        }
        Some(limits)
    }

    fn negated(self) -> Option<Limits<C>> {
        let negated = |limit: Option<C>| match limit {
            Some(limit) => Some(Some(limit.checked_negation()?)),
            None => Some(None),
        };
        Some(Limits {
            form: self.form.negated()?,
            least: negated(self.most)?,
            most: negated(self.least)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::{Sketch, SketchExpr};
    use crate::{Scalar, Stmt};

    /// A kernel with one `if`, and its condition.
    fn with_guard(
        cond: impl for<'s> Fn(&'s Sketch, SketchExpr<'s>, SketchExpr<'s>) -> SketchExpr<'s>,
    ) -> (Kernel, ExprId) {
        let s = Sketch::new("k");
        let [x, n] = [Scalar::F32, Scalar::Usize].map(|ty| s.scalar("value", ty));
        s.if_(cond(&s, s.arg(x), s.arg(n)), || {});
        let kernel = s.finish();
        let cond = kernel.stmts.iter().find_map(|stmt| match stmt {
            Stmt::If { cond, .. } => Some(*cond),
            _ => None,
        });
        (kernel, cond.expect("an `if`"))
    }

    #[test]
    fn conditions_are_read_by_their_value() {
        let (kernel, both) = with_guard(|s, _, n| n.lt(s.n(3)).and(n.gt(s.n(1))));
        assert!(matches!(Guard::of(&kernel, both, true), Guard::Both { .. }));
        assert!(matches!(
            Guard::of(&kernel, both, false),
            Guard::Either { .. }
        ));
        let (kernel, either) = with_guard(|s, _, n| n.lt(s.n(3)).or(n.gt(s.n(5))));
        assert!(matches!(
            Guard::of(&kernel, either, true),
            Guard::Either { .. }
        ));
        assert!(matches!(
            Guard::of(&kernel, either, false),
            Guard::Both { .. }
        ));
        let (kernel, not) = with_guard(|s, _, n| !n.lt(s.n(3)));
        assert!(matches!(Guard::of(&kernel, not, true), Guard::Not(_)));
    }

    #[test]
    fn only_integers_have_opposite_relations() {
        let opposite = |(kernel, cond): (Kernel, ExprId)| match Guard::of(&kernel, cond, false) {
            Guard::Compare(comparison) => comparison.of_integers(&kernel, false),
            guard => panic!("{guard:?}"),
        };
        let integers = opposite(with_guard(|s, _, n| n.lt(s.n(3))));
        assert_eq!(integers.map(|c| c.relation), Some(Relation::Ge));
        let floats = opposite(with_guard(|s, x, _| x.lt(s.f32(3.0))));
        assert_eq!(floats, None);
    }

    const ALL: [Relation; 6] = [
        Relation::Lt,
        Relation::Le,
        Relation::Gt,
        Relation::Ge,
        Relation::Eq,
        Relation::Ne,
    ];

    fn holds(relation: Relation, l: i128, r: i128) -> bool {
        let decided = relation.decided(Interval::exactly(l), Interval::exactly(r));
        decided == Interval::exactly(1)
    }

    #[test]
    fn relations_agree_with_numbers() {
        for (l, r) in (-2..3).flat_map(|l| (-2..3).map(move |r| (l, r))) {
            let expected = [l < r, l <= r, l > r, l >= r, l == r, l != r];
            for (relation, expected) in ALL.into_iter().zip(expected) {
                assert_eq!(holds(relation, l, r), expected, "{l} {relation:?} {r}");
                assert_eq!(holds(relation.opposite(), l, r), !expected);
                assert_eq!(holds(relation.swapped(), r, l), expected);
                let [least, most] = relation.difference();
                let inside = least.is_none_or(|v| l - r >= v) && most.is_none_or(|v| l - r <= v);
                assert_eq!(inside, expected || relation == Relation::Ne);
            }
        }
    }

    #[test]
    fn ranges_are_narrowed() {
        let (wide, narrow) = (Interval::new(0, 9), Interval::new(3, 5));
        for relation in ALL {
            let kept = wide.meet(relation.narrowed(wide, narrow));
            for l in 0..10 {
                let possible = (3..6).any(|r| holds(relation, l, r));
                assert!(kept.contains(l) || !possible, "{l} {relation:?}");
            }
        }
        let ends = Relation::Ne.narrowed(wide, Interval::exactly(9));
        assert_eq!(ends, Interval::new(0, 8));
    }
}
