//! Loops that the compiler can run: the values of some locals at the head of each turn are numbers.
//!
//! ```text
//! let (mut gap, mut busy) = (1, 32);
//! while busy > 0 {
//!     …;
//!     gap *= 2;
//!     busy /= 2;
//! }
//! ```
//!
//! The turns have the values `(1, 32)`, `(2, 16)`, … `(32, 1)`, and the loop leaves `(64, 0)`. A proof may examine each
//! turn by itself. The values of all these locals are then those of one turn.
//!
//! A local takes part if it begins as a number, if it is assigned by statements of the loop's body itself, and if only
//! numbers and other such locals decide its values. They also have to decide how often the loop turns.

use std::collections::{BTreeMap, BTreeSet};

use super::collect::Collector;
use super::induction::{Assigned, Head, Kind};
use crate::analysis::linear::{Affine, Fact, Form, Relation};
use crate::facts::Flow;
use crate::operators::{binary, cast, divide, unary};
use crate::{Axis, Block, Builtin, Expr, ExprId, LocalId, Stmt, StmtId, Value};

/// Loops with more turns are not run.
const MOST_TURNS: usize = 16;

/// The numbers that locals hold.
type Numbers = BTreeMap<LocalId, Value>;

/// The values of locals in all turns of a loop.
struct Turns {
    /// At the head of each turn.
    heads: Vec<Numbers>,
    /// After the loop, unless a jump leaves it that is not followed.
    last: Option<Numbers>,
}

/// The end of a body.
enum End {
    /// Control reaches the end.
    Reached,
    /// A jump leaves the loop.
    Left,
}

