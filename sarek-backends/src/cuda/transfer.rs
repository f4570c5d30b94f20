//! Large transfers between ordinary memory and the device.
//!
//! The device copies at full speed from and to page-locked memory only, and one thread fills or empties that slower than the
//! bus carries it. So several threads ([`super::team`]) together copy a part of the transfer into a slot of page-locked memory, or out
//! of it, piece by piece, and one, which does nothing else, tells the driver what to carry. They speak by counters alone: a driver
//! that several threads call at a time makes them wait for each other.
//!
//! A device has a crew for each direction, made at the first transfer that is worth it.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cudarc::driver::result::DriverError;
use cudarc::driver::sys::CUstream;
use sarek_runtime::Result;

use super::device::Shared;
use super::staging::{Slot, Staging};
use super::team::Team;
use crate::jit::lock;

/// Smaller transfers are not worth waking threads for.
const WORTH: usize = 4 << 20;

/// How large transfers are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// Threads that copy.
    pub threads: usize,
    /// Bytes of a slot.
    pub slot: usize,
    /// Bytes that a thread copies at a time.
    pub piece: usize,
    /// Are uploads written past the caches?
    pub past_caches: bool,
}

/// The bus takes some 4 µs to go on from one part to the next, a twentieth of what it takes to carry one. Pieces are small, so
/// that it does not wait long for the first part.
const USUAL: Way = Way {
    threads: 8,
    slot: 4 << 20,
    piece: 256 << 10,
    past_caches: false,
};

/// Slots of a crew.
const SLOTS: usize = 4;

static WAY: Mutex<Way> = Mutex::new(USUAL);

/// How large transfers of this process are made from here on, which is for benchmarks to compare; the usual way if `None`.
pub fn set_way(way: Option<Way>) {
    *lock(&WAY) = way.unwrap_or(USUAL);
}

/// The way of transfers, on a machine of so many processors, of which one calls the driver.
fn way() -> Way {
    let way = *lock(&WAY);
    let most = std::thread::available_parallelism().map_or(1, |n| n.get());
    Way {
        threads: way.threads.min(most - 1).max(1),
        ..way
    }
}

/// Is a transfer of so many bytes faster by several threads?
pub(super) fn is_worth(bytes: usize) -> bool {
    bytes >= WORTH && way().threads > 1
}

/// The crews of a device, for uploads and for downloads.
#[derive(Default)]
pub(super) struct Crews {
    uploads: Mutex<Option<Crew>>,
    downloads: Mutex<Option<Crew>>,
}

/// Threads with slots. Parts are numbered through all transfers, and part `n` takes slot `n % SLOTS`.
struct Crew {
    way: Way,
    team: Team,
    staging: Staging,
    board: Board,
    /// Parts of all transfers so far.
    parts: usize,
}

/// Tells the driver of some parts.
type Driving<'a> = dyn Fn(Drive, Range<usize>) -> Result<(), DriverError> + Sync + 'a;

/// Fills or empties slots, for the parts from a number on.
type Copying<'a> = dyn Fn(&Staging, &Board, usize) + Sync + 'a;

/// What those who copy and the one who drives tell each other.
#[derive(Default)]
struct Board {
    /// Parts whose transfer is done.
    passed: AtomicUsize,
    /// For each slot, the bytes that threads put into it, or took out of it, and that the one who drives has not heard of.
    copied: [AtomicUsize; SLOTS],
    /// The driver failed: nothing is to be waited for.
    failed: AtomicBool,
}

impl Board {
    /// Notes that so much of a part is in its slot, or out of it.
    fn tell_copied(&self, part: usize, bytes: usize) {
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

    /// Waits until so many parts have passed; `false` if they never will.
    fn wait_for(&self, parts: usize) -> bool {
        let mut patience = Patience::default();
        while self.passed.load(Ordering::Acquire) < parts {
            if self.failed.load(Ordering::Acquire) {
                return false;
            }
            patience.lose();
        }
        true
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
            true => std::hint::spin_loop(),
            false => std::thread::yield_now(),
        }
    }
}

impl Crew {
    fn new(shared: &Shared, way: Way) -> Result<Crew> {
        let staging = Staging::new((SLOTS, way.slot));
        let staging = staging.map_err(|error| shared.error("cuMemHostAlloc", error))?;
        // Without the threads the crew is of no use, and without memory for threads nothing is.
        let team = Team::new(1 + way.threads).map_err(|error| sarek_runtime::Error::Device {
            device: shared.name.clone(),
            message: format!("no threads to carry a transfer: {error}"),
        })?;
        Ok(Crew {
            way,
            team,
            staging,
            board: Board::default(),
            parts: 0,
        })
    }

    /// The crew of a direction, made for the way of the day.
    fn of<'a>(
        place: &'a Mutex<Option<Crew>>,
        shared: &Shared,
    ) -> Result<MutexGuard<'a, Option<Crew>>> {
        let mut crew = lock(place);
        let way = way();
        if crew.as_ref().is_none_or(|crew| crew.way != way) {
            // What the slots were last used for has to be done before they go.
            shared.finish_all()?;
            *crew = None;
            *crew = Some(Crew::new(shared, way)?);
        }
        Ok(crew)
    }

    /// Carries a transfer of so many bytes. `drive` is called in this thread, to tell the driver of the parts, whose numbers it is
    /// given; `copy` in each of the others, to fill or empty slots.
    fn carry(
        &mut self,
        bytes: usize,
        drive: &Driving<'_>,
        copy: &Copying<'_>,
    ) -> Result<(), DriverError> {
        let first = self.parts;
        self.parts += bytes.div_ceil(self.way.slot);
        let (parts, staging, board) = (first..self.parts, &self.staging, &self.board);
        for copied in &board.copied {
            copied.store(0, Ordering::Relaxed);
        }
        let outcome = Mutex::new(Ok(()));
        self.team.run(&|number| match number {
            0 => {
                let drive_end = drive(Drive { staging, board }, parts.clone());
                board.failed.store(drive_end.is_err(), Ordering::Release);
                *lock(&outcome) = drive_end;
            }
            _ => copy(staging, board, first),
        });
        outcome.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the one who drives works with.
struct Drive<'a> {
    staging: &'a Staging,
    board: &'a Board,
}

