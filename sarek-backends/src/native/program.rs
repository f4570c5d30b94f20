//! Running the blocks of a launch over the threads of a pool.

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::iter::plumbing::{Folder, UnindexedConsumer, UnindexedProducer, bridge_unindexed};
use rayon::prelude::*;
use sarek_runtime::claims::Schedule;
use sarek_runtime::direct::{Direct, DirectArg, IndexSpace, RawFault};

use super::deep;

/// A compiled body.
pub struct Compiled(pub Direct);

/// Below this many operations a launch runs on the calling thread: entering the pool from outside
/// costs some 10 µs.
const SMALL: u64 = 1 << 16;

/// Into how many pieces for each thread of the pool a launch may fall: a thread that finishes early finds more, and the last
/// piece of a slow one is short beside the whole.
const PIECES_PER_THREAD: u64 = 64;

/// Why a launch stopped.
pub enum Stop {
    /// At a site.
    Fault(RawFault),
    /// By a panic of the body, such as an integer overflow in a debug build.
    Panic(String),
    /// Before it began: the system has no room for the stacks that it needs.
    Stack(std::io::Error),
}

/// Runs all blocks, unless the schedule says otherwise by several threads where that is worth it.
///
/// # Safety
/// As for [`sarek_runtime::direct::RunBlocks`].
pub unsafe fn run(
    direct: Direct,
    args: &[DirectArg],
    space: &IndexSpace,
    checked: bool,
    schedule: Schedule,
) -> Result<(), Stop> {
    let blocks = space.blocks();
    // SAFETY: the caller's promise; each block is run once.
    let piece = |blocks: Range<u64>| unsafe { guarded(direct, args, space, blocks, checked) };
    let operations = space.threads().saturating_mul(direct.weight as u64);
    let threads = rayon::current_num_threads() as u64;
    if let Some(stack) = direct.stack() {
        let threads = match schedule {
            Schedule::SingleThread => 1,
            Schedule::Blocks if operations < SMALL => 1,
            Schedule::Blocks | Schedule::GridStride => threads,
        };
        let least = (blocks / (threads * PIECES_PER_THREAD)).max(1);
        return deep::run(blocks, least, threads as usize, stack, &piece);
    }
    match schedule {
        Schedule::SingleThread => return piece(0..blocks),
        // Each thread of the pool takes every so manieth block.
        Schedule::GridStride if blocks > 1 => {
            let turns = |first: u64| {
                let mut own = (first..blocks).step_by(threads as usize);
                own.try_for_each(|block| piece(block..block + 1))
            };
            return (0..threads.min(blocks)).into_par_iter().try_for_each(turns);
        }
        Schedule::Blocks | Schedule::GridStride => {}
    }
    if blocks < 2 || threads < 2 || operations < SMALL {
        return piece(0..blocks);
    }
    let whole = Stretch {
        blocks: 0..blocks,
        least: blocks / (threads * PIECES_PER_THREAD),
    };
    whole.try_for_each(piece)
}

/// Blocks in a row, as few pieces of them as keep all threads at work: a piece has its costs, and blocks may be small.
struct Stretch {
    blocks: Range<u64>,
    /// What has no more blocks than this is one piece.
    least: u64,
}

impl ParallelIterator for Stretch {
    type Item = Range<u64>;

    fn drive_unindexed<C: UnindexedConsumer<Self::Item>>(self, consumer: C) -> C::Result {
        bridge_unindexed(self, consumer)
    }
}

impl UnindexedProducer for Stretch {
    type Item = Range<u64>;

    /// Rayon asks for it as long as there are threads without work.
    fn split(self) -> (Self, Option<Self>) {
        let Stretch { blocks, least } = self;
        let len = blocks.end - blocks.start;
        if len < 2 || len <= least {
            return (Stretch { blocks, least }, None);
        }
        let middle = blocks.start + len / 2;
        let part = |blocks| Stretch { blocks, least };
        (part(blocks.start..middle), Some(part(middle..blocks.end)))
    }

    fn fold_with<F: Folder<Self::Item>>(self, folder: F) -> F {
        folder.consume(self.blocks)
    }
}

/// Runs some blocks; a panic is caught.
///
/// # Safety
/// As for [`sarek_runtime::direct::RunBlocks`].
unsafe fn guarded(
    direct: Direct,
    args: &[DirectArg],
    space: &IndexSpace,
    blocks: Range<u64>,
    checked: bool,
) -> Result<(), Stop> {
    // A body that panics leaves nothing behind but the vectors that it was writing, and those are
    // poisoned by the runtime.
    let body = AssertUnwindSafe(|| {
        // SAFETY: the caller's promise.
        unsafe { (direct.run)(args, space, blocks, checked) }
    });
    match catch_unwind(body) {
        Ok(outcome) => outcome.map_err(Stop::Fault),
        Err(payload) => Err(Stop::Panic(message(&*payload))),
    }
}

fn message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        return (*text).to_string();
    }
    match payload.downcast_ref::<String>() {
        Some(text) => text.clone(),
        None => "the kernel panicked".to_string(),
    }
}
