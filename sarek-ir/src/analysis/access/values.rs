//! Keeps the values of locals up to date in the walk over the code, see [`Values`].

use std::collections::BTreeSet;

use super::collect::{Collector, Implied, leaves};
use super::induction::{Head, Kind};
use crate::analysis::linear::{Affine, Fact, Values, fields_of};
use crate::analysis::local_uses::{self, LocalUse};
use crate::facts::Effect;
use crate::{Block, Expr, ExprId, Kernel, LabelId, LocalId, NameId, NativeId, Scalar};

impl Collector<'_> {
    /// True in the walk of the resolver of values.
    pub(super) fn is_of_values(&self) -> bool {
        self.resolver.gives_values()
    }

    pub(super) fn values(&self) -> Option<&Values> {
        self.resolver.block.as_ref()
    }

    /// Records that a local is bound or assigned.
    pub(super) fn bind(&mut self, local: LocalId, init: Option<ExprId>) {
        if self.resolver.block.is_none() {
            return;
        }
        if let Some(init) = init {
            self.resolver.bind_position(local, init);
            self.resolver.bind_condition(local, init);
        }
        let mutable = self.kernel.locals[local.index()].mutable;
        let fields = match init.filter(|_| self.is_of_values()) {
            Some(init) => self.fields_in(init),
            None => vec![],
        };
        let form = init
            .filter(|_| !mutable || self.is_of_values())
            .and_then(|init| Some((init, self.resolver.affine(init)?)));
        match form {
            Some((init, mut form)) => {
                // An expression that reads the local says nothing about this value.
                let unread = self.resolver.init(local) != Some(init);
                let exact = self.resolver.is_plain(init) || form.is_plain_id();
                if unread && (form.needs_exact || !exact) {
                    form.exact.push(init);
                }
                self.set(local, form);
            }
            None => self.renew(local),
        }
        if let Some(values) = &mut self.resolver.block {
            for (name, form, ty) in fields {
                values.set_field(local, name, (form, ty));
            }
        }
    }

    /// The values of the fields of a tuple or struct, with their types.
    fn fields_in(&mut self, init: ExprId) -> Vec<(NameId, Affine, Scalar)> {
        if let (Expr::Local(of), Some(values)) = (self.kernel.expr(init), self.values()) {
            return values.fields(of);
        }
        let mut found = vec![];
        for &(name, field) in fields_of(self.kernel, init) {
            let ty = self.kernel.type_of(field).as_scalar();
            let Some(ty) = ty.filter(|ty| ty.is_int()) else {
                continue;
            };
            let plain = self.resolver.is_plain(field);
            if let Some(mut form) = self.resolver.affine(field) {
                if form.needs_exact || !plain {
                    form.exact.push(field);
                }
                found.push((name, form, ty));
            }
        }
        found
    }

    /// Gives a local the value of a form.
    pub(super) fn set(&mut self, local: LocalId, form: Affine) {
        if let Some(values) = &mut self.resolver.block {
            values.set(local, form);
        }
    }

    /// Leaves an immutable local to its initialiser until it is bound.
    pub(super) fn forget(&mut self, local: LocalId) {
        if let Some(values) = &mut self.resolver.block {
            values.forget(local);
        }
    }

    /// Records that a local has another value, which is not known.
    pub(super) fn renew(&mut self, local: LocalId) {
        let gives_values = self.is_of_values();
        let Some(values) = &mut self.resolver.block else {
            return;
        };
        values.renew(self.kernel, local);
        let in_common = values.are_in_common(local);
        let ty = self.kernel.locals[local.index()].ty.as_scalar();
        if let Some(ty) = ty.filter(|ty| ty.is_int() && gives_values) {
            let any = self.resolver.any(ty, in_common);
            self.set(local, any);
        }
    }

    /// Restores the values from before a branch.
    pub(super) fn restore(&mut self, before: Option<Values>) {
        if let (Some(values), Some(before)) = (&mut self.resolver.block, before) {
            values.restore(before);
        }
    }

    /// Records that these blocks may have assigned their locals.
    pub(super) fn changed_in(&mut self, blocks: &[Block]) {
        let mut assigned = BTreeSet::new();
        for block in blocks {
            assigned_in(self.kernel, *block, &mut assigned);
        }
        for local in assigned {
            self.renew(local);
        }
    }

    /// Walks a loop without a barrier. `head` walks its condition, and adds what it says about the body.
    pub(super) fn repeated(
        &mut self,
        (label, kind): (Option<LabelId>, Kind),
        body: Block,
        head: impl FnOnce(&mut Self),
    ) {
        let Some(before) = self.resolver.block.clone() else {
            let mark = self.mark();
            head(self);
            self.block(body);
            return self.release(mark);
        };
        let at = Head {
            label,
            body,
            before,
            kind,
        };
        self.in_loop(|this| {
            this.head_of(&at);
            let mark = this.mark();
            head(this);
            this.block(body);
            this.release(mark);
        });
        self.after_loop(&at);
    }

    /// Runs a step of the walk inside of a loop without a barrier.
    pub(super) fn in_loop(&mut self, step: impl FnOnce(&mut Self)) {
        if let Some(values) = &mut self.resolver.block {
            values.enter_loop();
        }
        step(self);
        if let Some(values) = &mut self.resolver.block {
            values.leave_loop();
        }
    }

    /// Gives the locals that a loop assigns their values at the head of any turn.
    pub(super) fn head_of(&mut self, head: &Head) {
        match self.is_of_values() {
            true => self.at_head(head, false),
            false => self.changed_in(&[head.body]),
        }
    }

    /// Gives the locals that a loop assigns their values after any turn, or where a jump leaves the loop.
    pub(super) fn after_loop(&mut self, head: &Head) {
        match self.is_of_values() {
            true => self.at_head(head, true),
            false => self.changed_in(&[head.body]),
        }
    }

    /// Walks the branches of an `if` in which no barrier interval ends.
    pub(super) fn branches(&mut self, cond: ExprId, then: Block, otherwise: Block) -> [Implied; 2] {
        let before = self.resolver.block.clone();
        let if_true = self.guarded(cond, true, then);
        let after = self.resolver.block.clone();
        self.restore(before);
        let if_false = self.guarded(cond, false, otherwise);
        match (leaves(self.kernel, then), leaves(self.kernel, otherwise)) {
            _ if !self.is_of_values() => self.changed_in(&[then, otherwise]),
            (true, _) => {}
            (false, true) => self.restore(after),
            (false, false) => {
                self.join(after, [if_true.facts.clone(), if_false.facts.clone()]);
            }
        }
        [if_true, if_false]
    }

    /// Joins the values after two branches, each with the facts of its branch.
    pub(super) fn join(&mut self, then: Option<Values>, [if_true, if_false]: [Vec<Fact>; 2]) {
        let (Some(then), Some(otherwise)) = (then, self.resolver.block.clone()) else {
            return;
        };
        let all: BTreeSet<LocalId> = then.locals().chain(otherwise.locals()).collect();
        for local in all {
            let (Some(a), Some(b)) = (then.get(local), otherwise.get(local)) else {
                self.renew(local);
                continue;
            };
            if a == b {
                continue;
            }
            let ty = self.kernel.locals[local.index()].ty.as_scalar();
            match ty.filter(|_| !otherwise.are_in_common(local)) {
                Some(ty) => {
                    let cases = vec![(a, if_true.clone()), (b, if_false.clone())];
                    let value = self.resolver.one_of(cases, ty);
                    self.set(local, value);
                }
                None => self.renew(local),
            }
        }
        self.join_fields(&then, [if_true, if_false]);
    }

    /// [`Collector::join`] for fields.
    fn join_fields(&mut self, then: &Values, [if_true, if_false]: [Vec<Fact>; 2]) {
        let Some(otherwise) = self.resolver.block.clone() else {
            return;
        };
        let both = then
            .locals_with_fields()
            .chain(otherwise.locals_with_fields());
        for local in both.collect::<BTreeSet<LocalId>>() {
            let (before, after) = (then.fields(local), otherwise.fields(local));
            let mut joined = vec![];
            for (name, a, ty) in &before {
                let Some((_, b, _)) = after.iter().find(|(of, ..)| of == name) else {
                    continue;
                };
                if a == b {
                    joined.push((*name, a.clone(), *ty));
                } else if !otherwise.are_of_block() || !otherwise.are_in_common(local) {
                    let cases = [(a, &if_true), (b, &if_false)];
                    let cases = cases.map(|(value, facts)| (value.clone(), facts.clone()));
                    let value = self.resolver.one_of(cases.into(), *ty);
                    joined.push((*name, value, *ty));
                }
            }
            if let Some(values) = &mut self.resolver.block {
                values.forget_fields(local);
                for (name, form, ty) in joined {
                    values.set_field(local, name, (form, ty));
                }
            }
        }
    }

    pub(super) fn native(&mut self, native: NativeId) {
        for local in assigned_by(self.kernel, native) {
            self.renew(local);
        }
    }
}

/// The locals that a block assigns.
pub(super) fn assigned_in(kernel: &Kernel, block: Block, found: &mut BTreeSet<LocalId>) {
    for id in kernel.stmts_in(kernel.block(block)) {
        let facts = kernel.stmt(id).facts();
        found.extend(facts.assigns);
        match facts.effect {
            Effect::Place(_) | Effect::Call(_) => {
                local_uses::itself(kernel, id, &mut |local, touch| {
                    if touch == LocalUse::Write {
                        found.insert(local);
                    }
                });
            }
            Effect::Native(native) => found.extend(kernel.changed_by_text(native)),
            Effect::None
            | Effect::Store(_)
            | Effect::Atomic(..)
            | Effect::Print(_)
            | Effect::Fence
            | Effect::Barrier
            | Effect::Subgroup(..) => {}
        }
    }
}

/// The locals that native text, or its fallback, may assign.
fn assigned_by(kernel: &Kernel, native: NativeId) -> Vec<LocalId> {
    let mut found = BTreeSet::from_iter(kernel.changed_by_text(native));
    if let Some(fallback) = kernel.natives[native.index()].fallback {
        assigned_in(kernel, fallback, &mut found);
    }
    found.into_iter().collect()
}
