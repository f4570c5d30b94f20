//! The values of locals at one point of the walk over a single block's code.
//!
//! A local that is the same for all threads of the block gets a new [`Symbol`] at each assignment. In a loop
//! without a barrier, threads may be in different iterations, so a local that changes there has no symbol. An
//! immutable local keeps the form that its initialiser had at the `let`.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::collect::Collector;
use super::poly::{Extent, is_unsigned};
use super::{Affine, Atom, Bound, Limit, Poly, Symbol};
use crate::analysis::local_uses::{self, LocalUse};
use crate::analysis::uniformity::{Among, Uniformity};
use crate::facts::Effect;
use crate::{Axis, BinaryOp, Block, Builtin, Expr, ExprId, Kernel, LocalId, NativeId};

/// The forms of locals, see the module's documentation.
#[derive(Clone)]
pub(super) struct Values {
    uniformity: Rc<Uniformity>,
    known: HashMap<LocalId, Affine>,
    /// The number of symbols made so far.
    made: u32,
    /// The number of enclosing loops without a barrier.
    loops: u32,
}

impl Values {
    pub(super) fn new(kernel: &Kernel, among: &Among) -> Values {
        Values {
            uniformity: Rc::new(Uniformity::among(kernel, among)),
            known: HashMap::new(),
            made: 0,
            loops: 0,
        }
    }

    /// The form of a local's value, if it has one.
    pub(super) fn get(&self, local: LocalId) -> Option<Affine> {
        self.known.get(&local).cloned()
    }

    /// Records an assignment of a value without a form.
    pub(super) fn renew(&mut self, kernel: &Kernel, local: LocalId) {
        self.known.remove(&local);
        let ty = kernel.locals[local.index()].ty.as_scalar();
        let Some(ty) = ty.filter(|ty| ty.is_int()) else {
            return;
        };
        if self.loops == 0 && self.uniformity.local(local) {
            self.made += 1;
            let symbol = Symbol::Local(local, self.made, is_unsigned(ty));
            self.known.insert(local, Affine::of(Poly::symbol(symbol)));
        }
    }
}

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
            Some(form) => {
                values.known.insert(local, form);
            }
            None => values.renew(self.kernel, local),
        }
    }

    /// Restores the values from before a branch.
    pub(super) fn restore(&mut self, before: Option<Values>) {
        if let (Some(values), Some(before)) = (&mut self.resolver.block, before) {
            values.known = before.known;
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
            values.loops += 1;
        }
        self.changed_in(&[body]);
    }

    /// Leaves a loop without a barrier.
    pub(super) fn leave_loop(&mut self, body: Block) {
        if let Some(values) = &mut self.resolver.block {
            values.loops -= 1;
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

    /// Adds the bounds that the dimensions of an array of arrays put on its indices.
    pub(super) fn dimensions(&mut self, index: ExprId) {
        match self.kernel.expr(index) {
            Expr::Bounded { index, len, .. } => {
                self.suppose_comparison(BinaryOp::Lt, index, len, true);
                self.dimensions(index);
            }
            Expr::Local(local) => {
                // A compound assignment keeps its index in a local.
                if let Some(init) = self.resolver.init(local)
                    && self.resolver.is_constant(init)
                {
                    self.dimensions(init);
                }
            }
            Expr::Binary { lhs, rhs, .. } => {
                self.dimensions(lhs);
                self.dimensions(rhs);
            }
            Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Param(_)
            | Expr::Len(_)
            | Expr::Builtin(_)
            | Expr::Load { .. }
            | Expr::Unary { .. }
            | Expr::Divide { .. }
            | Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Cast { .. }
            | Expr::Call { .. }
            | Expr::Compound(_)
            | Expr::Faulted => {}
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

/// The number of threads of a block along an axis.
pub fn block_dim(kernel: &Kernel, axis: Axis) -> Poly {
    match kernel.block {
        Some(block) => Poly::constant(block[axis.index()].into()),
        None => Poly::symbol(Symbol::Extent(Extent::Block, axis.index() as u8)),
    }
}

impl Affine {
    /// The form for the threads of one block, in which the block's index is a symbol.
    pub(super) fn in_block(mut self, kernel: &Kernel) -> Affine {
        for axis in Axis::ALL {
            let (global, block) = (Builtin::GlobalIdx(axis), Builtin::BlockIdx(axis));
            let [global, block, thread] = [global, block, Builtin::ThreadIdx(axis)].map(Atom::Id);
            let index = Poly::symbol(Symbol::Block(axis.index() as u8));
            let of_global = self.coefficient(global);
            let first = index.times(&block_dim(kernel, axis));
            self.base = self.base.plus(&of_global.times(&first));
            self.base = self.base.plus(&self.coefficient(block).times(&index));
            self.set(thread, self.coefficient(thread).plus(&of_global));
            self.set(global, Poly::default());
            self.set(block, Poly::default());
        }
        self
    }
}

impl Bound {
    /// Rewrites the bound for the threads of one block.
    pub(super) fn look_at_block(&mut self, kernel: &Kernel) {
        let form = Affine {
            terms: std::mem::take(&mut self.terms),
            ..Affine::default()
        };
        let form = form.in_block(kernel);
        self.terms = form.terms;
        self.limit = match &self.limit {
            Limit::AtMost(most) => Limit::AtMost(most.minus(&form.base)),
            Limit::AtLeast(least) => Limit::AtLeast(least.minus(&form.base)),
        };
    }
}
