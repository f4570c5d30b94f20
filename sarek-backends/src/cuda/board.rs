//! The lock-free board by which the copying threads of a transfer and the driving thread synchronize: atomic counters.
//!
//! Parts are numbered through all transfers, and part `n` uses slot `n % SLOTS`. A slot alternately belongs to the
//! copying threads and to the driver. Each hands it over with a counter that the other waits for: `copied` to the
//! driving thread, `passed` back. `tests/models.rs` checks this file with a model of memory, in all interleavings of
//! its threads.

use std::ops::Range;

use super::sync::{AtomicBool, AtomicUsize, Ordering, spin_loop, yield_now};

/// The counters of a transfer.
pub struct Board<const SLOTS: usize> {
    /// The number of parts whose transfer is done.
    passed: AtomicUsize,
    /// For each slot, the number of bytes that threads have copied into it, or out of it, and that the driving thread
    /// has not acknowledged.
    copied: [AtomicUsize; SLOTS],
    /// True if the driver has failed, so that waiting is pointless.
    failed: AtomicBool,
}

/// The device, as the driving thread uses it.
pub trait Driver {
    /// The reason for a failure.
    type Error;

    /// Begins the transfer between the device and a part's slot. The slot is the driver's until the transfer is done.
    fn begin(&self, part: usize) -> Result<(), Self::Error>;

    /// True if the last transfer of a part's slot is done.
    fn is_done(&self, part: usize) -> Result<bool, Self::Error>;
}

impl<const SLOTS: usize> Board<SLOTS> {
    pub fn new() -> Self {
        Board {
            passed: AtomicUsize::new(0),
            copied: std::array::from_fn(|_| AtomicUsize::new(0)),
            failed: AtomicBool::new(false),
        }
    }

    /// Resets the counts of bytes before the threads of a transfer begin. Those of the last transfer are obsolete.
    pub fn clear(&self) {
        for copied in &self.copied {
            copied.store(0, Ordering::Relaxed);
        }
    }

    /// Waits until a part's slot may be filled. Returns `false` if the driver has failed.
    pub fn await_free(&self, part: usize) -> bool {
        self.await_passed((part + 1).saturating_sub(SLOTS))
    }

    /// Waits until a part has arrived in its slot. Returns `false` if the driver has failed.
    pub fn await_arrived(&self, part: usize) -> bool {
        self.await_passed(part + 1)
    }

    fn await_passed(&self, parts: usize) -> bool {
        let mut backoff = Backoff::default();
        while self.passed.load(Ordering::Acquire) < parts {
            if self.failed.load(Ordering::Acquire) {
                return false;
            }
            backoff.wait();
        }
        true
    }

    /// Adds `bytes` of a part to those that are in its slot, or out of it.
    pub fn add_copied(&self, part: usize, bytes: usize) {
        self.copied[part % SLOTS].fetch_add(bytes, Ordering::Release);
    }

    /// True if all of a part is copied. Acknowledges it, so it returns true once.
    fn acknowledge_copied(&self, part: usize, bytes: usize) -> bool {
        let copied = &self.copied[part % SLOTS];
        let is_copied = copied.load(Ordering::Acquire) == bytes;
        if is_copied {
            // The threads count in this slot again only after this call, since they wait for `passed` first.
            copied.store(0, Ordering::Relaxed);
        }
        is_copied
    }

    /// Drives an upload of parts with these sizes: sends each part once it is in its slot.
    pub fn send<D: Driver>(
        &self,
        driver: &D,
        parts: Range<usize>,
        size: impl Fn(usize) -> usize,
    ) -> Result<(), D::Error> {
        self.publish_failure(|| {
            for part in parts {
                let mut backoff = Backoff::default();
                while !self.acknowledge_copied(part, size(part)) {
                    self.publish_passed(driver, part)?;
                    backoff.wait();
                }
                driver.begin(part)?;
            }
            Ok(())
        })
    }

    /// Drives a download of parts as large as a slot: fetches each part once its slot is free.
    pub fn fetch<D: Driver>(
        &self,
        driver: &D,
        parts: Range<usize>,
        slot: usize,
    ) -> Result<(), D::Error> {
        // Only the last part may be smaller than a slot, and no other part follows it in its slot.
        let is_free =
            |part| part < parts.start + SLOTS || self.acknowledge_copied(part - SLOTS, slot);
        self.publish_failure(|| {
            let mut given = parts.start;
            let mut backoff = Backoff::default();
            while self.passed.load(Ordering::Relaxed) < parts.end {
                while given < parts.end && is_free(given) {
                    driver.begin(given)?;
                    given += 1;
                    backoff = Backoff::default();
                }
                self.publish_passed(driver, given)?;
                backoff.wait();
            }
            Ok(())
        })
    }

    /// Publishes the number of parts that have passed, among the `given` first ones.
    fn publish_passed<D: Driver>(&self, driver: &D, given: usize) -> Result<(), D::Error> {
        let mut passed = self.passed.load(Ordering::Relaxed);
        while passed < given && driver.is_done(passed)? {
            passed += 1;
            self.passed.store(passed, Ordering::Release);
        }
        Ok(())
    }

    /// Publishes whether the driver failed, so that no thread waits for it any more.
    fn publish_failure<E>(&self, drive: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let end = drive();
        self.failed.store(end.is_err(), Ordering::Release);
        end
    }
}

/// Spin-waiting that yields the processor after a while.
#[derive(Default)]
struct Backoff(u32);

impl Backoff {
    const SPINS: u32 = 2000;

    fn wait(&mut self) {
        self.0 += 1;
        match self.0 < Self::SPINS {
            true => spin_loop(),
            false => yield_now(),
        }
    }
}
