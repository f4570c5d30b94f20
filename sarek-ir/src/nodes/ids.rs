//! The ids of a thread and the extents of its launch, as numbers.

use super::{Axis, Builtin};

/// The number of threads of a subgroup.
pub const SUBGROUP: u64 = 32;

/// The position of a thread in its launch, and the sizes of the launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ids {
    /// Index of the thread in its block.
    pub thread_idx: [u64; 3],
    /// Index of the block in the grid.
    pub block_idx: [u64; 3],
    /// Threads of a block.
    pub block_dim: [u64; 3],
    /// Blocks of the grid.
    pub grid_dim: [u64; 3],
    /// Threads of the launch.
    pub global_dim: [u64; 3],
}

impl Ids {
    /// The first thread of a block, and the number of threads that run along each axis. Threads beyond the
    /// launch's extent do not run.
    pub fn of_block(
        block_idx: [u64; 3],
        block: [u32; 3],
        grid_dim: [u64; 3],
        global_dim: [u64; 3],
    ) -> (Ids, [u64; 3]) {
        let block_dim = block.map(u64::from);
        let first = |a: usize| block_idx[a].saturating_mul(block_dim[a]);
        let size = [0, 1, 2].map(|a| global_dim[a].saturating_sub(first(a)).min(block_dim[a]));
        let ids = Ids {
            thread_idx: [0; 3],
            block_idx,
            block_dim,
            grid_dim,
            global_dim,
        };
        (ids, size)
    }

    /// The index in the launch of a thread with this index in the block.
    pub fn global_of(&self, thread: [u64; 3]) -> [u64; 3] {
        [0, 1, 2].map(|a| self.block_idx[a].saturating_mul(self.block_dim[a]) + thread[a])
    }

    /// Index of the thread in the launch along an axis.
    pub fn global(&self, axis: Axis) -> u64 {
        let a = axis.index();
        self.block_idx[a] * self.block_dim[a] + self.thread_idx[a]
    }

    /// Index of the thread in its block, x running fastest.
    pub fn linear(&self) -> u64 {
        let ([x, y, z], [w, h, _]) = (self.thread_idx, self.block_dim);
        (z * h + y) * w + x
    }

    /// The value of an id or extent.
    pub fn get(&self, builtin: Builtin) -> u64 {
        match builtin {
            Builtin::ThreadIdx(a) => self.thread_idx[a.index()],
            Builtin::BlockIdx(a) => self.block_idx[a.index()],
            Builtin::BlockDim(a) => self.block_dim[a.index()],
            Builtin::GridDim(a) => self.grid_dim[a.index()],
            Builtin::GlobalIdx(a) => self.global(a),
            Builtin::GlobalDim(a) => self.global_dim[a.index()],
            Builtin::SubgroupSize => SUBGROUP,
            Builtin::SubgroupLane => self.linear() % SUBGROUP,
            Builtin::GlobalThreadId => {
                let [w, h, _] = self.global_dim;
                let rows = self
                    .global(Axis::Z)
                    .wrapping_mul(h)
                    .wrapping_add(self.global(Axis::Y));
                rows.wrapping_mul(w).wrapping_add(self.global(Axis::X))
            }
        }
    }
}
