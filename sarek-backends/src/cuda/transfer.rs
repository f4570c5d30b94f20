//! Large transfers between ordinary memory and the device.
//!
//! The device copies at full speed only from and to page-locked memory, and a single thread fills or empties such
//! memory more slowly than the bus transfers it. So several threads ([`super::team`]) together copy each part of a
//! transfer into a slot of page-locked memory, or out of it, piece by piece. One more thread only issues the driver's
//! calls: a driver that several threads call at once makes them wait for each other. The threads synchronize by
//! counters alone ([`super::board`]).
//!
//! A device has copiers for each direction, created by the first transfer that is large enough.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cudarc::driver::result::DriverError;
use cudarc::driver::sys::CUstream;
use sarek_runtime::Result;

use super::board::{Board, Driver};
use super::device::Shared;
use super::staging::{Staging, StagingSlot};
use super::team::Team;
use crate::jit::lock;

/// Smaller transfers are not worth waking threads.
const WORTH: usize = 4 << 20;

/// The parameters of large transfers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TransferConfig {
    /// The number of copying threads.
    pub threads: usize,
    /// The size of a slot in bytes.
    pub slot: usize,
    /// The number of bytes that a thread copies at a time.
    pub piece: usize,
    /// True if uploads are written with non-temporal stores, which bypass the caches.
    pub past_caches: bool,
}

/// The default. The bus takes some 4 µs between two parts, a twentieth of the transfer time of one. Pieces are small,
/// so that the bus does not wait long for the first part.
const DEFAULT: TransferConfig = TransferConfig {
    threads: 8,
    slot: 4 << 20,
    piece: 256 << 10,
    past_caches: false,
};

/// The number of slots of the copiers of one direction.
const SLOTS: usize = 4;

static CONFIG: Mutex<TransferConfig> = Mutex::new(DEFAULT);

/// Sets the parameters of all later large transfers of this process, so that benchmarks can compare them; `None`
/// restores the default.
pub fn set_transfer_config(config: Option<TransferConfig>) {
    *lock(&CONFIG) = config.unwrap_or(DEFAULT);
}

/// The current parameters, limited to this machine's processors. One processor is left to call the driver.
fn config() -> TransferConfig {
    let config = *lock(&CONFIG);
    let most = std::thread::available_parallelism().map_or(1, |n| n.get());
    TransferConfig {
        threads: config.threads.min(most - 1).max(1),
        ..config
    }
}

/// True if several threads speed up a transfer of this many bytes.
pub(super) fn is_worth(bytes: usize) -> bool {
    bytes >= WORTH && config().threads > 1
}

/// The copiers of a device, for uploads and for downloads.
#[derive(Default)]
pub(super) struct Transfers {
    uploads: Mutex<Option<Copiers>>,
    downloads: Mutex<Option<Copiers>>,
}

/// A thread team with slots. Parts are numbered through all transfers, and part `n` uses slot `n % SLOTS`.
struct Copiers {
    config: TransferConfig,
    team: Team,
    staging: Staging,
    board: Board<SLOTS>,
    /// The number of parts of all transfers so far.
    parts: usize,
}

/// Issues the transfers of a range of parts.
type Driving<'a> =
    dyn Fn(&Staging, &Board<SLOTS>, Range<usize>) -> Result<(), DriverError> + Sync + 'a;

/// Fills or empties slots, starting with the part of this number.
type Copying<'a> = dyn Fn(&Staging, &Board<SLOTS>, usize) + Sync + 'a;

impl Copiers {
    fn new(shared: &Shared, config: TransferConfig) -> Result<Copiers> {
        let staging = Staging::new((SLOTS, config.slot));
        let staging = staging.map_err(|error| shared.error("cuMemHostAlloc", error))?;
        // Without threads the copiers are useless.
        let team = Team::new(1 + config.threads).map_err(|error| sarek_runtime::Error::Device {
            device: shared.name.clone(),
            message: format!("cannot start the threads that copy large transfers: {error}"),
        })?;
        Ok(Copiers {
            config,
            team,
            staging,
            board: Board::new(),
            parts: 0,
        })
    }

