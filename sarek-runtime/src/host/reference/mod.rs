//! The reference: runs the user's own function, one thread after the other.
//!
//! Threads that cooperate (by barriers, shared arrays, subgroups) are threads of the operating
//! system that pass a token around: [`block_threads`].

mod block_threads;
mod place;
mod shared;

use std::cell::Cell;

pub use block_threads::for_each_block;
pub(super) use block_threads::{barrier, subgroup};
pub use place::{PanicPlace, note_panics, place_of};
pub use shared::Shared;
pub(super) use shared::make as make_shared;

use super::IndexSpace;

/// The position of the calling thread in a launch.
#[derive(Clone, Copy)]
pub(super) struct Position {
    pub(super) thread: [usize; 3],
    pub(super) block: [usize; 3],
    pub(super) space: IndexSpace,
}

impl Position {
    /// The number of the thread in its block, x fastest.
    pub(super) fn lane(&self) -> usize {
        let [w, h, _] = self.space.block.map(|d| d as usize);
        (self.thread[2] * h + self.thread[1]) * w + self.thread[0]
    }
}

thread_local! {
    static POSITION: Cell<Option<Position>> = const { Cell::new(None) };
}

/// The position that the id functions read.
pub(super) fn position(id: &str) -> Position {
    let position = POSITION.get();
    position.unwrap_or_else(|| panic!("`{id}()` was called outside of a kernel"))
}

/// Restores the position when a kernel ends, even by a panic.
struct Restore(Option<Position>);

impl Drop for Restore {
    fn drop(&mut self) {
        POSITION.set(self.0);
    }
}

/// Calls `body` for each thread of a launch in order, x fastest, with the ids set.
pub fn for_each_thread(space: &IndexSpace, mut body: impl FnMut()) {
    let _restore = Restore(POSITION.get());
    let dim = space.block.map(|d| d as usize);
    let extent = space.extent.map(|e| e as usize);
    for z in 0..extent[2] {
        for y in 0..extent[1] {
            for x in 0..extent[0] {
                let position = Position {
                    thread: [x % dim[0], y % dim[1], z % dim[2]],
                    block: [x / dim[0], y / dim[1], z / dim[2]],
                    space: *space,
                };
                POSITION.set(Some(position));
                body();
            }
        }
    }
}

/// Hides the argument of a `&mut [T]` parameter from the optimiser: other threads of the block
/// change it at barriers.
#[inline(never)]
pub fn launder<T>(slice: &mut [T]) -> &mut [T] {
    std::hint::black_box(slice)
}

#[cfg(test)]
mod tests;
