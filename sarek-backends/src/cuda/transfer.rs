//! Large transfers between ordinary memory and the device.
//!
//! The device copies at full speed from and to page-locked memory only, and one thread fills or empties that slower than the
//! bus carries it. So several threads ([`super::team`]) together copy a part of the transfer into a slot of page-locked memory, or out
//! of it, piece by piece, and one, which does nothing else, tells the driver what to carry. They speak by counters alone
//! ([`super::board`]): a driver that several threads call at a time makes them wait for each other.
//!
//! A device has a crew for each direction, made at the first transfer that is worth it.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cudarc::driver::result::DriverError;
use cudarc::driver::sys::CUstream;
use sarek_runtime::Result;

use super::board::{Board, Driver};
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
    board: Board<SLOTS>,
    /// Parts of all transfers so far.
    parts: usize,
}

/// Carries the parts of a transfer.
type Driving<'a> =
    dyn Fn(&Staging, &Board<SLOTS>, Range<usize>) -> Result<(), DriverError> + Sync + 'a;

/// Fills or empties slots, for the parts from a number on.
type Copying<'a> = dyn Fn(&Staging, &Board<SLOTS>, usize) + Sync + 'a;

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
            board: Board::new(),
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
        board.clear();
        let outcome = Mutex::new(Ok(()));
        self.team.run(&|number| match number {
            0 => *lock(&outcome) = drive(staging, board, parts.clone()),
            _ => copy(staging, board, first),
        });
        outcome.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The driver, which carries parts to or from slots by `begin`.
struct Carrier<'a, F> {
    staging: &'a Staging,
    begin: F,
}

impl<F: Fn(Slot, usize) -> Result<(), DriverError>> Driver for Carrier<'_, F> {
    type Error = DriverError;

    fn begin(&self, part: usize) -> Result<(), DriverError> {
        (self.begin)(slot_of(self.staging, part), part)
    }

    fn is_done(&self, part: usize) -> Result<bool, DriverError> {
        slot_of(self.staging, part).is_done()
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
            &|staging, board, parts| {
                let first = parts.start;
                let at = |part| (part - first) * slot;
                let len = |part| slot.min(src.len() - at(part));
                let begin = |place: Slot, part| {
                    // SAFETY: the part is in its slot, which nobody fills again before it has passed; the memory is in bounds
                    // by contract.
                    unsafe { place.send(stream.raw(), to + at(part) as u64, len(part)) }
                };
                board.send(&Carrier { staging, begin }, parts, len)
            },
            &|staging, board, first| loop {
                let Some((number, bytes)) = lock(&pieces).next() else {
                    return;
                };
                let at = number * piece;
                let part = first + at / slot;
                if !board.await_free(part) {
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
            &|staging, board, parts| {
                let first = parts.start;
                let begin = |place: Slot, part| {
                    let at = (part - first) * slot;
                    // SAFETY: what the slot held was taken out of it; the memory is in bounds by contract.
                    unsafe { place.fetch(stream.raw(), from + at as u64, slot.min(bytes - at)) }
                };
                board.fetch(&Carrier { staging, begin }, parts, slot)
            },
            &|staging, board, first| loop {
                let Some((number, bytes)) = lock(&pieces).next() else {
                    return;
                };
                let at = number * piece;
                let part = first + at / slot;
                if !board.await_arrived(part) {
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
