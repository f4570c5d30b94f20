//! Locals that each turn of a loop moves on by the same step, such as a cursor beside the counter:
//!
//! ```text
//! let mut at = start;
//! for r in 0..h {
//!     for c in 0..w {
//!         …;
//!         at += 1;
//!     }
//! }
//! ```
//!
//! At the head of a turn of the outer loop `at = start + w · r`, and at one of the inner loop `at = start + w · r + c`.
//! A turn's step is the sum of the steps of its statements. A loop over a range from 0 in it adds its step as many times as
//! the range has numbers.

use std::collections::BTreeMap;

use super::collect::Collector;
use super::induction::{Assigned, Change, Head, Kind};
use crate::analysis::linear::{Affine, Form, term_form};
use crate::facts::Flow;
use crate::{Block, Expr, ExprId, LabelId, LocalId, Stmt, StmtId};

/// The counter of a loop over a range.
pub(super) struct Counter {
    /// The value in the first turn.
    start: Affine,
    /// The number of turns without a jump out of the loop, if it is known.
    total: Option<Affine>,
}

impl Collector<'_> {
    /// The counter of a loop over `start..end`. The locals have the values of before the loop.
    pub(super) fn counter(&mut self, [start, end]: [ExprId; 2]) -> Option<Box<Counter>> {
        if !self.is_of_values() {
            return None;
        }
        let total = self.numbers_in([start, end]);
        Some(Box::new(Counter {
            start: self.exact_value(start)?,
            total,
        }))
    }

    /// The form `start + step · turns` of a local to which each turn of the loop adds the same step.
    pub(super) fn advanced(
        &mut self,
        (local, start): (LocalId, &Affine),
        values: &[ExprId],
        (head, left): (&Head, bool),
        assigned: &Assigned,
        turns: &mut BTreeMap<bool, Affine>,
    ) -> Option<Affine> {
        if !self.ends_turns(head, left) {
            return None;
        }
        let (step, assignments) = self.step_of(local, head.body, assigned)?;
        if assignments != values.len() {
            return None;
        }
        let in_common = self.values()?.are_in_common(local);
        let counted = self.turns_of(head, left);
        let counted = counted.filter(|turns| !in_common || turns.form.uniform().is_some());
        let turns = match counted {
            Some(turns) => turns,
            None => turns
                .entry(in_common)
                .or_insert_with(|| {
                    let number = self.resolver.terms().any();
                    Affine::of(term_form(number, true, in_common))
                })
                .clone(),
        };
        let sum = self.repeated_step(&step, &turns)?;
        let mut form = start.plus(&sum, 1)?;
        form.needs_exact = false;
        Some(form)
    }

    /// The number of turns before this one by the loop's counter or, if `left` is set, that of all turns.
    fn turns_of(&self, head: &Head, left: bool) -> Option<Affine> {
        let Kind::Over(local, _, Some(counter)) = &head.kind else {
            return None;
        };
        match left {
            true => counter.total.clone(),
            false => self.values()?.get(*local)?.plus(&counter.start, -1),
        }
    }

    /// The sum of the steps that a block adds to a local, and the number of assignments that add them. `None` if the sum
    /// may differ between turns.
    fn step_of(
        &mut self,
        local: LocalId,
        block: Block,
        assigned: &Assigned,
    ) -> Option<(Affine, usize)> {
        let kernel = self.kernel;
        let (mut sum, mut assignments) = (Affine::of(Form::constant(0)), 0);
        for id in kernel.block(block) {
            let (step, count) = match kernel.stmt(id) {
                Stmt::Assign { local: to, value } if to == local => {
                    let change = self.change(local, value, assigned)?;
                    (self.added(change)?, 1)
                }
                Stmt::For {
                    label,
                    start,
                    end,
                    body,
                    ..
                } => {
                    let (step, count) = self.step_of(local, body, assigned)?;
                    if count == 0 {
                        continue;
                    }
                    let fixed = [start, end].iter().all(|e| self.is_fixed(*e, assigned));
                    if !fixed || self.jumps(label, body) {
                        return None;
                    }
                    let total = self.numbers_in([start, end])?;
                    (self.repeated_step(&step, &total)?, count)
                }
                _ => continue,
            };
            sum = sum.plus(&step, 1)?;
            assignments += count;
        }
        Some((sum, assignments))
    }

    /// True if a statement in a loop's body ends a turn or the loop early.
    fn jumps(&self, label: LabelId, body: Block) -> bool {
        let kernel = self.kernel;
        let jumps = |id: StmtId| match kernel.stmt(id).facts().flow {
            Flow::Break(to) | Flow::Continue(to) => to == label,
            Flow::Return | Flow::Next | Flow::Branch | Flow::Loop(_) | Flow::Panic => false,
        };
        kernel.stmts_in(kernel.block(body)).any(jumps)
    }

    /// The step of an assignment that adds or subtracts.
    pub(super) fn added(&mut self, change: Change) -> Option<Affine> {
        match change {
            Change::Add(by) => self.resolver.affine(by),
            Change::Subtract(by) => self.resolver.affine(by)?.negated(),
            Change::Multiply | Change::Divide => None,
        }
    }

    /// A step, taken a number of times.
    pub(super) fn repeated_step(&mut self, step: &Affine, times: &Affine) -> Option<Affine> {
        match (step.form.uniform(), times.form.uniform()) {
            (Some(by), _) => Some(times.with(times.form.times(by)?).with_conditions(step)),
            (None, Some(by)) => Some(step.with(step.form.times(by)?).with_conditions(times)),
            (None, None) => self.resolver.product_term(step, times, false),
        }
    }

    /// The number of numbers in `start..end`, if the range is one of literals or begins at 0.
    fn numbers_in(&mut self, [start, end]: [ExprId; 2]) -> Option<Affine> {
        let first = match self.kernel.expr(start) {
            Expr::Literal(value) => value.as_int()?,
            _ => return None,
        };
        if let Expr::Literal(last) = self.kernel.expr(end) {
            let count = last.as_int()?.checked_sub(first)?.max(0);
            return Some(Affine::of(Form::constant(count)));
        }
        let ty = self.kernel.type_of(end).as_scalar()?;
        let is_natural = ty.is_int() && !ty.is_signed();
        match first == 0 && is_natural {
            true => self.exact_value(end),
            false => None,
        }
    }

    /// The form of a value, under the condition that it does not overflow.
    fn exact_value(&mut self, of: ExprId) -> Option<Affine> {
        let mut value = self.resolver.affine(of)?;
        if !self.resolver.is_plain(of) {
            value.exact.push(of);
        }
        Some(value)
    }
}
