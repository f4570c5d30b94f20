//! The identity between ids: `global_idx` is `block_idx * block_dim + thread_idx`.

use super::{Atom, Bound, Extent, Form, Poly, Symbol};
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
    pub fn split_ids(&self, kernel: &Kernel) -> Form<Poly> {
        let mut form = self.clone();
        for axis in Axis::ALL {
            let [global, block, thread] = ids(axis);
            let whole = form.coefficient(global);
            let of_block = whole.times(&block_dim(kernel, axis));
            form.set(block, form.coefficient(block).plus(&of_block));
            form.set(thread, form.coefficient(thread).plus(&whole));
            form.set(global, Poly::default());
        }
        form
    }

    /// The form for the threads of one block, in which the block's index is a symbol.
    pub fn in_block(&self, kernel: &Kernel) -> Form<Poly> {
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
    /// The bound for the threads of one block.
    pub fn in_block(&self, kernel: &Kernel) -> Bound {
        self.of_equal(self.form.in_block(kernel))
    }

    /// The bound with each global id split into its block part and its thread part.
    pub fn split_ids(&self, kernel: &Kernel) -> Bound {
        self.of_equal(self.form.split_ids(kernel))
    }
}
