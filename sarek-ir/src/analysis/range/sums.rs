//! A relational domain: bounds of sums. `first + tx < n` says little about `first` and `tx`, but much about
//! `row * n + first + tx`.
//!
//! An integer expression that cannot overflow is a sum of atoms: ids, locals, and quotients by constants.
//! Extents, lengths and arguments are numbers here, so that products with them are multiples. `global_idx` is
//! `block_idx * block_dim + thread_idx`, and `a % d` is `a - a / d * d`.
//!
//! A guard that compares two sums bounds their difference. A local equals the sum that was assigned to it,
//! until a local in that sum is assigned. Meanwhile, the local's range bounds the sum. The range of a sum
//! follows from its atoms. It also follows from the bounded sums of which multiples can be subtracted, and from
//! the range of the remainder. The tightest result counts.

use std::rc::Rc;

use super::Analyser;
use super::env::Env;
use super::interval::Interval;
use super::sum::{Atom, Meaning, Sum};
use crate::{Axis, BinaryOp, Builtin, DivideOp, Expr, ExprId, LocalId, Scalar};

/// The largest number of remainders that are examined for the range of one sum.
const REMAINDERS: usize = 64;

/// A quotient, rounded down.
pub(super) struct Quotient {
    dividend: Sum,
    /// Positive.
    divisor: i64,
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
        match self.combined(op, lhs, rhs) {
            Some(sum) => met(exact, self.bound(&sum)),
            None => exact,
        }
    }

    /// The range of `lhs - rhs` as exact integers, if both are sums.
    pub(super) fn difference(&mut self, lhs: ExprId, rhs: ExprId) -> Option<Interval> {
        let difference = self.sum(lhs)?.plus(&self.sum(rhs)?, -1)?;
        Some(self.bound(&difference))
    }

    fn bound(&self, sum: &Sum) -> Interval {
        self.bound_within(sum, &mut Vec::new())
    }

    /// The range of a sum. `seen` caches the remainders already examined, because many paths lead to the same
    /// one.
    fn bound_within(&self, sum: &Sum, seen: &mut Vec<(Sum, Interval)>) -> Interval {
        let plain = sum.range(|atom| self.of_atom(atom));
        if sum.terms().is_empty() {
            return plain;
        }
        if let Some((_, range)) = seen.iter().find(|(known, _)| known == sum) {
            return *range;
        }
        let mut range = plain;
        self.each_bounded(&mut |part, of| {
            for (by, rest) in sum.without(part) {
                if seen.len() < REMAINDERS {
                    let rest = self.bound_within(&rest, seen);
                    let whole = of.times(Interval::exactly(by.into())).plus(rest);
                    range = range.meet(whole);
                }
            }
        });
        let range = if range.is_empty() { plain } else { range };
        seen.push((sum.clone(), range));
        range
    }

    /// Calls `show` for every sum with a bound that does not follow from its atoms.
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
        for (number, quotient) in self.quotients.iter().enumerate() {
            let whole = Sum::atom(Atom::quotient(number)).times(quotient.divisor.into());
            let remainder = whole.and_then(|whole| quotient.dividend.plus(&whole, -1));
            if let Some(remainder) = remainder {
                show(
                    &remainder,
                    Interval::new(0, i128::from(quotient.divisor) - 1),
                );
            }
        }
    }

    fn of_atom(&self, atom: Atom) -> Interval {
        match atom.meaning() {
            Meaning::Id(builtin) => self.env.builtin(builtin),
            Meaning::Local(local) => self.env.locals[local.index()],
            Meaning::Quotient(number) => {
                let Quotient { dividend, divisor } = &self.quotients[number];
                let dividend = dividend.range(|atom| self.of_atom(atom));
                let divisor = i128::from(*divisor);
                Interval::new(
                    dividend.lo.div_euclid(divisor),
                    dividend.hi.div_euclid(divisor),
                )
            }
        }
    }

    // Sums.

    /// An integer expression as a sum; `None` if it may wrap, or has another form.
    pub(super) fn sum(&mut self, id: ExprId) -> Option<Sum> {
        let ty = self.kernel.scalar_of(id);
        if !ty.is_int() || !self.follow_sums {
            return None;
        }
        match self.kernel.expr(id) {
            Expr::Literal(value) => Some(Sum::constant(value.as_int()?)),
            Expr::Param(_) | Expr::Len(_) => {
                let value = self.peek(id).exact()?;
                Some(Sum::constant(value))
            }
            Expr::Local(local) => Some(self.sum_of_local(local)),
            Expr::Builtin(builtin) => Some(self.sum_of_id(builtin)),
            Expr::Binary { op, lhs, rhs } => {
                let sum = self.combined(op, lhs, rhs)?;
                self.fits(sum, ty)
            }
            Expr::Divide { op, lhs, rhs, .. } => self.divided(op, lhs, rhs),
            Expr::Cast { arg } => {
                let sum = self.sum(arg)?;
                self.fits(sum, ty)
            }
            Expr::Bounded { index, len, .. } => {
                // After a failed check, the value is not the index.
                let inside = self.difference(index, len)?.hi < 0;
                let sum = self.sum(index).filter(|_| inside)?;
                (self.bound(&sum).lo >= 0).then_some(sum)
            }
            Expr::Call { .. } => self.peek(id).exact().map(Sum::constant),
            Expr::Link(_)
            | Expr::Load { .. }
            | Expr::Unary { .. }
            | Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Compound(_)
            | Expr::Faulted => None,
        }
    }

    fn fits(&self, sum: Sum, ty: Scalar) -> Option<Sum> {
        let full = Interval::of(ty);
        let plain = sum.range(|atom| self.of_atom(atom));
        (plain.within(full) || self.bound(&sum).within(full)).then_some(sum)
    }

    fn sum_of_local(&self, local: LocalId) -> Sum {
        if let Some(value) = self.env.locals[local.index()].exact() {
            return Sum::constant(value);
        }
        match &self.env.forms[local.index()] {
            Some(form) => Sum::clone(form),
            None => Sum::atom(Atom::local(local)),
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
        Sum::atom(Atom::id(builtin))
    }

    /// `block_idx * block_dim + thread_idx` along an axis, as a sum.
    pub(super) fn global_sum(&self, axis: Axis) -> Option<Sum> {
        let block = self.sum_of_id(Builtin::BlockIdx(axis));
        let thread = self.sum_of_id(Builtin::ThreadIdx(axis));
        let dim = self.env.builtin(Builtin::BlockDim(axis)).exact()?;
        block.times(dim)?.plus(&thread, 1)
    }

    /// The result of an operator on two sums, before it wraps.
    fn combined(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId) -> Option<Sum> {
        match op {
            BinaryOp::Add => self.sum(lhs)?.plus(&self.sum(rhs)?, 1),
            BinaryOp::Sub => self.sum(lhs)?.plus(&self.sum(rhs)?, -1),
            BinaryOp::Mul => {
                let (l, r) = (self.sum(lhs)?, self.sum(rhs)?);
                match (l.as_constant(), r.as_constant()) {
                    (Some(by), _) => r.times(by),
                    (None, Some(by)) => l.times(by),
                    (None, None) => None,
                }
            }
            BinaryOp::Shl => {
                let by = self.shift_count(lhs, rhs)?;
                self.sum(lhs)?.times(1 << by)
            }
            BinaryOp::Shr => {
                let by = self.shift_count(lhs, rhs)?;
                let dividend = self.sum(lhs)?;
                self.quotient(dividend, 1 << by)
            }
            // A mask of low bits is a remainder.
            BinaryOp::BitAnd => {
                let mask = self.sum(rhs)?.as_constant()?;
                let divisor = mask.checked_add(1).filter(|d| d.count_ones() == 1)?;
                let dividend = self.sum(lhs)?;
                self.remainder(dividend, divisor)
            }
            BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => None,
        }
    }

    /// A constant shift count below the width.
    fn shift_count(&mut self, shifted: ExprId, count: ExprId) -> Option<u32> {
        let width = self.kernel.scalar_of(shifted).bits();
        let count = self.peek(count).exact()?;
        u32::try_from(count).ok().filter(|by| *by < width.min(62))
    }

    fn divided(&mut self, op: DivideOp, lhs: ExprId, rhs: ExprId) -> Option<Sum> {
        let divisor = self.sum(rhs)?.as_constant().filter(|d| *d > 0)?;
        let dividend = self.sum(lhs)?;
        let rounds_down = match op {
            DivideOp::Div | DivideOp::Rem => self.bound(&dividend).lo >= 0,
            DivideOp::DivEuclid | DivideOp::RemEuclid => true,
        };
        match op {
            _ if !rounds_down => None,
            DivideOp::Div | DivideOp::DivEuclid => self.quotient(dividend, divisor),
            DivideOp::Rem | DivideOp::RemEuclid => self.remainder(dividend, divisor),
        }
    }

    /// `dividend / divisor`, rounded down.
    fn quotient(&mut self, dividend: Sum, divisor: i128) -> Option<Sum> {
        if let Some(value) = dividend.as_constant() {
            return Some(Sum::constant(value.div_euclid(divisor)));
        }
        let divisor = i64::try_from(divisor).ok()?;
        let known = self.quotients.iter();
        let mut known = known.map(|q| q.dividend == dividend && q.divisor == divisor);
        let number = known.position(|same| same).unwrap_or_else(|| {
            self.quotients.push(Quotient { dividend, divisor });
            self.quotients.len() - 1
        });
        Some(Sum::atom(Atom::quotient(number)))
    }

    fn remainder(&mut self, dividend: Sum, divisor: i128) -> Option<Sum> {
        let whole = self.quotient(dividend.clone(), divisor)?.times(divisor)?;
        dividend.plus(&whole, -1)
    }

    // Facts.

    /// Refines the state by a comparison of `lhs` and `rhs`, as a bound of `lhs - rhs`.
    pub(super) fn assume_difference(&mut self, op: BinaryOp, lhs: ExprId, rhs: ExprId) {
        let difference = match (self.sum(lhs), self.sum(rhs)) {
            (Some(l), Some(r)) => l.plus(&r, -1),
            (None, _) | (_, None) => None,
        };
        let Some(difference) = difference else { return };
        let range = match op {
            BinaryOp::Lt => Interval::at_most(-1),
            BinaryOp::Le => Interval::at_most(0),
            BinaryOp::Gt => Interval::at_least(1),
            BinaryOp::Ge => Interval::at_least(0),
            BinaryOp::Eq => Interval::exactly(0),
            BinaryOp::Ne => match self.bound(&difference) {
                range if range.lo == 0 => Interval::at_least(1),
                range if range.hi == 0 => Interval::at_most(-1),
                _ => return,
            },
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Shr => return,
        };
        self.env.bound_sum(&difference, range);
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
        let counter = Sum::atom(Atom::local(counter));
        if let Some(above) = start.and_then(|start| counter.plus(start, -1)) {
            self.env.bound_sum(&above, Interval::at_least(0));
        }
        if let Some(below) = end.and_then(|end| counter.plus(end, -1)) {
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
        sum.terms().iter().all(|(atom, _)| match atom.meaning() {
            Meaning::Id(_) => true,
            Meaning::Local(local) => test(local),
            Meaning::Quotient(number) => self.locals_of(&self.quotients[number].dividend, test),
        })
    }
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
