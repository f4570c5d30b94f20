//! The values of locals around loops and branches, for the resolver of values.
//!
//! At the head of a loop, a local that the body assigns has any value of its type, with these exceptions:
//!
//! - If each turn adds the same step, the local is `start + step · turns` ([`super::advance`]). All such locals have the
//!   number of turns in common.
//! - If each assignment adds the same step, but not each turn makes one, the local is `start + step · times`.
//! - If each turn swaps two locals that the threads of a block have in common, they have their two values before the
//!   loop, in either order.
//! - If each turn subtracts a local that the threads of a block have in common from the same value `k`, it is `start` or
//!   `k - start`.
//! - If it begins as a power of two, and each assignment doubles or halves it, it stays one, or becomes 0.
//! - If the values in all turns are known to the compiler, they are told apart ([`super::turns`]).
//! - If no assignment makes it smaller, the local is at least its value before the loop; likewise for larger.

use std::collections::BTreeMap;

use super::advance::Counter;
use super::collect::Collector;
use crate::analysis::linear::{
    Affine, Fact, Form, Relation, Values, field_of_local, fields_of, term_form,
};
use crate::analysis::local_uses::{self, LocalUse};
use crate::facts::Flow;
use crate::{BinaryOp, Block, DivideOp, Expr, ExprId, Kernel, LabelId, LocalId, Stmt, StmtId};

/// The loop whose head the walk enters.
pub(super) struct Head {
    pub(super) label: Option<LabelId>,
    pub(super) body: Block,
    /// The values before the loop.
    pub(super) before: Values,
    pub(super) kind: Kind,
}

/// The kind of a loop.
pub(super) enum Kind {
    /// A loop with or without a condition.
    While(Option<ExprId>),
    /// A loop over a range. The counter is known to the resolver of values.
    Over(LocalId, [ExprId; 2], Option<Box<Counter>>),
    /// The calls of a closure.
    Calls,
}

impl Kind {
    pub(super) fn counter(&self) -> Option<LocalId> {
        match *self {
            Kind::Over(local, ..) => Some(local),
            Kind::While(_) | Kind::Calls => None,
        }
    }
}

/// A change of a local by one assignment.
#[derive(Clone, Copy)]
pub(super) enum Change {
    /// Adds a value that the loop does not change.
    Add(ExprId),
    /// Subtracts a value that the loop does not change.
    Subtract(ExprId),
    /// Multiplies by a positive number.
    Multiply,
    /// Divides by a positive number.
    Divide,
}

