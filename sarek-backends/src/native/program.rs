//! Running the blocks of a launch over the threads of a pool.

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;
use sarek_runtime::direct::{Direct, DirectArg, IndexSpace, RawFault};

/// A compiled body.
pub struct Compiled(pub Direct);

/// Below this many operations a launch runs on the calling thread: entering the pool from outside
/// costs some 10 µs.
const SMALL: u64 = 1 << 16;

/// Pieces per thread of the pool: a thread that finishes early finds more, and the last piece of a
/// slow one is short beside the whole.
const PIECES_PER_THREAD: u64 = 64;

/// Why a launch stopped.
pub enum Stop {
    /// At a site.
    Fault(RawFault),
    /// By a panic of the body, such as an integer overflow in a debug build.
    Panic(String),
}

/// Runs all blocks, with `pool` by several threads where that is worth it.
///
/// # Safety
/// As for [`sarek_runtime::direct::RunBlocks`].
pub unsafe fn run(
    direct: Direct,
    args: &[DirectArg],
    space: &IndexSpace,
    checked: bool,
    pool: bool,
) -> Result<(), Stop> {
    let blocks = space.blocks();
    // SAFETY: the caller's promise; each block is run once.
    let piece = |blocks: Range<u64>| unsafe { guarded(direct, args, space, blocks, checked) };
    let operations = space.threads().saturating_mul(direct.weight as u64);
    let threads = rayon::current_num_threads() as u64;
    if !pool || blocks < 2 || threads < 2 || operations < SMALL {
        return piece(0..blocks);
    }
    let pieces = blocks.min(threads * PIECES_PER_THREAD);
    let bound = |i: u64| (blocks as u128 * i as u128 / pieces as u128) as u64;
    (0..pieces)
        .into_par_iter()
        .try_for_each(|i| piece(bound(i)..bound(i + 1)))
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
