//! Runs the blocks of a launch on the threads of a pool.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use sarek_runtime::claims::Schedule;
use sarek_runtime::host::{Direct, DirectArg, IndexSpace, RawFault, panic_message};

use super::deep;
use super::pool::Pool;

/// A natively compiled body.
pub struct Compiled(pub Direct);

/// A launch of fewer operations runs on the calling thread: waking another thread costs some microseconds.
const SMALL: u64 = 1 << 16;

/// The smallest piece is a thread's share of the blocks divided by this number. So the last piece of a slow thread is
/// short compared to the whole launch.
const PIECES_PER_THREAD: u64 = 64;

/// The reason why a launch stopped.
pub enum Stop {
    /// A fault at a site.
    Fault(RawFault),
    /// A panic of the body, such as an integer overflow in a debug build.
    Panic(String),
    /// The system has no memory for the stacks that the launch needs. It has not begun.
    Stack(std::io::Error),
}

/// Runs all blocks. Unless the schedule says otherwise, it uses several threads where they pay off.
///
/// # Safety
/// As for [`sarek_runtime::host::RunBlocks`].
pub unsafe fn run(
    direct: Direct,
    args: &[DirectArg],
    space: &IndexSpace,
    checked: bool,
    schedule: Schedule,
) -> Result<(), Stop> {
    let blocks = space.blocks();
    // SAFETY: the caller's promise; each block runs once.
    let piece = |blocks: Range<u64>| unsafe { guarded(direct, args, space, blocks, checked) };
    let operations = space.threads().saturating_mul(direct.cost as u64);
    let pool = Pool::global();
    let threads = pool.threads() as u64;
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
        // The threads of the pool take the blocks in a grid-stride loop.
        Schedule::GridStride if blocks > 1 => {
            let turns = |firsts: Range<u64>| {
                let mut own = firsts.flat_map(|first| (first..blocks).step_by(threads as usize));
                own.try_for_each(|block| piece(block..block + 1))
            };
            return run_on_pool(pool, threads.min(blocks), turns);
        }
        Schedule::Blocks | Schedule::GridStride => {}
    }
    if blocks < 2 || threads < 2 || operations < SMALL {
        return piece(0..blocks);
    }
    run_on_pool(pool, blocks, piece)
}

/// Runs blocks on all threads of the pool. After a stop, no thread takes another piece. Of several stops, that of the
/// first block is returned.
fn run_on_pool(
    pool: &Pool,
    blocks: u64,
    piece: impl Fn(Range<u64>) -> Result<(), Stop> + Sync,
) -> Result<(), Stop> {
    let schedule = GuidedSchedule::new(blocks, pool.threads() as u64);
    let stopped: Mutex<Option<(u64, Stop)>> = Mutex::new(None);
    let work = || {
        while let Some(blocks) = schedule.take() {
            let first = blocks.start;
            if let Err(stop) = piece(blocks) {
                schedule.close();
                let mut stopped = stopped.lock().unwrap_or_else(PoisonError::into_inner);
                if stopped.as_ref().is_none_or(|(other, _)| first < *other) {
                    *stopped = Some((first, stop));
                }
            }
        }
    };
    pool.run(usize::try_from(blocks - 1).unwrap_or(usize::MAX), &work);
    let stopped = stopped.into_inner().unwrap_or_else(PoisonError::into_inner);
    stopped.map_or(Ok(()), |(_, stop)| Err(stop))
}

/// Guided self-scheduling: the blocks not taken yet, in order. A piece is a fraction of the remaining blocks. It is
/// large at first, since each piece has a cost, and small at the end, so that all threads finish together.
struct GuidedSchedule {
    next: AtomicU64,
    end: u64,
    threads: u64,
    /// The minimum number of blocks in a piece.
    least: u64,
}

impl GuidedSchedule {
    fn new(blocks: u64, threads: u64) -> GuidedSchedule {
        GuidedSchedule {
            next: AtomicU64::new(0),
            end: blocks,
            threads,
            least: (blocks / (threads * PIECES_PER_THREAD)).max(1),
        }
    }

    fn take(&self) -> Option<Range<u64>> {
        // Relaxed is enough: the pool orders the memory accesses of pieces with those around the launch.
        let next = |start: u64| {
            let left = self.end.saturating_sub(start);
            let share = (left / (2 * self.threads)).max(self.least).min(left);
            (left > 0).then_some(start + share)
        };
        let taken = self
            .next
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        taken.ok().and_then(|start| Some(start..next(start)?))
    }

    /// Ends the distribution of pieces.
    fn close(&self) {
        self.next.store(self.end, Ordering::Relaxed);
    }
}

/// Runs some blocks, and catches panics.
///
/// # Safety
/// As for [`sarek_runtime::host::RunBlocks`].
unsafe fn guarded(
    direct: Direct,
    args: &[DirectArg],
    space: &IndexSpace,
    blocks: Range<u64>,
    checked: bool,
) -> Result<(), Stop> {
    // A panic of the body only affects the vectors that it was writing, and the runtime poisons those.
    let body = AssertUnwindSafe(|| {
        // SAFETY: the caller's promise.
        unsafe { (direct.run)(args, space, blocks, checked) }
    });
    match catch_unwind(body) {
        Ok(outcome) => outcome.map_err(Stop::Fault),
        Err(payload) => {
            let text = panic_message(&*payload);
            // The payload may panic when it is dropped; then it is leaked.
            if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
                std::mem::forget(again);
            }
            Err(Stop::Panic(text))
        }
    }
}
