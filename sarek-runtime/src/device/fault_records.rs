//! Outcomes of launches: fault records that are read late and reported once.
//!
//! A launch that can fault, on a device with its own memory, has a fault record: a few words of
//! device memory. [`Pending`] is a record that may still be unread. It is held by the vectors that
//! the launch wrote, and by the stream's log. The first to ask for the outcome reads the record
//! back, together with its neighbours. From then on the outcome is known to all.
//!
//! Vectors keep a fault. `sync` of the stream or device, the next launch on a stream from
//! [`Device::new_stream`], and [`Event::sync`](super::Event::sync) report it only if it was not
//! reported before.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sarek_ir::write::FAULT_WORDS;

use super::Device;
use super::queue::Queue;
use crate::fault_decode::Sites;
use crate::plugin::backend::{BackendStream, Mem, Slice};
use crate::sync::lock;
use crate::{Error, Result};

/// The size of a fault record in bytes.
pub(crate) const RECORD_BYTES: usize = FAULT_WORDS * size_of::<u32>();

/// The number of fault records in one allocation: a single fill clears them, a single copy reads
/// them.
const PER_SLAB: usize = 64;

/// An allocation of fault records.
pub(super) struct Slab {
    mem: Arc<dyn Mem>,
    /// The distance between two records in bytes.
    stride: usize,
    len: usize,
    given: AtomicUsize,
}

/// A slot for one record.
pub(crate) struct RecordSlot {
    slab: Arc<Slab>,
    at: usize,
}

impl RecordSlot {
    /// The slot's memory.
    pub(crate) fn slice(&self) -> Slice {
        Slice {
            mem: self.slab.mem.clone(),
            offset: self.at * self.slab.stride,
            len: RECORD_BYTES,
        }
    }
}

impl Slab {
    /// Allocates a slab; it has only one record if buffers cannot be bound in part.
    pub(super) fn new(device: &Device) -> Result<Slab> {
        let info = device.info();
        let len = if info.slabs { PER_SLAB } else { 1 };
        let stride = RECORD_BYTES.next_multiple_of(info.alignment.max(1));
        Ok(Slab {
            mem: device.alloc((len - 1) * stride + RECORD_BYTES)?,
            stride,
            len,
            given: AtomicUsize::new(0),
        })
    }

    /// Takes the next slot, if there is one. Called under the queue's lock.
    pub(super) fn slot(self: &Arc<Slab>) -> Option<RecordSlot> {
        let at = self.given.load(Ordering::Relaxed);
        if at == self.len {
            return None;
        }
        self.given.store(at + 1, Ordering::Relaxed);
        let slab = self.clone();
        Some(RecordSlot { slab, at })
    }

    /// True if only the queue holds the slab: no launch is running and no record is unread.
    pub(super) fn is_spare(self: &Arc<Slab>) -> bool {
        Arc::strong_count(self) == 1
    }

    /// Clears the slab, after all earlier work.
    pub(super) fn reset(&self, stream: &dyn BackendStream) -> Result<()> {
        // SAFETY: all of its memory, which no running launch has.
        unsafe { stream.zero(&self.part(self.len)) }?;
        self.given.store(0, Ordering::Relaxed);
        Ok(())
    }

    fn part(&self, records: usize) -> Slice {
        Slice {
            mem: self.mem.clone(),
            offset: 0,
            len: (records.max(1) - 1) * self.stride + RECORD_BYTES,
        }
    }

    /// Reads the records that were handed out so far.
    pub(super) fn read(&self, stream: &dyn BackendStream) -> Result<Vec<u8>> {
        let part = self.part(self.given.load(Ordering::Relaxed));
        let mut bytes = vec![0; part.len];
        // SAFETY: these records were cleared when they were handed out, and are written on this
        // stream.
        unsafe { stream.copy_out(&part, &mut bytes) }?;
        Ok(bytes)
    }
}

/// The outcome of a launch.
#[derive(Clone)]
pub(super) enum Outcome {
    Good,
    Bad(Arc<Failure>),
}

impl Outcome {
    fn result(&self) -> Result<()> {
        match self {
            Outcome::Good => Ok(()),
            Outcome::Bad(failure) => Err(failure.error.clone()),
        }
    }
}

/// A fault of a launch; later launches in a sequence share it.
pub(super) struct Failure {
    error: Error,
    /// True if it was reported to the user.
    reported: AtomicBool,
}

impl Failure {
    /// Returns the fault, unless it was reported before.
    pub(super) fn report(&self) -> Result<()> {
        match self.reported.swap(true, Ordering::Relaxed) {
            true => Ok(()),
            false => Err(self.error.clone()),
        }
    }

    pub(super) fn is_reported(&self) -> bool {
        self.reported.load(Ordering::Relaxed)
    }
}

/// The outcome of a launch that can fault or print.
pub(super) struct Record {
    sites: Sites,
    prints: bool,
    state: Mutex<State>,
}

enum State {
    Unread {
        /// The record on the device; `None` if the launch cannot fault.
        slot: Option<RecordSlot>,
        /// Earlier launches of the same stream that this one depends on: their faults are its own.
        earlier: Vec<Arc<Record>>,
    },
    Known(Outcome),
}

impl Record {
    pub(super) fn new(
        slot: Option<RecordSlot>,
        earlier: Vec<Arc<Record>>,
        prints: bool,
        sites: Sites,
    ) -> Record {
        Record {
            sites,
            prints,
            state: Mutex::new(State::Unread { slot, earlier }),
        }
    }