    /// The copiers of a direction, recreated if the parameters have changed.
    fn of<'a>(
        place: &'a Mutex<Option<Copiers>>,
        shared: &Shared,
    ) -> Result<MutexGuard<'a, Option<Copiers>>> {
        let mut copiers = lock(place);
        let config = config();
        if copiers
            .as_ref()
            .is_none_or(|copiers| copiers.config != config)
        {
            // The slots' last transfers must finish before the slots are freed.
            shared.finish_all()?;
            *copiers = None;
            *copiers = Some(Copiers::new(shared, config)?);
        }
        Ok(copiers)
    }

    /// Executes a transfer of `bytes` bytes. Calls `drive` on this thread, with the numbers of the parts, to issue the
    /// driver's calls. Calls `copy` on each of the others, to fill or empty slots.
    fn carry(
        &mut self,
        bytes: usize,
        drive: &Driving<'_>,
        copy: &Copying<'_>,
    ) -> Result<(), DriverError> {
        let first = self.parts;
        self.parts += bytes.div_ceil(self.config.slot);
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

/// A driver that starts the transfers of parts by `begin`.
struct Carrier<'a, F> {
    staging: &'a Staging,
    begin: F,
}

impl<F: Fn(StagingSlot, usize) -> Result<(), DriverError>> Driver for Carrier<'_, F> {
    type Error = DriverError;

    fn begin(&self, part: usize) -> Result<(), DriverError> {
        (self.begin)(slot_of(self.staging, part), part)
    }

    fn is_done(&self, part: usize) -> Result<bool, DriverError> {
        slot_of(self.staging, part).is_done()
    }
}

fn slot_of(staging: &Staging, part: usize) -> StagingSlot {
    staging.slot(part % SLOTS)
}

impl Transfers {
    /// Uploads all of `src`, which may be reused on return.
    pub fn upload(&self, shared: &Shared, stream: CUstream, to: u64, src: &[u8]) -> Result<()> {
        let mut place = Copiers::of(&self.uploads, shared)?;
        let Some(copiers) = place.as_mut() else {
            return Ok(()); // just created
        };
        let TransferConfig {
            slot,
            piece,
            past_caches,
            ..
        } = copiers.config;
        let pieces = Mutex::new(src.chunks(piece).enumerate());
        let stream = Queue(stream);
        let carried = copiers.carry(
            src.len(),
            &|staging, board, parts| {
                let first = parts.start;
                let at = |part| (part - first) * slot;
                let len = |part| slot.min(src.len() - at(part));
                let begin = |place: StagingSlot, part| {
                    // SAFETY: the part is in its slot, which no thread fills again before the part has passed. The
                    // memory is in bounds by contract.
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
                // SAFETY: the slot's previous part has passed, and the piece belongs to this thread.
                unsafe { slot_of(staging, part).fill(at % slot, bytes, past_caches) };
                board.add_copied(part, bytes.len());
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
        let mut place = Copiers::of(&self.downloads, shared)?;
        let Some(copiers) = place.as_mut() else {
            return Ok(()); // just created
        };
        let (TransferConfig { slot, piece, .. }, bytes) = (copiers.config, dst.len());
        let pieces = Mutex::new(dst.chunks_mut(piece).enumerate());
        let stream = Queue(stream);
        let carried = copiers.carry(
            bytes,
            &|staging, board, parts| {
                let first = parts.start;
                let begin = |place: StagingSlot, part| {
                    let at = (part - first) * slot;
                    // SAFETY: the slot has been emptied; the memory is in bounds by contract.
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
                // SAFETY: the part is in its slot, which is written again only after `add_copied`.
                unsafe { slot_of(staging, part).take(at % slot, bytes) };
                board.add_copied(part, bytes.len());
            },
        );
        finish(shared, place, "cuMemcpyDtoHAsync", carried)
    }
}

/// The stream on which the driving thread queues the transfer.
#[derive(Clone, Copy)]
struct Queue(CUstream);

// SAFETY: streams may be used from any thread.
unsafe impl Sync for Queue {}

impl Queue {
    fn raw(&self) -> CUstream {
        self.0
    }
}

/// Ends a transfer. If the driver failed, the copiers are dropped: their counters no longer match the device's state.
fn finish(
    shared: &Shared,
    mut copiers: MutexGuard<'_, Option<Copiers>>,
    call: &str,
    carried: Result<(), DriverError>,
) -> Result<()> {
    carried.map_err(|error| {
        // Queued commands still use the slots, unless the device is lost.
        let _lost = shared.finish_all();
        *copiers = None;
        shared.error(call, error)
    })
}
