//! Keeps the values of locals up to date in the walk over a single block's code, see [`Values`].

use std::collections::BTreeSet;

use super::collect::Collector;
use crate::analysis::linear::Values;
use crate::analysis::local_uses::{self, LocalUse};
use crate::facts::Effect;
use crate::{Block, ExprId, Kernel, LocalId, NativeId};

impl Collector<'_> {
    /// Records that a local is bound or assigned.
    pub(super) fn bind(&mut self, local: LocalId, init: Option<ExprId>) {
        if self.resolver.block.is_none() {
            return;
        }
        let mutable = self.kernel.locals[local.index()].mutable;
        let form = init
            .filter(|_| !mutable)
            .and_then(|init| self.resolver.affine(init));
        let Some(values) = &mut self.resolver.block else {
            return;
        };
        match form {
            Some(form) => values.set(local, form),
            None => values.renew(self.kernel, local),
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
        let Some(values) = &mut self.resolver.block else {
            return;
        };
        let mut assigned = BTreeSet::new();
        for block in blocks {
            assigned_in(self.kernel, *block, &mut assigned);
        }
        for local in assigned {
            values.renew(self.kernel, local);
        }
    }

    /// Enters a loop without a barrier.
    pub(super) fn enter_loop(&mut self, body: Block) {
        if let Some(values) = &mut self.resolver.block {
            values.enter_loop();
        }
        self.changed_in(&[body]);
    }

    /// Leaves a loop without a barrier.
    pub(super) fn leave_loop(&mut self, body: Block) {
        if let Some(values) = &mut self.resolver.block {
            values.leave_loop();
        }
        self.changed_in(&[body]);
    }

    pub(super) fn native(&mut self, native: NativeId) {
        let Some(values) = &mut self.resolver.block else {
            return;
        };
        for local in assigned_by(self.kernel, native) {
            values.renew(self.kernel, local);
        }
    }
}

/// The locals that a block assigns.
fn assigned_in(kernel: &Kernel, block: Block, found: &mut BTreeSet<LocalId>) {
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