    /// True if the launch prints.
    pub(super) fn prints(&self) -> bool {
        self.prints
    }

    /// The slab that holds the unread record.
    pub(super) fn slab(&self) -> Option<Arc<Slab>> {
        match &*lock(&self.state) {
            State::Unread { slot, .. } => Some(slot.as_ref()?.slab.clone()),
            State::Known(_) => None,
        }
    }

    /// The outcome, if it is known or contained in these bytes.
    pub(super) fn decode(&self, read: &[(Arc<Slab>, Vec<u8>)]) -> Option<Outcome> {
        let state = lock(&self.state);
        let (slot, earlier) = match &*state {
            State::Unread { slot, earlier } => (slot, earlier),
            State::Known(outcome) => return Some(outcome.clone()),
        };
        for earlier in earlier {
            match earlier.outcome()? {
                Outcome::Good => {}
                bad @ Outcome::Bad(_) => return Some(bad),
            }
        }
        let Some(slot) = slot else {
            return Some(Outcome::Good);
        };
        let (_, bytes) = read.iter().find(|(s, _)| Arc::ptr_eq(s, &slot.slab))?;
        let at = slot.at * slot.slab.stride;
        // A record queued since then is not among them.
        let record = bytes.get(at..at + RECORD_BYTES)?;
        Some(match self.sites.decode(record) {
            None => Outcome::Good,
            Some(error) => Outcome::Bad(Arc::new(Failure {
                error,
                reported: AtomicBool::new(false),
            })),
        })
    }

    /// Sets the outcome unless it is known, and returns the known one.
    pub(super) fn resolve(&self, outcome: Outcome) -> Option<Outcome> {
        let mut state = lock(&self.state);
        if let State::Unread { .. } = *state {
            *state = State::Known(outcome);
        }
        match &*state {
            State::Unread { .. } => None,
            State::Known(outcome) => Some(outcome.clone()),
        }
    }

    /// The error for a record that stays unknown after its stream's records were read.
    pub(super) fn unread(&self) -> Error {
        Error::Device {
            device: format!("the device that ran `{}`", self.sites.kernel.name),
            message: "the fault record of the launch could not be read, so its results are not known to be good; launch it again"
                .to_owned(),
        }
    }

    pub(super) fn outcome(&self) -> Option<Outcome> {
        match &*lock(&self.state) {
            State::Unread { .. } => None,
            State::Known(outcome) => Some(outcome.clone()),
        }
    }

    /// True if there is nothing left to report.
    pub(super) fn is_delivered(&self) -> bool {
        match self.outcome() {
            None => false,
            Some(Outcome::Good) => true,
            Some(Outcome::Bad(failure)) => failure.is_reported(),
        }
    }

    /// The fault, if one is known.
    pub(super) fn failure(&self) -> Option<Arc<Failure>> {
        match self.outcome()? {
            Outcome::Good => None,
            Outcome::Bad(failure) => Some(failure),
        }
    }
}

impl Record {
    fn take_earlier(&mut self) -> Vec<Arc<Record>> {
        let state = self.state.get_mut();
        match state.unwrap_or_else(PoisonError::into_inner) {
            State::Unread { earlier, .. } => std::mem::take(earlier),
            State::Known(_) => Vec::new(),
        }
    }
}

/// Records may form long chains of sole owners. They are dropped in a loop, because recursion could
/// overflow the stack.
impl Drop for Record {
    fn drop(&mut self) {
        let mut all = self.take_earlier();
        while let Some(record) = all.pop() {
            if let Some(mut last) = Arc::into_inner(record) {
                all.append(&mut last.take_earlier());
            }
        }
    }
}

/// The outcome of a launch on a stream, known or pending.
#[derive(Clone)]
pub(crate) struct Pending {
    queue: Arc<Queue>,
    record: Arc<Record>,
}

impl Pending {
    pub(super) fn new(queue: Arc<Queue>, record: Arc<Record>) -> Pending {
        Pending { queue, record }
    }

    /// Waits for the outcome and returns it, at every call.
    pub(crate) fn outcome(&self) -> Result<()> {
        let outcome = self.queue.resolve(&self.record)?;
        if let Outcome::Bad(failure) = &outcome {
            let _seen = failure.report();
        }
        outcome.result()
    }

    /// The outcome, if it is known without waiting.
    pub(crate) fn known(&self) -> Option<Result<()>> {
        self.record.outcome().map(|outcome| outcome.result())
    }

    /// Waits for the outcome, and returns a fault unless it was reported before.
    pub(super) fn report(&self) -> Result<()> {
        match self.queue.resolve(&self.record)? {
            Outcome::Good => Ok(()),
            Outcome::Bad(failure) => failure.report(),
        }
    }

    /// True if the launch was on this stream.
    pub(super) fn is_of(&self, queue: &Arc<Queue>) -> bool {
        Arc::ptr_eq(&self.queue, queue)
    }

    pub(super) fn into_record(self) -> Arc<Record> {
        self.record
    }

    pub(crate) fn is_same(&self, other: &Pending) -> bool {
        Arc::ptr_eq(&self.record, &other.record)
    }
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.known() {
            None => "unknown outcome",
            Some(Ok(())) => "no fault",
            Some(Err(_)) => "fault",
        })
    }
}
