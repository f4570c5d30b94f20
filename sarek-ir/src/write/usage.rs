//! Finds the reachable nodes of a kernel, and the parts of the launch that it uses.

use std::collections::BTreeSet;

use super::exchange::exchanges_through_buffers;
use crate::facts::{Effect, Reads};
use crate::{Builtin, Expr, Kernel, Memory, Stmt};

/// The parts of its launch that a lowered kernel uses.
#[derive(Default)]
pub(super) struct Usage {
    builtins: Vec<Builtin>,
    /// Memory whose length is read or compared with an index.
    pub lens: BTreeSet<Memory>,
    /// True if a site is checked.
    pub faults: bool,
    /// True if the kernel has barriers. Then launches consist of whole blocks.
    pub barriers: bool,
    /// True if barriers order accesses to buffers, too.
    pub exchanges: bool,
    /// True if the kernel has loops.
    pub loops: bool,
    /// True if the kernel uses subgroup operations or ids.
    pub subgroups: bool,
}

impl Usage {
    pub fn of(kernel: &Kernel) -> Usage {
        let mut usage = Usage::default();
        for id in kernel.stmts_in(kernel.block(kernel.body)) {
            usage.stmt(kernel.stmt(id));
            for expr in kernel.exprs_in(kernel.operands_of(id)) {
                usage.faults |= kernel.overflow_site(expr).is_some();
                usage.expr(kernel.expr(expr));
            }
        }
        usage.exchanges = usage.barriers && exchanges_through_buffers(kernel);
        usage
    }

    /// True if the kernel uses this builtin.
    pub fn uses(&self, builtin: Builtin) -> bool {
        self.builtins.contains(&builtin)
    }

    fn expr(&mut self, expr: Expr) {
        let facts = expr.facts();
        let is_checked = facts.check.site().is_some();
        self.faults |= is_checked;
        match facts.reads {
            Reads::Len(memory) => {
                self.lens.insert(memory);
            }
            Reads::Memory(memory) => self.lens.extend(is_checked.then_some(memory)),
            Reads::Id(builtin) => {
                self.subgroups |= builtin.is_of_subgroup();
                if !self.uses(builtin) {
                    self.builtins.push(builtin);
                }
            }
            Reads::Faults => self.faults = true,
            Reads::Operands | Reads::Constant | Reads::Param(_) | Reads::Local(_) => {}
        }
    }

    fn stmt(&mut self, stmt: Stmt) {
        let facts = stmt.facts();
        if facts.check.site().is_some() {
            self.faults = true;
            self.lens.extend(facts.effect.memory());
        }
        self.barriers |= facts.effect.waits_for_block();
        self.subgroups |= matches!(facts.effect, Effect::Subgroup(..));
        self.loops |= stmt.loop_label().is_some();
    }
}
