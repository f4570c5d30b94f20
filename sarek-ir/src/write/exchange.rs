//! Finds out whether the threads of a block exchange values through buffers, so that barriers must order accesses to
//! buffers, too. On GPUs that costs many times as much as to order accesses to shared arrays.
//!
//! Accesses with a barrier between them need the order if one writes what the other accesses. A barrier lies between two
//! accesses if it stands between them in the text, or if a loop around both contains one.

use std::collections::HashMap;

use crate::facts::{Effect, Reads};
use crate::{Access, Block, Kernel, Memory, ParamId};

/// True if an access to a buffer that the kernel writes may be separated by a barrier from another access to it.
pub(super) fn exchanges_through_buffers(kernel: &Kernel) -> bool {
    let mut search = Search {
        kernel,
        interval: 0,
        seen: HashMap::new(),
        found: false,
    };
    search.block(kernel.body, false);
    search.found
}

struct Search<'k> {
    kernel: &'k Kernel,
    /// The number of barriers before, in the order of the text.
    interval: u32,
    /// The interval of the accesses to a written buffer. One key stands for all buffers of atomics, because one vector
    /// may be passed for several of them.
    seen: HashMap<Option<ParamId>, u32>,
    found: bool,
}

impl Search<'_> {
    /// Visits a block. `again` is true in a loop with a barrier.
    fn block(&mut self, block: Block, again: bool) {
        for id in self.kernel.block(block) {
            let stmt = self.kernel.stmt(id);
            let blocks = self.kernel.blocks_of(id);
            let repeats = stmt.loop_label().is_some() && blocks.iter().any(|b| self.waits(*b));
            let again = again || repeats;
            for expr in self.kernel.exprs_in(self.kernel.operands_of(id)) {
                if let Reads::Memory(memory) = self.kernel.expr(expr).facts().reads {
                    self.access(memory, again);
                }
            }
            match stmt.facts().effect {
                Effect::Store(memory) | Effect::Atomic(_, memory) => self.access(memory, again),
                Effect::Barrier => self.interval += 1,
                Effect::Place(_) | Effect::Call(_) | Effect::Native(_) => self.found = true,
                Effect::None | Effect::Print(_) | Effect::Fence | Effect::Subgroup(..) => {}
            }
            for inner in blocks {
                self.block(inner, again);
            }
        }
    }

    /// True if the block contains a barrier.
    fn waits(&self, block: Block) -> bool {
        let mut inner = self.kernel.stmts_in(self.kernel.block(block));
        inner.any(|id| self.kernel.stmt(id).waits_for_block())
    }

    fn access(&mut self, memory: Memory, again: bool) {
        let Memory::Slice(param) = memory else {
            return;
        };
        let key = match self.kernel.access(memory) {
            Access::Read => return,
            Access::Write => Some(param),
            Access::Atomic => None,
        };
        let first = *self.seen.entry(key).or_insert(self.interval);
        self.found |= again || first != self.interval;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scalar;
    use crate::sketch::Sketch;

    /// The answer for a kernel over the buffers `x` (read) and `y` (written).
    fn judge(write: impl FnOnce(&Sketch, Memory, Memory)) -> bool {
        let s = Sketch::new("kernel");
        let x = s.slice("x", Scalar::U32);
        let y = s.slice_mut("y", Scalar::U32);
        write(&s, x.into(), y.into());
        exchanges_through_buffers(&s.finish())
    }

    #[test]
    fn reads_of_inputs_and_results_after_the_last_barrier_need_no_order() {
        assert!(!judge(|s, x, y| {
            s.let_("before", s.load(x, s.n(0)));
            s.barrier();
            s.let_("after", s.load(x, s.n(0)));
            s.store(y, s.n(0), s.u32(1));
            s.store(y, s.n(1), s.u32(1));
        }));
        // A loop without a barrier, and a barrier in a loop without accesses to the result.
        assert!(!judge(|s, _, y| {
            s.for_("k", s.n(0), s.n(3), |_, _| s.barrier());
            s.for_("k", s.n(0), s.n(3), |k, _| s.store(y, k.get(), s.u32(1)));
        }));
        // One access on each side, but to inputs.
        assert!(!judge(|s, x, y| {
            s.if_(s.load(x, s.n(0)).lt(s.u32(2)), || s.barrier());
            s.store(y, s.n(1), s.load(x, s.n(1)));
        }));
    }

    #[test]
    fn results_on_both_sides_of_a_barrier_need_it() {
        assert!(judge(|s, _, y| {
            s.store(y, s.n(0), s.u32(1));
            s.barrier();
            s.let_("back", s.load(y, s.n(1)));
        }));
        assert!(judge(|s, _, y| {
            s.for_("k", s.n(0), s.n(3), |k, _| {
                s.store(y, k.get(), s.u32(1));
                s.barrier();
            });
        }));
        assert!(judge(|s, _, y| {
            s.while_(s.load(y, s.n(0)).lt(s.u32(2)), |_| s.barrier());
        }));
        assert!(judge(|s, _, y| {
            s.store(y, s.n(0), s.u32(1));
            s.if_(s.load(y, s.n(0)).lt(s.u32(2)), || s.barrier());
            s.store(y, s.n(1), s.u32(1));
        }));
    }
}
