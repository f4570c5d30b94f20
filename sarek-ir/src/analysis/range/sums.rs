//! A relational domain: bounds of sums. `first + tx < n` says little about `first` and `tx`, but much about
//! `row * n + first + tx`.
//!
//! The sums are the forms of [`linear`](crate::analysis::linear), over ids, current values of locals, and quotients
//! by constants. Extents, lengths and arguments are numbers here, so that products with them are multiples. An
//! operation that may wrap has no sum.
//!
//! A guard that compares two sums bounds their difference. A local equals the sum that was assigned to it,
//! until a local in that sum is assigned. Meanwhile, the local's range bounds the sum.

use std::rc::Rc;

use super::Analyser;
use super::env::Env;
use crate::analysis::linear::{
    Affine, Atom, Form, Interval, Known, Limits, Relation, Source, Symbol, read, result,
};
use crate::{Axis, BinaryOp, Builtin, Expr, ExprId, Kernel, LocalId, Scalar};

/// The largest number of atoms in a sum. Longer sums are not tracked.
const MOST: usize = 6;

/// A sum with the numbers of one launch.
pub(super) type Sum = Form<i128>;

impl Source for Analyser<'_> {
    type Coefficient = i128;

    fn kernel(&self) -> &Kernel {
        self.kernel
    }

    fn symbol(&mut self, id: ExprId, _: Symbol) -> Option<Affine<i128>> {
        self.peek(id).exact().map(known)
    }

    fn id(&mut self, _: ExprId, builtin: Builtin) -> Option<Affine<i128>> {
        Some(Affine::of(self.sum_of_id(builtin)))
    }

    fn local(&mut self, _: ExprId, local: LocalId) -> Option<Affine<i128>> {
        Some(Affine::of(self.sum_of_local(local)))
    }

    fn opaque(&mut self, id: ExprId) -> Option<Affine<i128>> {
        // The ranges of other operands follow from their parts, and would be computed again at each level.
        let is_call = matches!(self.kernel.expr(id), Expr::Call { .. });
        is_call.then(|| self.peek(id).exact().map(known))?
    }

    fn wrapped(&mut self, exact: Affine<i128>, _: BinaryOp, ty: Scalar) -> Option<Affine<i128>> {
        self.fits(&exact.form, ty).then_some(exact)
    }

    fn cast(&mut self, value: Affine<i128>, _: Scalar, to: Scalar) -> Option<Affine<i128>> {
        self.fits(&value.form, to).then_some(value)
    }

    /// After a failed check, the value is not the index.
    fn passes(&mut self, index: ExprId, len: ExprId) -> bool {
        let below = self.difference(index, len).is_some_and(|d| d.hi < 0);
        below && self.sum(index).is_some_and(|sum| self.bound(&sum).lo >= 0)
    }

    fn number(&self, value: &Affine<i128>) -> Option<i128> {
        self.bound(&value.form).exact()
    }

    fn quotient(
        &mut self,
        dividend: &Affine<i128>,
        divisor: i128,
        floors: bool,
        _: Scalar,
    ) -> Option<Affine<i128>> {
        let floors = floors || self.bound(&dividend.form).lo >= 0;
        let quotient = self.quotients.quotient(&dividend.form, divisor);
        quotient.filter(|_| floors).map(|form| dividend.with(form))
    }
}

fn known(value: i128) -> Affine<i128> {
    Affine::of(Form::constant(value))
}

impl Known for Analyser<'_> {
    fn of_atom(&self, atom: Atom) -> Interval {
        match atom {
            Atom::Id(builtin) => self.env.builtin(builtin),
            Atom::Local(local) => self.env.locals[local.index()],
            Atom::Quotient(number) => {
                let quotient = self.quotients.get(number);
                let dividend = quotient.dividend.range(|atom| self.of_atom(atom));
                Interval::new(
                    dividend.lo.div_euclid(quotient.divisor),
                    dividend.hi.div_euclid(quotient.divisor),
                )
            }
            Atom::Param(_) | Atom::Exchange(..) | Atom::Term(..) => {
                unreachable!("arguments are numbers in a launch")
            }
        }
    }

    fn each_bounded(&self, show: &mut dyn FnMut(&Sum, Interval)) {
        for (sum, range) in &self.env.sums {
            show(sum, *range);
        }
        for (form, range) in self.env.forms.iter().zip(&self.env.locals) {
            if let Some(form) = form {
                show(form, *range);
            }
        }
        for axis in Axis::ALL {
            let id = Builtin::GlobalIdx(axis);
            if let Some(global) = &self.globals[axis.index()] {
                show(global, self.env.builtin(id));
            }
        }
        for quotient in self.quotients.iter() {
            show(&quotient.remainder, Interval::new(0, quotient.divisor - 1));
        }
    }
}

