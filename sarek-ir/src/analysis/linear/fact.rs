//! Facts about values at a point of the code: a form is not negative, 0, or not 0.

use super::guard::{Comparison, Guard, Relation};
use super::{Affine, Form, Poly, Resolver};
use crate::{Axis, ExprId, LocalId, Scalar};

/// A fact that holds at a point of the code.
#[derive(Clone, PartialEq, Debug)]
pub struct Fact {
    /// The form.
    pub form: Form<Poly>,
    /// The relation of the form to 0.
    pub sign: Sign,
    /// The fact holds only if these expressions do not overflow.
    pub exact: Vec<ExprId>,
    /// The fact holds only if the launch has at most this many threads along the axis.
    pub extents: Vec<(Axis, u64)>,
}

/// The relation of a value to 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sign {
    /// The value is at least 0.
    NotNegative,
    /// The value is 0.
    Zero,
    /// The value is not 0.
    NotZero,
}

impl Fact {
    /// The fact that two integers are in a relation; `None` if a number does not fit.
    pub fn of(relation: Relation, lhs: &Form<Poly>, rhs: &Form<Poly>) -> Option<Fact> {
        let less = |a: &Form<Poly>, b: &Form<Poly>, by: i128| {
            let difference = b.minus(a)?;
            Some((difference.minus(&Form::constant(by))?, Sign::NotNegative))
        };
        let (form, sign) = match relation {
            Relation::Lt => less(lhs, rhs, 1)?,
            Relation::Le => less(lhs, rhs, 0)?,
            Relation::Gt => less(rhs, lhs, 1)?,
            Relation::Ge => less(rhs, lhs, 0)?,
            Relation::Eq => (lhs.minus(rhs)?, Sign::Zero),
            Relation::Ne => (lhs.minus(rhs)?, Sign::NotZero),
        };
        Some(Fact {
            form,
            sign,
            exact: vec![],
            extents: vec![],
        })
    }

    /// True if both cannot hold under their conditions.
    pub fn contradicts(&self, other: &Fact) -> bool {
        let sum = || {
            self.form
                .plus(&other.form, &Poly::constant(1))?
                .as_constant()
        };
        match (self.sign, other.sign) {
            (Sign::NotNegative, Sign::NotNegative) => sum().is_some_and(|sum| sum < 0),
            (_, _) => false,
        }
    }

    /// Adds the conditions under which a value has its form.
    pub fn under(mut self, value: &Affine) -> Fact {
        self.exact.extend_from_slice(&value.exact);
        self.extents.extend_from_slice(&value.extents);
        self
    }
}

impl Resolver<'_> {
    /// The facts that hold if `cond` has evaluated to `truth`.
    pub fn supposed(&mut self, cond: ExprId, truth: bool) -> Vec<Fact> {
        match Guard::of(self.kernel, cond, truth) {
            Guard::Both { lhs, rhs } => {
                let mut facts = self.supposed(lhs, truth);
                facts.extend(self.supposed(rhs, truth));
                facts
            }
            Guard::Not(arg) => self.supposed(arg, !truth),
            Guard::Local(local) => self.supposed_local(local, truth),
            Guard::Compare(comparison) => {
                let comparison = comparison.of_integers(self.kernel, truth);
                let fact = comparison.and_then(|comparison| self.related(comparison));
                fact.into_iter().collect()
            }
            Guard::Either { .. } | Guard::Other => vec![],
        }
    }

    /// The facts that hold if a local is true, or false.
    fn supposed_local(&mut self, local: LocalId, truth: bool) -> Vec<Fact> {
        if let Some([if_true, if_false]) = self.conditions.get(&local) {
            return match truth {
                true => if_true.clone(),
                false => if_false.clone(),
            };
        }
        match self.init(local) {
            Some(init) if self.is_constant(init) => self.supposed(init, truth),
            Some(_) | None => {
                // Threads that have the local in common agree on its value.
                let value = self.block.as_ref().and_then(|values| values.get(local));
                let is = Form::constant(truth.into());
                let fact = value.and_then(|value| Fact::of(Relation::Eq, &value.form, &is));
                fact.into_iter().collect()
            }
        }
    }

    /// Records the facts that follow from the value that an immutable local gets here, if it is a condition.
    pub fn bind_condition(&mut self, local: LocalId, init: ExprId) {
        let is_bool = self.kernel.type_of(init).as_scalar() == Some(Scalar::Bool);
        if is_bool && !self.kernel.locals[local.index()].mutable && self.terms.is_some() {
            let facts = [true, false].map(|truth| self.supposed(init, truth));
            self.conditions.insert(local, facts);
        }
    }

    /// The facts that the requirements of a launch state.
    pub fn required(&mut self) -> Vec<Fact> {
        let required: Vec<ExprId> = self.kernel.required().map(|(_, cond)| cond).collect();
        let facts = required.into_iter().map(|cond| self.supposed(cond, true));
        facts.flatten().collect()
    }

    /// The fact that a comparison states.
    pub fn related(&mut self, comparison: Comparison) -> Option<Fact> {
        let Comparison { relation, lhs, rhs } = comparison;
        let (l, r) = (self.affine(lhs)?, self.affine(rhs)?);
        let mut fact = Fact::of(relation, &l.form, &r.form)?.under(&l).under(&r);
        for (side, value) in [(lhs, &l), (rhs, &r)] {
            if !self.is_plain(side) && !value.is_plain_id() {
                fact.exact.push(side);
            }
        }
        Some(fact)
    }

    /// The facts about the counter of a loop over `start..end`.
    pub fn counts(&mut self, counter: &Form<Poly>, start: ExprId, end: ExprId) -> Vec<Fact> {
        let mut facts = vec![];
        for (side, relation) in [(start, Relation::Ge), (end, Relation::Lt)] {
            let Some(value) = self.affine(side) else {
                continue;
            };
            let fact = Fact::of(relation, counter, &value.form).map(|fact| fact.under(&value));
            facts.extend(fact.map(|mut fact| {
                if !self.is_plain(side) {
                    fact.exact.push(side);
                }
                fact
            }));
        }
        facts
    }

    /// The facts that the dimensions of an array of arrays state about its indices.
    pub fn within(&mut self, index: ExprId) -> Vec<Fact> {
        let bounded = self.bounded_in(index).into_iter();
        bounded.filter_map(|of| self.related(of)).collect()
    }
}
