//! A team of threads that wait for work and do it together.
//!
//! The threads are kept between transfers: starting a thread, and registering it with the driver, takes as long as a
//! transfer of some megabytes.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::jit::lock;

/// A team: its threads, and the state that they share with the caller.
pub(super) struct Team {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    begun: Condvar,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// The number of the current work.
    turn: u64,
    work: Option<Work>,
    /// The number of threads that have not finished the current work.
    busy: usize,
    panic: Option<Box<dyn Any + Send>>,
    over: bool,
}

/// The work, with its lifetime erased; see [`Team::run`].
#[derive(Clone, Copy)]
struct Work(*const (dyn Fn(usize) + Sync));

// SAFETY: the closure may be called from any thread, and lives while it is.
unsafe impl Send for Work {}

impl Team {
    /// A team of `size` threads, including the one that calls [`Team::run`].
    pub fn new(size: usize) -> std::io::Result<Team> {
        let mut team = Team {
            shared: Arc::default(),
            threads: Vec::new(),
        };
        for number in 1..size {
            let shared = team.shared.clone();
            let thread = std::thread::Builder::new().name("sarek transfer".into());
            let thread = thread.spawn(move || shared.serve(number))?;
            team.threads.push(thread);
        }
        Ok(team)
    }

    /// Calls `work` on each thread with the thread's number; the caller is 0. Returns when all have finished, and
    /// resumes the panic of one of them if any panicked.
    pub fn run(&mut self, work: &(dyn Fn(usize) + Sync)) {
        // SAFETY: only the lifetime changes. `Waiting` waits on every return path until the last thread has finished,
        // and no thread calls the work after that.
        let work_for_all = unsafe {
            std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(work)
        };
        {
            let mut state = lock(&self.shared.state);
            state.turn += 1;
            state.work = Some(Work(work_for_all));
            state.busy = self.threads.len();
            self.shared.begun.notify_all();
        }
        let waiting = Waiting(&self.shared);
        work(0);
        drop(waiting);
        if let Some(panic) = lock(&self.shared.state).panic.take() {
            resume_unwind(panic);
        }
    }
}

/// Waits, when dropped, until all threads have finished.
struct Waiting<'a>(&'a Shared);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        while state.busy > 0 {
            let waited = self.0.ended.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        state.work = None;
    }
}

impl Shared {
    /// Runs each work as thread `number`, until the team is dropped.
    fn serve(&self, number: usize) {
        let mut done = 0;
        let mut state = lock(&self.state);
        loop {
            if state.over {
                return;
            }
            let Some(Work(work)) = state.work.filter(|_| state.turn != done) else {
                let waited = self.begun.wait(state);
                state = waited.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            done = state.turn;
            drop(state);
            // SAFETY: until this thread is counted below, `run` does not return, so the work lives.
            let end = catch_unwind(AssertUnwindSafe(|| unsafe { (*work)(number) }));
            state = lock(&self.state);
            state.panic = state.panic.take().or(end.err());
            state.busy -= 1;
            if state.busy == 0 {
                self.ended.notify_one();
            }
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        lock(&self.shared.state).over = true;
        self.shared.begun.notify_all();
        for thread in self.threads.drain(..) {
            let _ended = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn all_take_part_each_time() {
        let mut team = Team::new(4).unwrap();
        let counts = [const { AtomicUsize::new(0) }; 4];
        for _ in 0..100 {
            team.run(&|number| {
                counts[number].fetch_add(1, Ordering::Relaxed);
            });
        }
        let counts = counts.each_ref().map(|c| c.load(Ordering::Relaxed));
        assert_eq!(counts, [100; 4]);
    }

    #[test]
    fn a_panic_is_passed_on_and_the_team_stays() {
        let mut team = Team::new(3).unwrap();
        for panicking in 0..3 {
            let run = AssertUnwindSafe(|| {
                team.run(&|number| assert_ne!(number, panicking, "number {number}"));
            });
            let panic = catch_unwind(run).unwrap_err();
            let text = panic.downcast_ref::<String>().unwrap();
            assert!(text.contains(&format!("number {panicking}")), "{text}");
        }
        let count = AtomicUsize::new(0);
        team.run(&|_| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(count.into_inner(), 3);
    }
}