impl Analyser<'_> {
    // Ranges.

    /// Tightens the known range of an expression's value by the bounds of sums.
    pub(super) fn refined(&mut self, id: ExprId, range: Interval) -> Interval {
        match self.sum(id) {
            Some(sum) => met(range, self.bound(&sum)),
            None => range,
        }
    }

    /// Tightens the range of an operator's result, before it wraps, by the bounds of sums.
    pub(super) fn refined_exact(
        &mut self,
        op: BinaryOp,
        lhs: ExprId,
        rhs: ExprId,
        exact: Interval,
    ) -> Interval {
        if !self.follow_sums {
            return exact;
        }
        let sum = result(self, op, lhs, rhs).map(|sum| sum.form);
        match sum.filter(is_short) {
            Some(sum) => met(exact, self.bound(&sum)),
            None => exact,
        }
    }

    /// The range of `lhs - rhs` as exact integers, if both are sums.
    pub(super) fn difference(&mut self, lhs: ExprId, rhs: ExprId) -> Option<Interval> {
        let difference = self.sum_of_difference(lhs, rhs)?;
        Some(self.bound(&difference))
    }

    fn sum_of_difference(&mut self, lhs: ExprId, rhs: ExprId) -> Option<Sum> {
        self.sum(lhs)?.minus(&self.sum(rhs)?).filter(is_short)
    }

    // Sums.

    /// An integer expression as a sum; `None` if it may wrap, or has another form.
    pub(super) fn sum(&mut self, id: ExprId) -> Option<Sum> {
        match self.follow_sums {
            true => read(self, id).map(|sum| sum.form),
            false => None,
        }
    }

    /// True if a sum is tracked, and within the range of a type.
    fn fits(&self, sum: &Sum, ty: Scalar) -> bool {
        let full = Interval::of(ty);
        let plain = sum.range(|atom| self.of_atom(atom));
        is_short(sum) && (plain.within(full) || self.bound(sum).within(full))
    }

    fn sum_of_local(&self, local: LocalId) -> Sum {
        if let Some(value) = self.env.locals[local.index()].exact() {
            return Sum::constant(value);
        }
        match &self.env.forms[local.index()] {
            Some(form) => Sum::clone(form),
            None => Sum::atom(Atom::Local(local)),
        }
    }

    fn sum_of_id(&self, builtin: Builtin) -> Sum {
        if let Some(value) = self.env.builtin(builtin).exact() {
            return Sum::constant(value);
        }
        if let Builtin::GlobalIdx(axis) = builtin
            && let Some(global) = &self.globals[axis.index()]
        {
            return global.clone();
        }
        Sum::atom(Atom::Id(builtin))
    }

    /// `block_idx * block_dim + thread_idx` along an axis, as a sum.
    pub(super) fn global_sum(&self, axis: Axis) -> Option<Sum> {
        let block = self.sum_of_id(Builtin::BlockIdx(axis));
        let thread = self.sum_of_id(Builtin::ThreadIdx(axis));
        let dim = self.env.builtin(Builtin::BlockDim(axis)).exact()?;
        thread.plus(&block, &dim)
    }

    // Facts.

    /// Refines the state by a relation of `lhs` and `rhs`, as limits of `lhs - rhs`.
    pub(super) fn assume_difference(&mut self, relation: Relation, lhs: ExprId, rhs: ExprId) {
        let Some(difference) = self.sum_of_difference(lhs, rhs) else {
            return;
        };
        let relation = match relation {
            Relation::Ne => match self.bound(&difference) {
                range if range.lo == 0 => Relation::Gt,
                range if range.hi == 0 => Relation::Lt,
                _ => return,
            },
            order_or_equal => order_or_equal,
        };
        if let Some(limits) = Limits::of(relation, difference) {
            self.env.bound_sum(&limits.form, limits.range());
        }
    }

    /// The sum of an expression, if it holds as long as the expression is in scope: it contains no mutable
    /// local.
    pub(super) fn lasting_sum(&mut self, id: ExprId) -> Option<Sum> {
        let sum = self.sum(id)?;
        let lasts = |local: LocalId| !self.kernel.locals[local.index()].mutable;
        self.locals_of(&sum, &mut |local| lasts(local))
            .then_some(sum)
    }

    /// Begins an iteration of a counted loop: the counter is at least `start` and below `end`.
    pub(super) fn count(&mut self, counter: LocalId, start: Option<&Sum>, end: Option<&Sum>) {
        self.forget_sums(counter);
        let counter = Sum::atom(Atom::Local(counter));
        if let Some(above) = start.and_then(|start| counter.minus(start)) {
            self.env.bound_sum(&above, Interval::at_least(0));
        }
        if let Some(below) = end.and_then(|end| counter.minus(end)) {
            self.env.bound_sum(&below, Interval::at_most(-1));
        }
    }

    /// Assigns a value to a local; `sum` is the value as a sum.
    pub(super) fn give(&mut self, local: LocalId, sum: Option<Sum>) {
        self.forget_sums(local);
        let own = |sum: &Sum| !self.locals_of(sum, &mut |of| of != local);
        let sum = sum.filter(|sum| sum.as_constant().is_none() && !own(sum));
        self.env.forms[local.index()] = sum.map(Rc::new);
    }

    /// Forgets everything about sums that contain the local.
    pub(super) fn forget_sums(&mut self, local: LocalId) {
        let mut env = std::mem::replace(&mut self.env, Env::empty());
        let free = |sum: &Sum| self.locals_of(sum, &mut |of| of != local);
        env.sums.retain(|(sum, _)| free(sum));
        for form in &mut env.forms {
            if form.as_ref().is_some_and(|form| !free(form)) {
                *form = None;
            }
        }
        env.forms[local.index()] = None;
        self.env = env;
    }

    /// True if all locals in a sum pass a test.
    fn locals_of(&self, sum: &Sum, test: &mut dyn FnMut(LocalId) -> bool) -> bool {
        sum.terms().iter().all(|(atom, _)| match *atom {
            Atom::Id(_) | Atom::Param(_) | Atom::Exchange(..) | Atom::Term(..) => true,
            Atom::Local(local) => test(local),
            Atom::Quotient(number) => self.locals_of(&self.quotients.get(number).dividend, test),
        })
    }
}

fn is_short(sum: &Sum) -> bool {
    sum.terms().len() <= MOST
}

/// The intersection of two ranges. If it is empty, the code is unreachable, and `range` stays.
fn met(range: Interval, other: Interval) -> Interval {
    let met = range.meet(other);
    if met.is_empty() { range } else { met }
}

#[cfg(test)]
mod soundness;
#[cfg(test)]
mod tests;
