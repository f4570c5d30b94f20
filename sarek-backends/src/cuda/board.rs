//! What those who copy a transfer and the one who drives it tell each other: counters, and no lock.
//!
//! Parts are numbered through all transfers, and part `n` takes slot `n % SLOTS`. A slot belongs to those who copy or to the driver,
//! by turns, and each hands it on by a counter that the other waits for: `copied` to the one who drives, `passed` back.
//! `tests/models.rs` runs this file on a model of memory, in all orders of its threads.

use std::ops::Range;

use super::sync::{AtomicBool, AtomicUsize, Ordering, spin_loop, yield_now};

/// What those who copy and the one who drives tell each other.
pub struct Board<const SLOTS: usize> {
    /// Parts whose transfer is done.
    passed: AtomicUsize,
    /// For each slot, the bytes that threads put into it, or took out of it, and that the one who drives has not heard of.
    copied: [AtomicUsize; SLOTS],
    /// The driver failed: nothing is to be waited for.
    failed: AtomicBool,
}

/// The device, as the one who drives sees it.
pub trait Driver {
    /// Why it failed.
    type Error;

    /// Begins the transfer between the device and a part's slot, which is the driver's until that is done.
    fn begin(&self, part: usize) -> Result<(), Self::Error>;

    /// Is the last transfer of a part's slot done?
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

    /// Before the threads of a transfer begin: what the last one copied is not asked for any more.
    pub fn clear(&self) {
        for copied in &self.copied {
            copied.store(0, Ordering::Relaxed);
        }
    }

    /// Waits until a part's slot may be filled; `false` if it never may.
    pub fn await_free(&self, part: usize) -> bool {
        self.await_passed((part + 1).saturating_sub(SLOTS))
    }

    /// Waits until a part has come into its slot; `false` if it never will.
    pub fn await_arrived(&self, part: usize) -> bool {
        self.await_passed(part + 1)
    }

    fn await_passed(&self, parts: usize) -> bool {
        let mut patience = Patience::default();
        while self.passed.load(Ordering::Acquire) < parts {
            if self.failed.load(Ordering::Acquire) {
                return false;
            }
            patience.lose();
        }
        true
    }

    /// Notes that so much of a part is in its slot, or out of it.
    pub fn tell_copied(&self, part: usize, bytes: usize) {
        self.copied[part % SLOTS].fetch_add(bytes, Ordering::Release);
    }

    /// Is all of a part copied? Is told once.
    fn hear_copied(&self, part: usize, bytes: usize) -> bool {
        let copied = &self.copied[part % SLOTS];
        let is_copied = copied.load(Ordering::Acquire) == bytes;
        if is_copied {
            // The threads use the slot again once the driver has been told of it.
            copied.store(0, Ordering::Relaxed);
        }
        is_copied
    }

    /// Drives an upload of parts of these sizes: sends each once it is in its slot.
    pub fn send<D: Driver>(
        &self,
        driver: &D,
        parts: Range<usize>,
        size: impl Fn(usize) -> usize,
    ) -> Result<(), D::Error> {
        self.noting_failure(|| {
            for part in parts {
                let mut patience = Patience::default();
                while !self.hear_copied(part, size(part)) {
                    self.look(driver, part)?;
                    patience.lose();
                }
                driver.begin(part)?;
            }
            Ok(())
        })
    }

    /// Drives a download of parts that are as large as slots: fetches each once its slot is free.
    pub fn fetch<D: Driver>(
        &self,
        driver: &D,
        parts: Range<usize>,
        slot: usize,
    ) -> Result<(), D::Error> {
        // Only the last part, which no other follows in its slot, may be less than a slot.
        let is_free = |part| part < parts.start + SLOTS || self.hear_copied(part - SLOTS, slot);
        self.noting_failure(|| {
            let mut given = parts.start;
            let mut patience = Patience::default();
            while self.passed.load(Ordering::Relaxed) < parts.end {
                while given < parts.end && is_free(given) {
                    driver.begin(given)?;
                    given += 1;
                    patience = Patience::default();
                }
                self.look(driver, given)?;
                patience.lose();
            }
            Ok(())
        })
    }

    /// Tells the others which parts have passed, of those given to the driver.
    fn look<D: Driver>(&self, driver: &D, given: usize) -> Result<(), D::Error> {
        let mut passed = self.passed.load(Ordering::Relaxed);
        while passed < given && driver.is_done(passed)? {
            passed += 1;
            self.passed.store(passed, Ordering::Release);
        }
        Ok(())
    }

    /// Lets nobody wait for a driver that failed.
    fn noting_failure<E>(&self, drive: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let end = drive();
        self.failed.store(end.is_err(), Ordering::Release);
        end
    }
}

/// Waiting that leaves the processor to others after a while.
#[derive(Default)]
struct Patience(u32);

impl Patience {
    const SPINS: u32 = 2000;

    fn lose(&mut self) {
        self.0 += 1;
        match self.0 < Self::SPINS {
            true => spin_loop(),
            false => yield_now(),
        }
    }
}
