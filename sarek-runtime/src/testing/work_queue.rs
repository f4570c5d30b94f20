//! The work queue of a stream of the fake GPU.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::sync::lock;

type Work = Box<dyn FnOnce() + Send>;

/// A queue of work, in order, which runs when a caller waits for it.
#[derive(Default)]
pub(super) struct WorkQueue {
    pub(super) waiting: Mutex<VecDeque<Work>>,
    pub(super) queued: AtomicUsize,
    pub(super) done: AtomicUsize,
    /// Held while work runs.
    running: Mutex<()>,
}

impl WorkQueue {
    pub(super) fn push(&self, work: impl FnOnce() + Send + 'static) {
        // The count is increased before others can queue more, so that waiting for their count
        // includes this work.
        let mut waiting = lock(&self.waiting);
        waiting.push_back(Box::new(work));
        self.queued.fetch_add(1, Ordering::Relaxed);
    }

    /// Runs work until `until` items have run in total.
    pub(super) fn run(&self, until: usize) {
        // Work may wait for another stream whose work waited for earlier work here.
        if self.done.load(Ordering::Acquire) >= until {
            return;
        }
        let _one_at_a_time = lock(&self.running);
        while self.done.load(Ordering::Acquire) < until {
            let work = lock(&self.waiting).pop_front();
            work.expect("work was queued")();
            self.done.fetch_add(1, Ordering::Release);
        }
    }

    pub(super) fn run_all(&self) {
        let queued = self.queued.load(Ordering::Relaxed);
        self.run(queued);
    }
}
