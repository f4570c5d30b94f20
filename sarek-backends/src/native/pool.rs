//! The thread pool of the native device.
//!
//! Its threads run kernels only. Any number of threads may work on a launch: each takes the next piece while there is
//! one. The caller works too, so a launch ends whether or not other threads join. Then the caller waits for the threads
//! that are still at work, and does nothing else meanwhile. So a launch may be made wherever a program may compute: in
//! a task of another pool, under a lock, in the output hook of another kernel.
//!
//! The caller posts an offer with a number of places on a board, and a thread that joins takes a place. Posting wakes
//! one thread. That thread wakes the next one if places are left, so that the caller does not have to wake them all.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use sarek_runtime::backend::Printing;

/// The number of times that an idle thread polls for work before it sleeps, and that a caller polls for the end of the
/// others. Launches often follow each other closely, and waking a thread takes longer than most launches.
const SPINS: u32 = 32;

/// A pool of threads that run launches.
pub struct Pool {
    threads: usize,
    /// The threads besides the caller, started by the first launch that needs them; `None` if the system has none.
    workers: OnceLock<Option<Arc<Workers>>>,
}

struct Workers {
    board: Mutex<Board>,
    /// Signals a new offer.
    offered: Condvar,
    /// The number of offers with free places, for polling without the lock.
    open: AtomicUsize,
}

#[derive(Default)]
struct Board {
    offers: VecDeque<Offer>,
    /// The number of threads that poll. They look at the board before they sleep.
    spinning: usize,
    /// The number of sleeping threads.
    asleep: usize,
}

/// A job with free places for more threads.
struct Offer {
    job: Arc<Job>,
    places: usize,
}

/// The work of a caller that waits for its end.
struct Job {
    /// The caller's closure, valid while the caller waits.
    work: *const (dyn Fn() + Sync),
    printing: Printing,
    /// The number of threads at work, without the caller.
    inside: AtomicUsize,
    gate: Mutex<()>,
    /// Signals that no thread is at work.
    left: Condvar,
}

// SAFETY: the work may be shared between threads, and is valid while they use it: see `Pool::run`.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    /// The pool of the process.
    pub fn global() -> &'static Pool {
        static GLOBAL: OnceLock<Pool> = OnceLock::new();
        GLOBAL.get_or_init(|| Pool::of(wanted_threads()))
    }

    /// A pool of `threads` threads, including the caller of a launch.
    fn of(threads: usize) -> Pool {
        Pool {
            threads,
            workers: OnceLock::new(),
        }
    }

    /// The maximum number of threads for a launch, including its caller.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `work` once on the caller and once on each of at most `others` more threads. Returns when all that began
    /// have ended.
    pub fn run(&self, others: usize, work: &(dyn Fn() + Sync)) {
        let others = others.min(self.threads.saturating_sub(1));
        let workers = match others {
            0 => None,
            _ => self.workers().as_ref(),
        };
        let Some(workers) = workers else {
            return work();
        };
        // SAFETY: only the lifetime changes. Other threads use the work between their entry, which they find on the
        // board, and their exit. `Posted` withdraws the offer from the board and waits for the last exit before this
        // function returns.
        let erased: *const (dyn Fn() + Sync) =
            unsafe { std::mem::transmute::<&(dyn Fn() + Sync), &'static (dyn Fn() + Sync)>(work) };
        let job = Arc::new(Job {
            work: erased,
            printing: Printing::here(),
            inside: AtomicUsize::new(0),
            gate: Mutex::default(),
            left: Condvar::new(),
        });
        workers.post(&job, others);
        let _posted = Posted { workers, job: &job };
        work();
    }

    fn workers(&self) -> &Option<Arc<Workers>> {
        self.workers
            .get_or_init(|| Workers::start(self.threads - 1))
    }
}

/// The number of threads that rayon would use: `RAYON_NUM_THREADS`, or the processors available to the process by its
/// affinity and the quota of its control group.
fn wanted_threads() -> usize {
    let setting = std::env::var("RAYON_NUM_THREADS").ok();
    let setting = setting
        .and_then(|setting| setting.parse().ok())
        .filter(|n| *n > 0);
    setting.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from))
}

