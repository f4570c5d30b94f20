use std::ptr::NonNull;

use sarek_ir::SiteId;
use sarek_ir::interp::Ids;

use super::host_functions::{Hosts, ThreadState};
use super::{IndexSpace, RawFault};

/// A block of a launch, as the generated body sees it.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// The index of the block in the grid.
    pub idx: [usize; 3],
    /// The threads of a block along each axis.
    pub dim: [usize; 3],
    /// The blocks of the grid along each axis.
    pub grid: [usize; 3],
    /// The threads of the launch along each axis.
    pub extent: [usize; 3],
    /// The global ids of its first thread.
    pub first: [usize; 3],
    /// The number of its threads that run, along each axis: fewer than `dim` at the ragged edge.
    pub lanes: [usize; 3],
    /// The host functions of intrinsics, if a launch may call one.
    hosts: Option<HostsOfLaunch>,
}

/// A pointer to the host functions that a launch may call, which outlive its blocks.
#[derive(Clone, Copy, Debug)]
struct HostsOfLaunch(NonNull<Hosts>);

// SAFETY: it stands for a shared reference, and `Hosts` is `Sync`.
unsafe impl Send for HostsOfLaunch {}
// SAFETY: as above.
unsafe impl Sync for HostsOfLaunch {}

impl Block {
    /// The block with this number; x runs fastest.
    #[inline]
    pub fn new(space: &IndexSpace, number: u64) -> Block {
        let [gx, gy, _] = space.grid;
        let mut block = Block {
            idx: [number % gx, number / gx % gy, number / gx / gy].map(|i| i as usize),
            dim: space.block.map(|d| d as usize),
            grid: space.grid.map(|g| g as usize),
            extent: space.extent.map(|e| e as usize),
            first: [0; 3],
            lanes: [0; 3],
            hosts: None,
        };
        for axis in 0..3 {
            block.place(axis);
        }
        block
    }

    /// Lets the block's threads call host functions of intrinsics.
    ///
    /// # Safety
    /// `hosts` outlives the block and all of its copies.
    #[inline]
    pub(super) unsafe fn set_hosts(&mut self, hosts: Option<&Hosts>) {
        self.hosts = hosts.map(|hosts| HostsOfLaunch(NonNull::from(hosts)));
    }

    /// True if some intrinsic has a host function that the block's threads may call.
    #[inline(always)]
    pub fn has_hosts(&self) -> bool {
        self.hosts.is_some()
    }

    /// The host functions that the block's threads may call.
    pub(super) fn hosts(&self) -> Option<&Hosts> {
        // SAFETY: by the promise of `set_hosts`, they outlive the block.
        self.hosts
            .map(|HostsOfLaunch(hosts)| unsafe { hosts.as_ref() })
    }

    /// The state of the thread at these indices of the block.
    pub(super) fn thread_state(&self, thread: [usize; 3]) -> ThreadState {
        let wide = |of: [usize; 3]| of.map(|i| i as u64);
        ThreadState::new(Ids {
            thread_idx: wide(thread),
            block_idx: wide(self.idx),
            block_dim: wide(self.dim),
            grid_dim: wide(self.grid),
            global_dim: wide(self.extent),
        })
    }

    /// Moves on to the next block, without the divisions of [`Block::new`].
    #[inline]
    pub(super) fn advance(&mut self) {
        self.idx[0] += 1;
        if self.idx[0] == self.grid[0] {
            self.idx[0] = 0;
            self.idx[1] += 1;
            if self.idx[1] == self.grid[1] {
                self.idx[1] = 0;
                self.idx[2] += 1;
                self.place(2);
            }
            self.place(1);
        }
        self.place(0);
    }

    /// Computes the fields that follow from the index along an axis.
    #[inline]
    fn place(&mut self, axis: usize) {
        self.first[axis] = self.idx[axis] * self.dim[axis];
        let left = self.extent[axis].saturating_sub(self.first[axis]);
        self.lanes[axis] = self.dim[axis].min(left);
    }

    /// Asserts that all threads of the block run.
    #[inline(always)]
    pub fn assert_whole(&self, dim: [usize; 3]) {
        debug_assert!(self.lanes == dim);
    }

    /// The number of the first `lanes` threads along an axis whose global id is below `bound`.
    #[inline(always)]
    pub fn lanes_below(&self, axis: usize, lanes: usize, bound: usize) -> usize {
        lanes.min(bound.saturating_sub(self.first[axis]))
    }

    /// The fault of the thread at these indices of the block, which stops at a site.
    #[cold]
    #[inline(never)]
    pub fn fault<R>(&self, site: u32, detail: u64, thread: [usize; 3]) -> Result<R, RawFault> {
        let global = |axis: usize| (self.first[axis] + thread[axis]) as u64;
        Err(RawFault {
            site: SiteId(site),
            detail,
            thread: [global(0), global(1), global(2)],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_block_of_a_row_is_clipped() {
        let space = IndexSpace {
            grid: [3, 2, 1],
            block: [4, 2, 1],
            extent: [9, 3, 1],
        };
        let mut walked = Block::new(&space, 0);
        for number in 0..6 {
            let block = Block::new(&space, number);
            assert_eq!(
                (block.idx, block.first, block.lanes),
                (walked.idx, walked.first, walked.lanes)
            );
            walked.advance();
        }
        let block = Block::new(&space, 5);
        assert_eq!(
            (block.idx, block.first, block.lanes),
            ([2, 1, 0], [8, 2, 0], [1, 1, 1])
        );
        assert_eq!(Block::new(&space, 0).lanes, [4, 2, 1]);
    }
}