impl Collector<'_> {
    /// Tells apart the values of these locals at the head of a loop, or gives them their values after it.
    pub(super) fn at_turns(
        &mut self,
        open: &[LocalId],
        head: &Head,
        left: bool,
        assigned: &Assigned,
    ) {
        self.last_turn = None;
        let of_block = self.values().is_some_and(|values| values.are_of_block());
        if open.is_empty() || !of_block || !self.ends_turns(head, false) {
            return;
        }
        let Some(turns) = self.turns_in(head, assigned) else {
            return;
        };
        if left {
            for (local, value) in turns.last.into_iter().flatten() {
                if let Some(number) = value.as_int().filter(|_| assigned.contains_key(&local)) {
                    self.set(local, Affine::of(Form::constant(number)));
                }
            }
            return;
        }
        self.tell_apart(open, &turns.heads);
        let last = turns.heads.last().filter(|_| turns.last.is_some());
        self.last_turn = last.map(|last| {
            let numbers = last.iter().filter_map(|(local, value)| {
                let number = Form::constant(value.as_int()?);
                Some((*local, Affine::of(number)))
            });
            numbers.collect()
        });
    }

    /// Lets proofs tell the turns apart.
    fn tell_apart(&mut self, open: &[LocalId], heads: &[Numbers]) {
        let (Some(first), Some(values)) = (heads.first(), self.values().cloned()) else {
            return;
        };
        let is_open = |local: &LocalId| open.contains(local) && values.are_in_common(*local);
        let (open, others): (Vec<LocalId>, Vec<LocalId>) = first.keys().partition(|l| is_open(l));
        let mut turns = vec![];
        for head in heads {
            let number = |local: &LocalId| head.get(local)?.as_int();
            let facts = others.iter().filter_map(|local| {
                let (form, number) = (values.get(*local)?, number(local)?);
                let fact = Fact::of(Relation::Eq, &form.form, &Form::constant(number))?;
                Some(fact.under(&form))
            });
            let numbers: Option<Vec<i128>> = open.iter().map(number).collect();
            let Some(numbers) = numbers else { return };
            turns.push((numbers, facts.collect::<Vec<Fact>>()));
        }
        let forms: Option<Vec<Affine>> = open.iter().map(|local| values.get(*local)).collect();
        if let Some(forms) = forms {
            self.resolver.tell_turns_apart(&forms, &turns);
        }
    }

    /// Runs a loop.
    fn turns_in(&self, head: &Head, assigned: &Assigned) -> Option<Turns> {
        let kernel = self.kernel;
        let begins = |local: &LocalId, values: &Option<Vec<ExprId>>| {
            let statements = kernel.block(head.body);
            let own = statements.filter(|id| kernel.stmt(*id).facts().assigns == Some(*local));
            let all = values
                .as_ref()
                .is_some_and(|values| values.len() == own.count());
            let start = head.before.get(*local).filter(|_| all)?;
            self.number_of(*local, &start)
        };
        let mut start: Numbers = assigned
            .iter()
            .filter_map(|(local, values)| Some((*local, begins(local, values)?)))
            .collect();
        // A local whose value is not known spoils those that depend on it.
        loop {
            let mut unknown = BTreeSet::new();
            let found = self.run(head, &start, assigned, &mut unknown);
            if unknown.is_empty() {
                return found.filter(|_| !start.is_empty());
            }
            start.retain(|local, _| !unknown.contains(local));
        }
    }

    /// Runs a loop with these locals. Adds those among them that an assignment gives an unknown value.
    fn run(
        &self,
        head: &Head,
        start: &Numbers,
        assigned: &Assigned,
        unknown: &mut BTreeSet<LocalId>,
    ) -> Option<Turns> {
        let mut now = start.clone();
        let mut turns = Turns {
            heads: vec![],
            last: None,
        };
        let exact = self.ends_turns(head, true);
        let mut range = match head.kind {
            Kind::Over(_, [start, end], _) => {
                let bound = |e| self.evaluated(e, &Numbers::new(), assigned)?.as_int();
                Some(bound(start)?..bound(end)?)
            }
            Kind::While(_) | Kind::Calls => None,
        };
        loop {
            let goes_on = match head.kind {
                Kind::Over(local, ..) => match range.as_mut()?.next() {
                    Some(counter) => {
                        let ty = self.kernel.locals[local.index()].ty.as_scalar()?;
                        now.insert(local, Value::int(ty, counter)?);
                        true
                    }
                    None => false,
                },
                Kind::While(Some(cond)) => {
                    self.evaluated(cond, &now, assigned)? == Value::Bool(true)
                }
                Kind::While(None) => true,
                Kind::Calls => return None,
            };
            if !goes_on {
                turns.last = exact.then_some(now);
                return Some(turns);
            }
            if turns.heads.len() == MOST_TURNS {
                return None;
            }
            turns.heads.push(now.clone());
            let end = self.run_body(head.body, head, &mut now, assigned, unknown)?;
            if !unknown.is_empty() {
                return None;
            }
            if let End::Left = end {
                return Some(turns);
            }
        }
    }

    /// Runs the statements of a loop's body that concern these locals.
    fn run_body(
        &self,
        body: Block,
        head: &Head,
        now: &mut Numbers,
        assigned: &Assigned,
        unknown: &mut BTreeSet<LocalId>,
    ) -> Option<End> {
        let kernel = self.kernel;
        let leaves = |id: StmtId| match kernel.stmt(id).facts().flow {
            Flow::Break(to) => Some(to) == head.label,
            _ => false,
        };
        for id in kernel.block(body) {
            match kernel.stmt(id) {
                Stmt::Let {
                    local,
                    init: Some(init),
                } => match self.evaluated(init, now, assigned) {
                    Some(value) if !kernel.locals[local.index()].mutable => {
                        now.insert(local, value);
                    }
                    _ => _ = now.remove(&local),
                },
                Stmt::Assign { local, value } if now.contains_key(&local) => {
                    match self.evaluated(value, now, assigned) {
                        Some(value) => _ = now.insert(local, value),
                        None => _ = unknown.insert(local),
                    }
                }
                // Without its value, all turns count.
                Stmt::If { cond, then, .. }
                    if kernel.block(then).any(leaves)
                        && self.evaluated(cond, now, assigned) == Some(Value::Bool(true)) =>
                {
                    return Some(End::Left);
                }
                _ => {}
            }
        }
        Some(End::Reached)
    }

    /// The value of an expression, if numbers and these locals decide it.
    fn evaluated(&self, id: ExprId, now: &Numbers, assigned: &Assigned) -> Option<Value> {
        let kernel = self.kernel;
        let value = |e: ExprId| self.evaluated(e, now, assigned);
        match kernel.expr(id) {
            Expr::Literal(value) => Some(value),
            Expr::Local(local) => match now.get(&local) {
                Some(value) => Some(*value),
                None if assigned.contains_key(&local) => None,
                None => self.number_of(local, &self.values()?.get(local)?),
            },
            Expr::Builtin(Builtin::BlockDim(axis)) => {
                let block = kernel.block?;
                Some(Value::Usize(block[Axis::index(axis)].into()))
            }
            Expr::Unary { op, arg } => Some(unary(op, value(arg)?)),
            Expr::Binary { op, lhs, rhs } => Some(binary(op, value(lhs)?, value(rhs)?)),
            Expr::Divide { op, lhs, rhs, .. } => divide(op, value(lhs)?, value(rhs)?),
            Expr::Cast { arg } => Some(cast(value(arg)?, kernel.type_of(id).as_scalar()?)),
            Expr::And { lhs, rhs } => match value(lhs)? {
                Value::Bool(true) => value(rhs),
                other => Some(other),
            },
            Expr::Or { lhs, rhs } => match value(lhs)? {
                Value::Bool(false) => value(rhs),
                other => Some(other),
            },
            Expr::Link(_)
            | Expr::Param(_)
            | Expr::Len(_)
            | Expr::Builtin(_)
            | Expr::Bounded { .. }
            | Expr::Load { .. }
            | Expr::Call { .. }
            | Expr::Compound(_)
            | Expr::Faulted => None,
        }
    }

    /// The number that a local holds by its form.
    fn number_of(&self, local: LocalId, form: &Affine) -> Option<Value> {
        let plain = form.exact.is_empty() && form.extents.is_empty() && !form.needs_exact;
        let ty = self.kernel.locals[local.index()].ty.as_scalar()?;
        Value::int(
            ty,
            form.form.as_constant().filter(|_| plain && ty.is_int())?,
        )
    }
}
