//! The identity between ids: `global_idx` is `block_idx * block_dim + thread_idx`.

use super::{Atom, Bound, Extent, Form, Limit, Poly, Symbol};
use crate::{Axis, Builtin, Kernel};

/// The number of threads of a block along an axis.
pub fn block_dim(kernel: &Kernel, axis: Axis) -> Poly {
    match kernel.block {
        Some(block) => Poly::constant(block[axis.index()].into()),
        None => Poly::symbol(Symbol::Extent(Extent::Block, axis.index() as u8)),
    }
}

fn ids(axis: Axis) -> [Atom; 3] {
    [
        Builtin::GlobalIdx(axis),
        Builtin::BlockIdx(axis),
        Builtin::ThreadIdx(axis),
    ]
    .map(Atom::Id)
}

impl Form<Poly> {
    /// Replaces `block_idx * block_dim + thread_idx` by the global id.
    pub fn join_ids(&mut self, kernel: &Kernel) {
        for axis in Axis::ALL {
            let [global, block, thread] = ids(axis);
            let each = self.coefficient(thread);
            let whole = each.times(&block_dim(kernel, axis));
            if !each.is_zero() && self.coefficient(block) == whole {
                self.set(thread, Poly::default());
                self.set(block, Poly::default());
                self.set(global, self.coefficient(global).plus(&each));
            }
        }
    }

    /// Replaces each global id by its block part and its thread part.
    pub fn split_ids(mut self, kernel: &Kernel) -> Form<Poly> {
        for axis in Axis::ALL {
            let [global, block, thread] = ids(axis);
            let whole = self.coefficient(global);
            let of_block = whole.times(&block_dim(kernel, axis));
            self.set(block, self.coefficient(block).plus(&of_block));
            self.set(thread, self.coefficient(thread).plus(&whole));
            self.set(global, Poly::default());
        }
        self
    }

    /// The form for the threads of one block, in which the block's index is a symbol.
    pub fn in_block(self, kernel: &Kernel) -> Form<Poly> {
        let mut form = self.split_ids(kernel);
        for axis in Axis::ALL {
            let [_, block, _] = ids(axis);
            let index = Poly::symbol(Symbol::Block(axis.index() as u8));
            form.base = form.base.plus(&form.coefficient(block).times(&index));
            form.set(block, Poly::default());
        }
        form
    }
}

impl Bound {
    /// Rewrites the bound for the threads of one block.
    pub fn look_at_block(&mut self, kernel: &Kernel) {
        let mut form = self.form.clone().in_block(kernel);
        let base = std::mem::take(&mut form.base);
        self.form = form;
        self.limit = match &self.limit {
            Limit::AtMost(most) => Limit::AtMost(most.minus(&base)),
            Limit::AtLeast(least) => Limit::AtLeast(least.minus(&base)),
        };
    }
}
