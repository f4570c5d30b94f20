//! The values that differ between threads along one axis.
//!
//! An optimistic fixpoint, as in [`uniformity`](crate::analysis::uniformity), but for the threads that differ in one id
//! only. All else is the same for them:
//!
//! - The id along the axis varies, and so does every expression with a varying operand.
//! - A load varies if its index does, or if the kernel writes that memory.
//! - A local varies if a varying value is assigned to it, or if it is assigned under a varying condition that does not
//!   enclose its declaration. A local that an atomic operation assigns varies.
//! - A loop varies if its condition or a bound does, or if a jump leaves or continues it under a varying condition inside
//!   of it.
//!
//! In a staged kernel, the ids within a block are those of the merged threads, and so the same for all their lanes. Shared
//! arrays are tiles, which all lanes see alike.
//!
//! So within a branch, a value is the same for all threads that run the branch together.

use std::collections::HashSet;

use crate::facts::{Effect, Flow, Reads};
use crate::{Access, Axis, Block, Builtin, ExprId, Kernel, LabelId, LocalId, Memory, Stmt, StmtId};

pub(super) struct Varying {
    axis: Axis,
    /// True for a staged kernel.
    tiles: bool,
    locals: HashSet<LocalId>,
    /// Loops whose iterations differ: their conditions or bounds vary, or some threads leave them early.
    loops: HashSet<LabelId>,
}

impl Varying {
    /// Analyses a closed kernel.
    pub fn of(kernel: &Kernel, axis: Axis) -> Varying {
        Varying::analyse(kernel, axis, false)
    }

    /// Analyses a closed kernel that [`Stage`](super::Stage) wrote.
    pub fn of_staged(kernel: &Kernel, axis: Axis) -> Varying {
        Varying::analyse(kernel, axis, true)
    }

    fn analyse(kernel: &Kernel, axis: Axis, tiles: bool) -> Varying {
        let mut varying = Varying {
            axis,
            tiles,
            locals: HashSet::new(),
            loops: HashSet::new(),
        };
        loop {
            let before = (varying.locals.len(), varying.loops.len());
            varying.mark(kernel, kernel.body, &mut None);
            if (varying.locals.len(), varying.loops.len()) == before {
                return varying;
            }
        }
    }

    /// True if the local differs between the threads.
    pub fn is_local(&self, local: LocalId) -> bool {
        self.locals.contains(&local)
    }

    /// True if the threads differ in the iterations of a loop.
    pub fn is_loop(&self, label: LabelId) -> bool {
        self.loops.contains(&label)
    }

    /// True if the threads differ in the iterations of some loop.
    pub fn has_loops(&self) -> bool {
        !self.loops.is_empty()
    }

    /// True if the value of an expression differs between the threads.
    pub fn is_expr(&self, kernel: &Kernel, id: ExprId) -> bool {
        kernel
            .exprs_in([id])
            .any(|e| match kernel.expr(e).facts().reads {
                Reads::Id(Builtin::GlobalIdx(axis)) => axis == self.axis,
                Reads::Id(builtin) => builtin == Builtin::GlobalThreadId,
                Reads::Local(local) => self.is_local(local),
                Reads::Memory(memory) => match memory {
                    Memory::Slice(_) => kernel.access(memory) != Access::Read,
                    Memory::Local(local) => self.is_local(local),
                    Memory::Shared(_) => !self.tiles,
                    Memory::Table(_) => false,
                },
                Reads::Faults => true,
                Reads::Operands | Reads::Constant | Reads::Param(_) | Reads::Len(_) => false,
            })
    }

    /// True if a statement evaluates a varying expression or changes something that varies, inner statements included.
    pub fn is_stmt(&self, kernel: &Kernel, id: StmtId) -> bool {
        kernel.stmts_in([id]).any(|inner| {
            let stmt = kernel.stmt(inner);
            let facts = stmt.facts();
            let mut operands = kernel.operands_of(inner).into_iter();
            let touched = facts.declares.into_iter().chain(facts.assigns);
            operands.any(|e| self.is_expr(kernel, e))
                || touched.into_iter().any(|local| self.is_local(local))
                || match facts.effect {
                    Effect::None => false,
                    Effect::Store(Memory::Local(array)) => self.is_local(array),
                    Effect::Store(Memory::Shared(_)) | Effect::Barrier if self.tiles => false,
                    Effect::Store(_)
                    | Effect::Atomic(..)
                    | Effect::Place(_)
                    | Effect::Print(_)
                    | Effect::Fence
                    | Effect::Barrier
                    | Effect::Subgroup(..)
                    | Effect::Call(_)
                    | Effect::Native(_) => true,
                }
        })
    }

    /// Marks what varies in a block. Under a varying condition, `own` has the locals and loops that were declared there.
    fn mark(&mut self, kernel: &Kernel, block: Block, own: &mut Option<Own>) {
        for id in kernel.block(block) {
            let stmt = kernel.stmt(id);
            let mut operands = kernel.operands_of(id).into_iter();
            let differs = operands.any(|e| self.is_expr(kernel, e));
            let facts = stmt.facts();
            let is_atomic = matches!(stmt, Stmt::Atomic { .. });
            let stored = match facts.effect.memory() {
                Some(Memory::Local(array)) => Some(array),
                Some(Memory::Slice(_) | Memory::Shared(_) | Memory::Table(_)) | None => None,
            };
            if let (Some(own), Some(local)) = (own.as_mut(), facts.declares) {
                own.locals.insert(local);
            }
            let is_outer = |local| own.as_ref().is_some_and(|own| !own.locals.contains(&local));
            for local in facts
                .declares
                .into_iter()
                .chain(facts.assigns)
                .chain(stored)
            {
                if differs || is_atomic || is_outer(local) {
                    self.locals.insert(local);
                }
            }
            match facts.flow {
                Flow::Loop(label) => {
                    if differs {
                        self.loops.insert(label);
                    }
                    if let Some(own) = own {
                        own.loops.insert(label);
                    }
                    self.mark_blocks(kernel, id, self.is_loop(label), own);
                }
                Flow::Break(label) | Flow::Continue(label) => {
                    if own.as_ref().is_some_and(|own| !own.loops.contains(&label)) {
                        self.loops.insert(label);
                    }
                }
                Flow::Branch | Flow::Next | Flow::Return | Flow::Panic => {
                    self.mark_blocks(kernel, id, differs, own);
                }
            }
        }
    }

    /// Marks the blocks of a statement. `apart` is true if some threads may not run them.
    fn mark_blocks(&mut self, kernel: &Kernel, id: StmtId, apart: bool, own: &mut Option<Own>) {
        for inner in kernel.blocks_of(id) {
            match apart {
                true => self.mark(kernel, inner, &mut Some(Own::default())),
                false => self.mark(kernel, inner, own),
            }
        }
    }
}

/// The locals and loops that are declared under a varying condition. All threads that run the branch have these.
#[derive(Default)]
struct Own {
    locals: HashSet<LocalId>,
    loops: HashSet<LabelId>,
}
