//! Faults that have not been heard of.
//!
//! A launch that can fault on a device of its own memory carries a fault record, a few words of
//! device memory. [`Pending`] is such a record not yet read: the vectors that the launch wrote hold
//! it, and so does the stream's log. Whoever asks first reads it back, together with its neighbours; from then on the
//! outcome is known to all. An outcome sticks to the vectors; `sync` of the stream or device, the next launch on a
//! stream of one's own, and [`Event::sync`](super::Event::sync) report it only if nothing has reported it before.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sarek_ir::write::FAULT_WORDS;

use super::Device;
use super::queue::Queue;
use crate::fault::Sites;
use crate::plugin::backend::{BackendStream, Mem, Slice};
use crate::sync::lock;
use crate::{Error, Result};

/// Bytes of a fault record.
pub(crate) const RECORD_BYTES: usize = FAULT_WORDS * size_of::<u32>();

/// Fault records of one allocation: a single fill clears them, a single copy reads them.
const PER_SLAB: usize = 64;

/// Memory of fault records.
pub(super) struct Slab {
    mem: Arc<dyn Mem>,
    /// From one record to the next.
    stride: usize,
    len: usize,
    given: AtomicUsize,
}

/// Room for one record.
pub(crate) struct Slot {
    slab: Arc<Slab>,
    at: usize,
}

impl Slot {
    /// Where the launch finds it.
    pub(crate) fn slice(&self) -> Slice {
        Slice {
            mem: self.slab.mem.clone(),
            offset: self.at * self.slab.stride,
            len: RECORD_BYTES,
        }
    }
}

impl Slab {
    /// Of one record only where buffers cannot be bound in part.
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

    /// The next record, if there is room. Called under the queue's lock.
    pub(super) fn slot(self: &Arc<Slab>) -> Option<Slot> {
        let at = self.given.load(Ordering::Relaxed);
        if at == self.len {
            return None;
        }
        self.given.store(at + 1, Ordering::Relaxed);
        let slab = self.clone();
        Some(Slot { slab, at })
    }

    /// Does nobody but the queue hold it: no launch under way, no record unread?
    pub(super) fn is_spare(self: &Arc<Slab>) -> bool {
        Arc::strong_count(self) == 1
    }

    /// Clears it, after all that was queued before.
    pub(super) fn reset(&self, stream: &dyn BackendStream) -> Result<()> {
        // SAFETY: all of its memory, which no launch under way has.
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

    /// The records given so far.
    pub(super) fn read(&self, stream: &dyn BackendStream) -> Result<Vec<u8>> {
        let part = self.part(self.given.load(Ordering::Relaxed));
        let mut bytes = vec![0; part.len];
        // SAFETY: these records were cleared when they were given, and are written on this stream.
        unsafe { stream.copy_out(&part, &mut bytes) }?;
        Ok(bytes)
    }
}

/// What a launch came to.
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

/// A fault of a launch; those behind it in a sequence share it.
pub(super) struct Failure {
    error: Error,
    /// Has a user seen it?
    reported: AtomicBool,
}

impl Failure {
    /// The fault, unless a user has seen it.
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

/// What a launch that can fault, or prints, left behind.
pub(super) struct Record {
    sites: Sites,
    prints: bool,
    state: Mutex<State>,
}

enum State {
    Unread {
        /// Where it is on the device, unless nothing can fault.
        slot: Option<Slot>,
        /// Earlier launches of the same stream that made what this one worked with: their faults are its own.
        earlier: Vec<Arc<Record>>,
    },
    Known(Outcome),
}

impl Record {
    pub(super) fn new(
        slot: Option<Slot>,
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

    /// Does the launch print?
    pub(super) fn prints(&self) -> bool {
        self.prints
    }

    /// Where it is still to be read.
    pub(super) fn slab(&self) -> Option<Arc<Slab>> {
        match &*lock(&self.state) {
            State::Unread { slot, .. } => Some(slot.as_ref()?.slab.clone()),
            State::Known(_) => None,
        }
    }

    /// The outcome, if it is known or stands in these bytes.
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
        // One that was queued since is not among them.
        let record = bytes.get(at..at + RECORD_BYTES)?;
        Some(match self.sites.decode(record) {
            None => Outcome::Good,
            Some(error) => Outcome::Bad(Arc::new(Failure {
                error,
                reported: AtomicBool::new(false),
            })),
        })
    }

    /// Makes the outcome known, if it is not; what it is then.
    pub(super) fn settle(&self, outcome: Outcome) -> Option<Outcome> {
        let mut state = lock(&self.state);
        if let State::Unread { .. } = *state {
            *state = State::Known(outcome);
        }
        match &*state {
            State::Unread { .. } => None,
            State::Known(outcome) => Some(outcome.clone()),
        }
    }

    pub(super) fn outcome(&self) -> Option<Outcome> {
        match &*lock(&self.state) {
            State::Unread { .. } => None,
            State::Known(outcome) => Some(outcome.clone()),
        }
    }

    /// Is there nothing left to tell of it?
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

/// Each may be the last to know the one before it: they are dropped one after the other, not one inside of the other.
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

/// The outcome of a launch on a stream, known or not.
#[derive(Clone)]
pub(crate) struct Pending {
    queue: Arc<Queue>,
    record: Arc<Record>,
}

impl Pending {
    pub(super) fn new(queue: Arc<Queue>, record: Arc<Record>) -> Pending {
        Pending { queue, record }
    }

    /// Waits for the outcome and returns it, now and ever again.
    pub(crate) fn outcome(&self) -> Result<()> {
        let outcome = self.queue.learn(&self.record)?;
        if let Outcome::Bad(failure) = &outcome {
            let _seen = failure.report();
        }
        outcome.result()
    }

    /// The outcome if it is known without waiting.
    pub(crate) fn known(&self) -> Option<Result<()>> {
        self.record.outcome().map(|outcome| outcome.result())
    }

    /// Waits for the outcome and returns it unless it was reported before.
    pub(super) fn report(&self) -> Result<()> {
        match self.queue.learn(&self.record)? {
            Outcome::Good => Ok(()),
            Outcome::Bad(failure) => failure.report(),
        }
    }

    /// Is it that of a launch on this stream?
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