/// A posted offer, while its caller works. Dropping it withdraws the offer and waits.
struct Posted<'a> {
    workers: &'a Workers,
    job: &'a Arc<Job>,
}

impl Drop for Posted<'_> {
    fn drop(&mut self) {
        self.workers.withdraw(self.job);
        self.job.wait();
        self.job.printing.end();
    }
}

impl Job {
    /// Waits until no thread is at work. No thread may enter any more.
    fn wait(&self) {
        for _ in 0..SPINS {
            if self.inside.load(Ordering::Acquire) == 0 {
                return;
            }
            thread::yield_now();
        }
        let mut gate = lock(&self.gate);
        while self.inside.load(Ordering::Acquire) != 0 {
            gate = self.left.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Runs the work on a thread that has entered.
    fn help(&self) {
        // SAFETY: this thread has entered, so the caller has not returned.
        let work = unsafe { &*self.work };
        let work = || self.printing.on_other_thread(work);
        // A launch catches the panics of its kernel. If it panics nevertheless, its caller must not wait forever.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
            std::mem::forget(panic);
        }
        if self.inside.fetch_sub(1, Ordering::AcqRel) == 1 {
            // The caller either sees the zero, or is waiting by the time that the gate is free.
            drop(lock(&self.gate));
            self.left.notify_one();
        }
    }
}

impl Workers {
    /// Starts threads, as many as the system allows.
    fn start(threads: usize) -> Option<Arc<Workers>> {
        let workers = Arc::new(Workers {
            board: Mutex::default(),
            offered: Condvar::new(),
            open: AtomicUsize::new(0),
        });
        let started = (0..threads).map_while(|number| {
            let workers = workers.clone();
            let thread = thread::Builder::new().name(format!("sarek native {number}"));
            thread.spawn(move || workers.serve()).ok()
        });
        match started.count() {
            0 => None,
            _ => Some(workers),
        }
    }

    fn serve(&self) {
        loop {
            self.next().help();
        }
    }

    /// Waits for a job with a free place, and enters it.
    fn next(&self) -> Arc<Job> {
        lock(&self.board).spinning += 1;
        for _ in 0..SPINS {
            if self.open.load(Ordering::Relaxed) > 0 {
                break;
            }
            thread::yield_now();
        }
        let mut board = lock(&self.board);
        board.spinning -= 1;
        loop {
            if let Some(job) = self.take(&mut board) {
                return job;
            }
            board.asleep += 1;
            let woken = self.offered.wait(board);
            board = woken.unwrap_or_else(PoisonError::into_inner);
            board.asleep -= 1;
        }
    }

    /// Enters the oldest job with a free place.
    fn take(&self, board: &mut Board) -> Option<Arc<Job>> {
        let offer = board.offers.front_mut()?;
        offer.places -= 1;
        let job = offer.job.clone();
        job.inside.fetch_add(1, Ordering::Relaxed);
        if offer.places == 0 {
            board.offers.pop_front();
        }
        self.changed(board);
        Some(job)
    }

    fn post(&self, job: &Arc<Job>, places: usize) {
        let mut board = lock(&self.board);
        let job = job.clone();
        board.offers.push_back(Offer { job, places });
        self.changed(&board);
    }

    /// Prevents threads from entering a job.
    fn withdraw(&self, job: &Arc<Job>) {
        let mut board = lock(&self.board);
        board.offers.retain(|offer| !Arc::ptr_eq(&offer.job, job));
        self.open.store(board.offers.len(), Ordering::Relaxed);
    }

    /// Publishes the number of offers, and wakes a thread if there is an offer and none is polling.
    fn changed(&self, board: &Board) {
        self.open.store(board.offers.len(), Ordering::Relaxed);
        if !board.offers.is_empty() && board.spinning == 0 && board.asleep > 0 {
            self.offered.notify_one();
        }
    }
}

#[cfg(test)]
mod tests;