impl Drive<'_> {
    /// Tells the others which parts have passed, of those given to the driver.
    fn look(&self, given: usize) -> Result<(), DriverError> {
        let mut passed = self.board.passed.load(Ordering::Relaxed);
        while passed < given && slot_of(self.staging, passed).is_done()? {
            passed += 1;
            self.board.passed.store(passed, Ordering::Release);
        }
        Ok(())
    }
}

fn slot_of(staging: &Staging, part: usize) -> Slot {
    staging.slot(part % SLOTS)
}

impl Crews {
    /// Uploads all of `src`, which may be reused on return.
    pub fn upload(&self, shared: &Shared, stream: CUstream, to: u64, src: &[u8]) -> Result<()> {
        let mut place = Crew::of(&self.uploads, shared)?;
        let Some(crew) = place.as_mut() else {
            return Ok(()); // just made
        };
        let Way {
            slot,
            piece,
            past_caches,
            ..
        } = crew.way;
        let pieces = Mutex::new(src.chunks(piece).enumerate());
        let stream = Queue(stream);
        let carried = crew.carry(
            src.len(),
            &|drive, parts| {
                for (part, at) in parts.zip((0..src.len()).step_by(slot)) {
                    let len = slot.min(src.len() - at);
                    let mut patience = Patience::default();
                    while !drive.board.hear_copied(part, len) {
                        drive.look(part)?;
                        patience.lose();
                    }
                    let slot = slot_of(drive.staging, part);
                    // SAFETY: the part is in its slot, which nobody fills again before it has passed; the memory is in bounds
                    // by contract.
                    unsafe { slot.send(stream.raw(), to + at as u64, len) }?;
                }
                Ok(())
            },
            &|staging, board, first| loop {
                let Some((number, bytes)) = lock(&pieces).next() else {
                    return;
                };
                let at = number * piece;
                let part = first + at / slot;
                if !board.wait_for((part + 1).saturating_sub(SLOTS)) {
                    return;
                }
                // SAFETY: the part that had the slot before has passed, and the piece is this thread's.
                unsafe { slot_of(staging, part).fill(at % slot, bytes, past_caches) };
                board.tell_copied(part, bytes.len());
            },
        );
        finish(shared, place, "cuMemcpyHtoDAsync", carried)
    }

    /// Downloads all of `dst`, complete on return.
    pub fn download(
        &self,
        shared: &Shared,
        stream: CUstream,
        from: u64,
        dst: &mut [u8],
    ) -> Result<()> {
        let mut place = Crew::of(&self.downloads, shared)?;
        let Some(crew) = place.as_mut() else {
            return Ok(()); // just made
        };
        let (Way { slot, piece, .. }, bytes) = (crew.way, dst.len());
        let pieces = Mutex::new(dst.chunks_mut(piece).enumerate());
        let stream = Queue(stream);
        let carried = crew.carry(
            bytes,
            &|drive, parts| {
                let mut given = parts.start;
                let mut patience = Patience::default();
                // Only the last part, which no other follows in its slot, may be less than a slot.
                let is_free = |part| {
                    part < parts.start + SLOTS || drive.board.hear_copied(part - SLOTS, slot)
                };
                while drive.board.passed.load(Ordering::Relaxed) < parts.end {
                    while given < parts.end && is_free(given) {
                        let at = (given - parts.start) * slot;
                        let place = slot_of(drive.staging, given);
                        // SAFETY: what the slot held was taken out of it; the memory is in bounds by contract.
                        unsafe {
                            place.fetch(stream.raw(), from + at as u64, slot.min(bytes - at))
                        }?;
                        given += 1;
                        patience = Patience::default();
                    }
                    drive.look(given)?;
                    patience.lose();
                }
                Ok(())
            },
            &|staging, board, first| loop {
                let Some((number, bytes)) = lock(&pieces).next() else {
                    return;
                };
                let at = number * piece;
                let part = first + at / slot;
                if !board.wait_for(part + 1) {
                    return;
                }
                // SAFETY: the part is in its slot, which is written again only behind this.
                unsafe { slot_of(staging, part).take(at % slot, bytes) };
                board.tell_copied(part, bytes.len());
            },
        );
        finish(shared, place, "cuMemcpyDtoHAsync", carried)
    }
}

/// A stream, on which the thread that drives queues; it is the one that was asked for the transfer.
#[derive(Clone, Copy)]
struct Queue(CUstream);

// SAFETY: streams may be used from any thread.
unsafe impl Sync for Queue {}

impl Queue {
    fn raw(&self) -> CUstream {
        self.0
    }
}

/// Ends a transfer. A crew whose driver failed is given up: its counts are no longer those of the device.
fn finish(
    shared: &Shared,
    mut crew: MutexGuard<'_, Option<Crew>>,
    call: &str,
    carried: Result<(), DriverError>,
) -> Result<()> {
    carried.map_err(|error| {
        // What was queued still uses the slots, unless the device is lost.
        let _lost = shared.finish_all();
        *crew = None;
        shared.error(call, error)
    })
}
