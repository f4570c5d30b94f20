//! Loops over ranges with `.rev()` and `.step_by(n)`, in the form that the frontend gives them.
//!
//! [`stepped_range`] recognises them.

use super::collect::Collector;
use crate::analysis::linear::{Affine, Fact, Form, Relation, term_form};
use crate::analysis::shape::same;
use crate::analysis::stepped::stepped_range;
use crate::{Block, Expr, ExprId, Intrinsic, LocalId, Stmt};

impl Collector<'_> {
    /// Gives the counter of a loop over a stepped range its value, and states its bounds.
    pub(super) fn stepped_range(&mut self, cond: ExprId, body: Block) {
        let Some(of) = stepped_range(self.kernel, cond, body) else {
            return;
        };
        let step = of.step.map(|step| self.resolver.affine(step));
        let (Some(start), Some(end)) =
            (self.resolver.affine(of.start), self.resolver.affine(of.end))
        else {
            return;
        };
        let known = self.turns.take().map(|turns| turns.form);
        let turns = known.unwrap_or_else(|| term_form(self.resolver.terms().any(), true, false));
        let way = match step {
            None => Affine::of(turns),
            Some(Some(step)) => match step.form.uniform() {
                Some(by) => match turns.times(by) {
                    Some(way) => step.with(way),
                    None => return,
                },
                None => match self.resolver.product_term(&step, &Affine::of(turns), true) {
                    Some(way) => way,
                    None => return,
                },
            },
            Some(None) => return,
        };
        let Some(mut value) = start.plus(&way, 1) else {
            return;
        };
        value.needs_exact = false;
        for part in [Some(of.start), of.step].into_iter().flatten() {
            value
                .exact
                .extend((!self.resolver.is_plain(part)).then_some(part));
        }
        let relation = match of.inclusive {
            true => Relation::Le,
            false => Relation::Lt,
        };
        self.state(relation, &value, (&end, of.end));
        self.set(of.next, value);
    }

    /// Adds the fact that a value is in a relation to another one.
    fn state(&mut self, relation: Relation, value: &Affine, (other, of): (&Affine, ExprId)) {
        if let Some(fact) = Fact::of(relation, &value.form, &other.form) {
            let mut fact = fact.under(value).under(other);
            fact.exact
                .extend((!self.resolver.is_plain(of)).then_some(of));
            self.facts.push(fact);
        }
    }

    /// States the value of the variable of a loop over a reversed range, `end - 1 - (counter - start)`.
    pub(super) fn reversed_range(
        &mut self,
        counter: LocalId,
        (start, end): (ExprId, ExprId),
        body: Block,
    ) {
        let kernel = self.kernel;
        let first = kernel.block(body).next().map(|id| kernel.stmt(id));
        let Some(Stmt::Let {
            init: Some(value), ..
        }) = first
        else {
            return;
        };
        let args = |e: ExprId| match kernel.expr(e) {
            Expr::Call {
                intrinsic: Intrinsic::WrappingSub,
                args,
            } => {
                let mut args = kernel.list(args);
                Some([args.next()?, args.next()?])
            }
            _ => None,
        };
        let reversed = || {
            let [last, turns] = args(value)?;
            let ([of, one], [here, from]) = (args(last)?, args(turns)?);
            let is_one = matches!(kernel.expr(one), Expr::Literal(v) if v.as_int() == Some(1));
            let is_counter = kernel.expr(here) == Expr::Local(counter);
            let fits = is_one && is_counter && same(kernel, of, end) && same(kernel, from, start);
            fits.then_some(())
        };
        let known = self.values().and_then(|values| values.get(counter));
        let lasts = [start, end].iter().all(|e| self.resolver.is_constant(*e));
        if let (Some(()), Some(counter)) = (reversed().filter(|()| lasts), known)
            && let (Some(start), Some(end)) =
                (self.resolver.affine(start), self.resolver.affine(end))
        {
            let last = end.plus(&Affine::of(Form::constant(1)), -1);
            let form = last.and_then(|last| last.plus(&counter, -1)?.plus(&start, 1));
            if let Some(form) = form {
                self.resolver.state_value(value, form);
            }
        }
    }
}
