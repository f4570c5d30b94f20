//! The threads of the native device.
//!
//! They run kernels and nothing else. A launch is work that any number of threads may do together, since each of them takes the next
//! piece as long as there is one. The caller does it too, so a launch ends whether or not other threads come; then it waits for those
//! that are inside, and takes up no other work meanwhile. So a launch may be made wherever a program may compute: in a task of another
//! pool, under a lock, in the output hook of another kernel.
//!
//! An offer of work lies on a board, and who comes takes a place. One thread is woken for an offer, and wakes the next one when it
//! leaves places free, so that the caller is not the one that wakes all.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use sarek_runtime::backend::Printing;

/// How often a thread without work looks for some before it sleeps, and how often a caller looks whether the others are done: launches
/// often follow each other, and to wake a thread takes longer than most of them.
const LOOKS: u32 = 32;

/// Threads that run launches.
pub struct Pool {
    threads: usize,
    /// Those beside the caller, once a launch has wanted them; `None` if the system gives none.
    crew: OnceLock<Option<Arc<Crew>>>,
}

struct Crew {
    board: Mutex<Board>,
    /// There is an offer.
    offered: Condvar,
    /// Offers with free places, for those who look without the lock.
    open: AtomicUsize,
}

#[derive(Default)]
struct Board {
    offers: VecDeque<Offer>,
    /// Threads that look for work, and find an offer before they sleep.
    looking: usize,
    /// Threads that sleep.
    asleep: usize,
}

/// Work for some threads more.
struct Offer {
    job: Arc<Job>,
    places: usize,
}

/// Work of a caller that waits for its end.
struct Job {
    /// The caller's, as long as it waits.
    work: *const (dyn Fn() + Sync),
    printing: Printing,
    /// Threads at work, without the caller.
    inside: AtomicUsize,
    gate: Mutex<()>,
    /// Nobody is inside.
    left: Condvar,
}

// SAFETY: the work may be shared between threads, and is there while it is used: see `Pool::run`.
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

    /// A pool of so many threads, the caller of a launch among them.
    fn of(threads: usize) -> Pool {
        Pool {
            threads,
            crew: OnceLock::new(),
        }
    }

    /// How many threads may work on a launch, its caller among them.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Has the caller and at most `others` more threads do the work, each once, and returns when all who began are done.
    pub fn run(&self, others: usize, work: &(dyn Fn() + Sync)) {
        let others = others.min(self.threads.saturating_sub(1));
        let crew = match others {
            0 => None,
            _ => self.crew().as_ref(),
        };
        let Some(crew) = crew else {
            return work();
        };
        // SAFETY: nothing but the lifetime changes. Other threads use the work between their entry, which they find on the board, and
        // their exit; `Posted` takes the offer from the board and waits for the last exit before this function is left.
        let erased: *const (dyn Fn() + Sync) =
            unsafe { std::mem::transmute::<&(dyn Fn() + Sync), &'static (dyn Fn() + Sync)>(work) };
        let job = Arc::new(Job {
            work: erased,
            printing: Printing::here(),
            inside: AtomicUsize::new(0),
            gate: Mutex::default(),
            left: Condvar::new(),
        });
        crew.post(&job, others);
        let _posted = Posted { crew, job: &job };
        work();
    }

    fn crew(&self) -> &Option<Arc<Crew>> {
        self.crew.get_or_init(|| Crew::start(self.threads - 1))
    }
}

/// As many threads as rayon would have: as `RAYON_NUM_THREADS` says, or as the process may use processors, by its affinity and the
/// quota of its control group.
fn wanted_threads() -> usize {
    let told = std::env::var("RAYON_NUM_THREADS").ok();
    let told = told.and_then(|told| told.parse().ok()).filter(|n| *n > 0);
    told.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from))
}

/// An offer of a caller that works on it.
struct Posted<'a> {
    crew: &'a Crew,
    job: &'a Arc<Job>,
}

impl Drop for Posted<'_> {
    fn drop(&mut self) {
        self.crew.withdraw(self.job);
        self.job.wait();
        self.job.printing.end();
    }
}

impl Job {
    /// Waits until nobody is inside; nobody enters any more.
    fn wait(&self) {
        for _ in 0..LOOKS {
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

    /// Does the work on a thread that has entered.
    fn help(&self) {
        // SAFETY: this thread is inside, so the caller has not returned.
        let work = unsafe { &*self.work };
        let work = || self.printing.on_other_thread(work);
        // The work of a launch catches what its kernel does; should it panic all the same, its caller must not wait forever.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
            std::mem::forget(panic);
        }
        if self.inside.fetch_sub(1, Ordering::AcqRel) == 1 {
            // The caller either sees the zero, or is waiting once it has let go of the gate.
            drop(lock(&self.gate));
            self.left.notify_one();
        }
    }
}

impl Crew {
    /// Starts threads, or as many of them as the system gives.
    fn start(threads: usize) -> Option<Arc<Crew>> {
        let crew = Arc::new(Crew {
            board: Mutex::default(),
            offered: Condvar::new(),
            open: AtomicUsize::new(0),
        });
        let started = (0..threads).map_while(|number| {
            let crew = crew.clone();
            let thread = thread::Builder::new().name(format!("sarek native {number}"));
            thread.spawn(move || crew.serve()).ok()
        });
        match started.count() {
            0 => None,
            _ => Some(crew),
        }
    }

    fn serve(&self) {
        loop {
            self.next().help();
        }
    }

    /// The next job, which this thread has entered.
    fn next(&self) -> Arc<Job> {
        lock(&self.board).looking += 1;
        for _ in 0..LOOKS {
            if self.open.load(Ordering::Relaxed) > 0 {
                break;
            }
            thread::yield_now();
        }
        let mut board = lock(&self.board);
        board.looking -= 1;
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

    /// Enters the oldest job that has a place.
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

    /// Lets nobody enter a job any more.
    fn withdraw(&self, job: &Arc<Job>) {
        let mut board = lock(&self.board);
        board.offers.retain(|offer| !Arc::ptr_eq(&offer.job, job));
        self.open.store(board.offers.len(), Ordering::Relaxed);
    }

    /// Sees to it that somebody comes if there is an offer.
    fn changed(&self, board: &Board) {
        self.open.store(board.offers.len(), Ordering::Relaxed);
        if !board.offers.is_empty() && board.looking == 0 && board.asleep > 0 {
            self.offered.notify_one();
        }
    }
}

#[cfg(test)]
mod tests;