impl Collector<'_> {
    /// Gives the locals that a loop assigns their values at its head or, if `left` is set, where the loop is left.
    pub(super) fn at_head(&mut self, head: &Head, left: bool) {
        let mut assigned = self.assigned(head.body);
        for local in assigned.keys() {
            self.renew(*local);
        }
        // A step may be a local that each turn binds again, to the same value.
        for local in assigned.keys() {
            let init = self.inner(*local, &assigned);
            if init.is_some_and(|init| self.is_fixed(init, &assigned)) {
                self.forget(*local);
            }
        }
        // The counter has its value already, and another one in each turn.
        assigned.extend(head.kind.counter().map(|counter| (counter, None)));
        self.swapped(&assigned, head, left);
        let flipped = self.flipped(&assigned, head, left);
        let (mut turns, mut open) = (BTreeMap::new(), vec![]);
        for (local, values) in assigned
            .iter()
            .filter(|(local, _)| !flipped.contains(local))
        {
            let changes = values.as_ref().and_then(|values| {
                let changes = values
                    .iter()
                    .map(|value| self.change(*local, *value, &assigned));
                Some((values.as_slice(), changes.collect::<Option<Vec<Change>>>()?))
            });
            let (Some((values, changes)), Some(start)) = (changes, head.before.get(*local)) else {
                continue;
            };
            let of = (*local, &start);
            let advanced = self.advanced(of, values, (head, left), &assigned, &mut turns);
            match advanced.or_else(|| self.stepped(of, &changes)) {
                Some(mut form) => {
                    form.exact.extend(values);
                    self.set(*local, form);
                }
                None => {
                    self.one_way(*local, &start, &changes, values);
                    self.power_of_two(*local, &start, values);
                    open.push(*local);
                }
            }
        }
        self.at_turns(&open, head, left, &assigned);
        self.turns = turns.remove(&false).filter(|_| !left);
    }

    /// Moves the counter of a loop on by 1.
    pub(super) fn count_on(&mut self, counter: LocalId) {
        let now = self.values().and_then(|values| values.get(counter));
        let next = now.and_then(|now| now.plus(&Affine::of(Form::constant(1)), 1));
        match next {
            Some(next) => self.set(counter, next),
            None => self.renew(counter),
        }
    }

    /// The form `start + step · times`, if every change adds the same step.
    fn stepped(
        &mut self,
        (local, start): (LocalId, &Affine),
        changes: &[Change],
    ) -> Option<Affine> {
        let mut step: Option<Affine> = None;
        for change in changes {
            let by = self.added(*change)?;
            if step.as_ref().is_some_and(|step| step.form != by.form) {
                return None;
            }
            step = Some(by);
        }
        let (step, in_common) = (step?, self.values()?.are_in_common(local));
        let times = term_form(self.resolver.terms().any(), true, in_common);
        let sum = self.repeated_step(&step, &Affine::of(times))?;
        let mut form = start.plus(&sum, 1)?;
        form.needs_exact = false;
        Some(form)
    }

    /// Gives pairs of locals that each turn swaps the values `a + p · (b - a)` and `b + p · (a - b)`, where `p` is 0 or 1.
    fn swapped(&mut self, assigned: &Assigned, head: &Head, left: bool) {
        let copies = self.copies(head.body);
        for (&one, &other) in &copies {
            let is_pair = one < other && copies.get(&other) == Some(&one);
            let once = |local: LocalId| {
                let values = assigned.get(&local).and_then(|values| values.as_ref());
                values.is_some_and(|values| values.len() == 1)
            };
            if !is_pair || !once(one) || !once(other) {
                continue;
            }
            let both = [one, other].map(|local| head.before.get(local));
            let ([Some(a), Some(b)], true, true) = (
                both,
                self.each_turn(one, head, left),
                self.each_turn(other, head, left),
            ) else {
                continue;
            };
            let common = [one, other].map(|l| self.values().is_some_and(|v| v.are_in_common(l)));
            let (Some(step), Some(back)) = (b.plus(&a, -1), a.plus(&b, -1)) else {
                continue;
            };
            if common != [true; 2] || step.form.uniform().is_none() {
                continue;
            }
            let number = self.resolver.terms().any();
            let phase = term_form(number, true, true);
            self.resolver
                .limit(number, &phase, &Form::constant(1), Relation::Le);
            let values = phase.uniform().and_then(|phase| {
                let one = a.plus(&step.with(step.form.times(phase)?), 1)?;
                let other = b.plus(&back.with(back.form.times(phase)?), 1)?;
                Some([one, other])
            });
            if let Some(values) = values {
                for (local, value) in [one, other].into_iter().zip(values) {
                    self.set(local, value);
                }
            }
        }
    }

    /// Gives locals that each turn subtracts from a value `k` the values `start + p · (k - 2 · start)`, where `p` is 0 or 1.
    /// Returns these locals.
    fn flipped(&mut self, assigned: &Assigned, head: &Head, left: bool) -> Vec<LocalId> {
        let mut found = vec![];
        for (&local, values) in assigned {
            let Some([value]) = values.as_deref() else {
                continue;
            };
            let in_common = self
                .values()
                .is_some_and(|values| values.are_in_common(local));
            let start = head
                .before
                .get(local)
                .filter(|_| in_common && self.each_turn(local, head, left));
            let Some(start) = start.filter(|start| start.form.uniform().is_some()) else {
                continue;
            };
            let whole = self.mirror(local, *value, (&start, head), assigned);
            let step = whole.and_then(|whole| whole.plus(&start, -2));
            if let Some(step) = step.filter(|step| step.form.uniform().is_some()) {
                found.push((local, *value, start, step));
            }
        }
        if found.is_empty() {
            return vec![];
        }
        let number = self.resolver.terms().any();
        let phase = term_form(number, true, true);
        self.resolver
            .limit(number, &phase, &Form::constant(1), Relation::Le);
        let mut done = vec![];
        for (local, value, start, step) in found {
            let steps = phase.uniform().and_then(|phase| step.form.times(phase));
            if let Some(mut now) = steps.and_then(|steps| start.plus(&step.with(steps), 1)) {
                now.exact.push(value);
                self.set(local, now);
                done.push(local);
            }
        }
        done
    }

    /// The sum of a local's values before and after an assignment, if a loop does not change that sum.
    fn mirror(
        &mut self,
        local: LocalId,
        value: ExprId,
        (start, head): (&Affine, &Head),
        assigned: &Assigned,
    ) -> Option<Affine> {
        let kernel = self.kernel;
        let itself = |e: ExprId| kernel.expr(e) == Expr::Local(local);
        match kernel.expr(value) {
            Expr::Binary {
                op: BinaryOp::Sub,
                lhs,
                rhs,
            } if itself(rhs) && self.is_fixed(lhs, assigned) => self.resolver.affine(lhs),
            Expr::Binary {
                op: BinaryOp::BitXor,
                lhs,
                rhs,
            } if itself(lhs) => {
                let is_bit = matches!(start.form.as_constant(), Some(0 | 1));
                let flips = match kernel.expr(rhs) {
                    Expr::Literal(by) => by.as_int() == Some(1),
                    _ => false,
                };
                (is_bit && flips).then(|| Affine::of(Form::constant(1)))
            }
            // A name for the value, given in this turn.
            Expr::Local(name) if !kernel.locals[name.index()].mutable => {
                let mut lets = kernel
                    .block(head.body)
                    .filter_map(|id| match kernel.stmt(id) {
                        Stmt::Let { local, init } if local == name => init,
                        _ => None,
                    });
                let init = lets.next()?;
                self.mirror(local, init, (start, head), assigned)
            }
            _ => None,
        }
    }

    /// Records that a local in common is a power of two, or 0, if it began as one and is doubled or halved.
    fn power_of_two(&mut self, local: LocalId, start: &Affine, values: &[ExprId]) {
        let kernel = self.kernel;
        let literal = |e: ExprId| match kernel.expr(e) {
            Expr::Literal(value) => value.as_int(),
            _ => None,
        };
        let is_power = |value: i128| value > 0 && value.count_ones() == 1;
        let keeps = |value: &ExprId| match kernel.expr(*value) {
            Expr::Binary {
                op: BinaryOp::Mul,
                lhs,
                rhs,
            } => [lhs, rhs].iter().any(|e| literal(*e).is_some_and(is_power)),
            Expr::Binary {
                op: BinaryOp::Shl | BinaryOp::Shr,
                ..
            } => true,
            Expr::Divide { rhs, .. } => literal(rhs).is_some_and(is_power),
            _ => false,
        };
        let begins = match start.form.as_constant() {
            Some(number) => is_power(number).then(Vec::new),
            None => self.resolver.is_power_of_two(&start.form),
        };
        if let Some(begins) = begins
            && values.iter().all(keeps)
            && let Some(now) = self.values().and_then(|values| values.get(local))
        {
            let parts = start.exact.iter().chain(values).copied();
            let exact = parts.chain(begins).collect();
            self.resolver.state_power_of_two(&now.form, exact);
        }
    }

    /// The locals that a turn gives the value that another local has at its head.
    fn copies(&self, body: Block) -> BTreeMap<LocalId, LocalId> {
        let kernel = self.kernel;
        // None: the local has another value than one of the head.
        let mut now: BTreeMap<LocalId, Option<LocalId>> = BTreeMap::new();
        let mut fields = BTreeMap::new();
        let mut assigned = vec![];
        for id in kernel.block(body) {
            let (local, value) = match kernel.stmt(id) {
                Stmt::Let {
                    local,
                    init: Some(value),
                } => (local, value),
                Stmt::Assign { local, value } => {
                    assigned.push(local);
                    (local, value)
                }
                _ => continue,
            };
            let copied = |now: &BTreeMap<LocalId, Option<LocalId>>, value: ExprId| match kernel
                .expr(value)
            {
                Expr::Local(of) => now.get(&of).copied().unwrap_or(Some(of)),
                _ => None,
            };
            for &(name, field) in fields_of(kernel, value) {
                fields.insert((local, name), copied(&now, field));
            }
            let field = field_of_local(kernel, value);
            let of = match field {
                Some(field) => fields.get(&field).copied().flatten(),
                None => copied(&now, value),
            };
            now.insert(local, of);
        }
        let copies = assigned.into_iter();
        copies
            .filter_map(|local| Some((local, now.get(&local).copied()??)))
            .collect()
    }

    /// True if every way through the loop's body makes the only assignment of the local once. If `left` is set, the ways
    /// out of the loop count, too.
    fn each_turn(&self, local: LocalId, head: &Head, left: bool) -> bool {
        let kernel = self.kernel;
        let assigns = |id: StmtId| kernel.stmt(id).facts().assigns == Some(local);
        kernel.block(head.body).any(assigns) && self.ends_turns(head, left)
    }

    /// True if every turn of the loop reaches the end of its body. If `left` is set, the last one does, too.
    pub(super) fn ends_turns(&self, head: &Head, left: bool) -> bool {
        let kernel = self.kernel;
        let continues = |id: StmtId| match kernel.stmt(id).facts().flow {
            Flow::Continue(label) => Some(label) == head.label,
            Flow::Break(label) => left && Some(label) == head.label,
            // A closure has no label.
            Flow::Return => head.label.is_none(),
            Flow::Next | Flow::Branch | Flow::Loop(_) | Flow::Panic => false,
        };
        !kernel.stmts_in(kernel.block(head.body)).any(continues)
    }

    /// Adds the fact that the local has only grown since the loop began, or only shrunk.
    fn one_way(&mut self, local: LocalId, start: &Affine, changes: &[Change], values: &[ExprId]) {
        let unsigned = |e: ExprId| {
            let ty = self.kernel.type_of(e).as_scalar();
            ty.is_some_and(|ty| ty.is_int() && !ty.is_signed())
        };
        let grows = |change: &Change| match *change {
            Change::Add(by) => unsigned(by),
            Change::Multiply => values.iter().all(|value| unsigned(*value)),
            Change::Subtract(_) | Change::Divide => false,
        };
        let shrinks = |change: &Change| match *change {
            Change::Subtract(by) => unsigned(by),
            Change::Divide => values.iter().all(|value| unsigned(*value)),
            Change::Add(_) | Change::Multiply => false,
        };
        let relation = match (changes.iter().all(grows), changes.iter().all(shrinks)) {
            (true, _) => Relation::Ge,
            (false, true) => Relation::Le,
            (false, false) => return,
        };
        let Some(now) = self.values().and_then(|values| values.get(local)) else {
            return;
        };
        let fact = Fact::of(relation, &now.form, &start.form).map(|fact| fact.under(start));
        if let Some(mut fact) = fact {
            fact.exact.extend(values);
            self.resolver.add_fact(&now.form, fact);
        }
    }

    /// The change of a local by an assigned value; `None` if it is of no known kind.
    pub(super) fn change(
        &self,
        local: LocalId,
        value: ExprId,
        assigned: &Assigned,
    ) -> Option<Change> {
        let kernel = self.kernel;
        let itself = |e: ExprId| kernel.expr(e) == Expr::Local(local);
        let positive = |e: ExprId| is_positive(kernel, e);
        let fixed = |e: ExprId| {
            let is_fixed = self.is_fixed(e, assigned);
            is_fixed.then(|| self.bound_outside(e, assigned))
        };
        match kernel.expr(value) {
            Expr::Binary { op, lhs, rhs } => match op {
                BinaryOp::Add if itself(lhs) => fixed(rhs).map(Change::Add),
                BinaryOp::Add if itself(rhs) => fixed(lhs).map(Change::Add),
                BinaryOp::Sub if itself(lhs) => fixed(rhs).map(Change::Subtract),
                BinaryOp::Mul if itself(lhs) && positive(rhs) => Some(Change::Multiply),
                BinaryOp::Mul if itself(rhs) && positive(lhs) => Some(Change::Multiply),
                BinaryOp::Shl if itself(lhs) => Some(Change::Multiply),
                BinaryOp::Shr if itself(lhs) => Some(Change::Divide),
                _ => None,
            },
            Expr::Divide {
                op: DivideOp::Div | DivideOp::DivEuclid,
                lhs,
                rhs,
                ..
            } if itself(lhs) && positive(rhs) => Some(Change::Divide),
            _ => None,
        }
    }

    /// True if an expression has the same value in each turn of a loop that assigns these locals, and never faults.
    pub(super) fn is_fixed(&self, id: ExprId, assigned: &Assigned) -> bool {
        let kernel = self.kernel;
        let here = match kernel.expr(id) {
            Expr::Local(local) => match self.inner(local, assigned) {
                Some(init) => return self.is_fixed(init, assigned),
                None => !assigned.contains_key(&local),
            },
            Expr::Divide { rhs, .. } => is_positive(kernel, rhs),
            Expr::Param(_) => self.resolver.is_constant(id),
            Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Len(_)
            | Expr::Builtin(_)
            | Expr::Unary { .. }
            | Expr::Binary { .. }
            | Expr::Cast { .. } => true,
            Expr::Bounded { .. }
            | Expr::Load { .. }
            | Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Call { .. }
            | Expr::Compound(_)
            | Expr::Faulted => false,
        };
        here && kernel
            .operands(id)
            .iter()
            .all(|e| self.is_fixed(*e, assigned))
    }

    /// The initialiser of an immutable local that each turn of a loop binds again, to the same value.
    fn inner(&self, local: LocalId, assigned: &Assigned) -> Option<ExprId> {
        let is_inner = assigned.contains_key(&local) && !self.kernel.locals[local.index()].mutable;
        let init = is_inner.then(|| self.resolver.init(local))?;
        init.filter(|init| self.resolver.is_constant(*init))
    }

    /// The expression itself or, for a local that each turn of a loop binds again, its initialiser.
    fn bound_outside(&self, id: ExprId, assigned: &Assigned) -> ExprId {
        let inner = match self.kernel.expr(id) {
            Expr::Local(local) => self.inner(local, assigned),
            _ => None,
        };
        inner.map_or(id, |init| self.bound_outside(init, assigned))
    }

    /// The locals that a loop's body may change, each with the assigned values if there are no other changes.
    fn assigned(&self, body: Block) -> Assigned {
        let kernel = self.kernel;
        let mut found = Assigned::new();
        for id in kernel.stmts_in(kernel.block(body)) {
            if let Stmt::Assign { local, value } = kernel.stmt(id) {
                let values = found.entry(local).or_insert_with(|| Some(vec![]));
                if let Some(values) = values {
                    values.push(value);
                }
                continue;
            }
            local_uses::itself(kernel, id, &mut |local, used| match used {
                LocalUse::Write | LocalUse::Declare => _ = found.insert(local, None),
                LocalUse::Read => {}
            });
        }
        found
    }
}

/// True for a positive number.
fn is_positive(kernel: &Kernel, id: ExprId) -> bool {
    match kernel.expr(id) {
        Expr::Literal(value) => value.as_int().is_some_and(|v| v > 0),
        _ => false,
    }
}

/// Locals that a loop assigns.
pub(super) type Assigned = BTreeMap<LocalId, Option<Vec<ExprId>>>;
