//! Runs blocks whose lanes have large arrays, on threads with large stacks.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use sarek_runtime::host::stack;

use super::program::Stop;

/// Runs all blocks, in pieces of `least` blocks, on up to `threads` threads with stacks of `size` bytes.
/// Returns the first stop in the order of threads.
pub fn run(
    blocks: u64,
    least: u64,
    threads: usize,
    size: usize,
    piece: &(dyn Fn(Range<u64>) -> Result<(), Stop> + Sync),
) -> Result<(), Stop> {
    let threads = threads.min(stack::at_once(size)).max(1);
    let threads = threads.min(usize::try_from(blocks.div_ceil(least.max(1))).unwrap_or(threads));
    let (next, stopped) = (AtomicU64::new(0), AtomicBool::new(false));
    let work = || {
        while !stopped.load(Ordering::Relaxed) {
            let first = next.fetch_add(least.max(1), Ordering::Relaxed);
            if first >= blocks {
                break;
            }
            if let Err(stop) = piece(first..blocks.min(first.saturating_add(least.max(1)))) {
                stopped.store(true, Ordering::Relaxed);
                return Err(stop);
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let mut started = vec![];
        for _ in 0..threads {
            match stack::spawn(scope, size, work) {
                Ok(thread) => started.push(thread),
                // The threads that started do the work of the others.
                Err(_) if !started.is_empty() => break,
                Err(error) => return Err(Stop::Stack(error)),
            }
        }
        let ends = started.into_iter().map(|thread| {
            let end = thread.join();
            end.unwrap_or_else(|_| unreachable!("panics of a body are caught"))
        });
        // Joins all threads before it looks at the results.
        let ends: Vec<Result<(), Stop>> = ends.collect();
        ends.into_iter().collect()
    })
}
