//! Queues: a backend's stream together with its faults and output that have not been read yet.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use super::Device;
use super::fault_records::{Failure, Outcome, Pending, Record, RecordSlot, Slab};
use super::print_buffers::Outputs;
use crate::Result;
use crate::fault_decode::Sites;
use crate::plugin::backend::{BackendStream, Mem};
use crate::sync::fork;
use crate::sync::lock;

/// The number of launches with unread fault records after which the stream is waited for and the
/// records are read. It bounds their memory.
const MAX_UNREAD: usize = 1024;

/// The buffers that a launch writes besides its results: the fault record and the print buffer.
#[derive(Default)]
pub(crate) struct SideBuffers {
    /// The fault record.
    pub(crate) faults: Option<RecordSlot>,
    /// The print buffer.
    pub(crate) output: Option<Arc<dyn Mem>>,
}

impl SideBuffers {
    pub(crate) fn is_some(&self) -> bool {
        self.faults.is_some() || self.output.is_some()
    }
}

/// A backend's stream and the outcomes of the launches on it.
pub(crate) struct Queue {
    pub(crate) raw: Arc<dyn BackendStream>,
    /// True if a fault fails all later work on the stream. See [`super::Stream`].
    sequence: bool,
    log: Mutex<Log>,
    outputs: Outputs,
    /// Held while a thread reads fault records.
    reading: Mutex<()>,
}

#[derive(Default)]
struct Log {
    /// Memory of fault records; only the last slab may have free slots.
    slabs: Vec<Arc<Slab>>,
    /// Launches, in order, whose outcome is unknown or is an unreported fault.
    open: Vec<Arc<Record>>,
    /// The number of launches since all records were last read.
    unread: usize,
}

impl Queue {
    pub(super) fn new(raw: Arc<dyn BackendStream>, sequence: bool) -> Queue {
        Queue {
            raw,
            sequence,
            log: Mutex::default(),
            outputs: Outputs::default(),
            reading: Mutex::default(),
        }
    }

    /// A zeroed fault record for a launch.
    pub(crate) fn fault_record(&self, device: &Device) -> Result<RecordSlot> {
        let mut log = lock(&self.log);
        if let Some(slot) = log.slabs.last().and_then(Slab::slot) {
            return Ok(slot);
        }
        let spare = log.slabs.iter().position(Slab::is_spare);
        let slab = match spare {
            Some(at) => log.slabs.remove(at),
            None => Arc::new(Slab::new(device)?),
        };
        slab.reset(&*self.raw)?;
        let slot = slab.slot();
        log.slabs.push(slab);
        Ok(slot.expect("a fresh slab has room"))
    }

    /// A print buffer for a launch.
    pub(crate) fn output(&self, device: &Device) -> Result<Arc<dyn Mem>> {
        self.outputs.memory(device, &*self.raw)
    }

    /// Records that the launch just queued may fault or print, and returns its outcome. `outcomes`
    /// holds the outcomes that the launch depends on. On return, `outcomes` holds this launch's
    /// outcome in place of earlier ones of the same stream, since it includes them.
    pub(crate) fn watch(
        self: &Arc<Queue>,
        side_buffers: SideBuffers,
        sites: Sites,
        outcomes: &mut Vec<Pending>,
    ) -> Pending {
        let prints = side_buffers.output.is_some();
        if let Some(mem) = side_buffers.output {
            self.outputs.push(sites.kernel.clone(), mem);
        }
        let earlier = outcomes.extract_if(.., |outcome| outcome.is_of(self));
        let earlier = earlier.map(Pending::into_record).collect();
        let record = Arc::new(Record::new(side_buffers.faults, earlier, prints, sites));
        let pending = Pending::new(self.clone(), record.clone());
        outcomes.push(pending.clone());
        let mut log = lock(&self.log);
        log.open.push(record);
        log.unread += 1;
        pending
    }

    /// The outcome that later work depends on: that of the last launch, if the stream is a
    /// sequence.
    pub(crate) fn last_outcome(self: &Arc<Queue>) -> Option<Pending> {
        if !self.sequence {
            return None;
        }
        let last = lock(&self.log).open.last().cloned()?;
        (!last.is_delivered()).then(|| Pending::new(self.clone(), last))
    }

    /// Returns a known, unreported fault if the stream is a sequence, so that the next launch
    /// reports it.
    pub(crate) fn check_fault(&self) -> Result<()> {
        if !self.sequence {
            return Ok(());
        }
        let mut faults = lock(&self.log).open.clone().into_iter();
        faults
            .find_map(|r| r.failure()?.report().err())
            .map_or(Ok(()), Err)
    }

    /// Waits for a launch, and returns its outcome.
    pub(super) fn resolve(&self, record: &Arc<Record>) -> Result<Outcome> {
        fork::check()?;
        // Output is printed first, while nothing is locked, because the output hook may ask for
        // outcomes. After a fault, an outcome may be known before any thread has waited for the
        // launch itself.
        if record.outcome().is_none() || (record.prints() && self.outputs.any()) {
            self.outputs.print(&*self.raw)?;
        }
        let _one_at_a_time = lock(&self.reading);
        if let Some(outcome) = record.outcome() {
            return Ok(outcome);
        }
        let queued = lock(&self.log).open.clone();
        let read = read_slabs(&*self.raw, &queued)?;
        let queued: HashSet<_> = queued.iter().map(Arc::as_ptr).collect();
        let mut failed: Option<Arc<Failure>> = None;
        for open in &lock(&self.log).open {
            // The bytes do not cover a launch that was queued meanwhile.
            let readable = queued.contains(&Arc::as_ptr(open));
            let outcome = match &failed {
                // In a sequence, everything after a fault has failed.
                Some(failure) if self.sequence => Some(Outcome::Bad(failure.clone())),
                Some(_) | None if readable => open.decode(&read),
                Some(_) | None => None,
            };
            if let Some(Outcome::Bad(failure)) = outcome.and_then(|outcome| open.resolve(outcome))
                && !failure.is_reported()
            {
                failed.get_or_insert(failure);
            }
        }
        record.outcome().ok_or_else(|| record.unread())
    }

    /// Reads the fault records and the output if there may be many.
    pub(crate) fn bound_log(&self) -> Result<()> {
        if self.outputs.are_many() {
            self.outputs.print(&*self.raw)?;
        }
        if lock(&self.log).unread < MAX_UNREAD {
            return Ok(());
        }
        self.resolve_all()
    }

    /// Waits for all work, and returns an unreported fault.
    pub(super) fn sync(&self) -> Result<()> {
        self.raw.sync()?;
        self.outputs.print(&*self.raw)?;
        self.resolve_all()?;
        let open = &mut lock(&self.log).open;
        let known = open.extract_if(.., |record| record.outcome().is_some());
        // All faults count as reported: users fix the first one and try again.
        let report = |known: Arc<Record>| known.failure().map_or(Ok(()), |f| f.report());
        known.map(report).fold(Ok(()), Result::and)
    }

    pub(super) fn has_unreported_faults(&self) -> bool {
        let log = lock(&self.log);
        !log.open.iter().all(|record| record.is_delivered())
    }

    /// Reads every record; unreported faults stay in the log.
    pub(crate) fn resolve_all(&self) -> Result<()> {
        let last = {
            let mut log = lock(&self.log);
            log.unread = 0;
            log.open.last().cloned()
        };
        if let Some(last) = last {
            self.resolve(&last)?;
        }
        lock(&self.log).open.retain(|record| !record.is_delivered());
        Ok(())
    }

    /// Makes `later` wait for everything queued here so far.
    pub(crate) fn precede(&self, later: &Queue) -> Result<()> {
        fork::check()?;
        later.raw.wait(&self.raw.record()?)
    }
}

/// Reads the slabs that hold unread records of these launches.
fn read_slabs(
    stream: &dyn BackendStream,
    queued: &[Arc<Record>],
) -> Result<Vec<(Arc<Slab>, Vec<u8>)>> {
    let mut read: Vec<(Arc<Slab>, Vec<u8>)> = Vec::new();
    for slab in queued.iter().filter_map(|record| record.slab()) {
        if !read.iter().any(|(known, _)| Arc::ptr_eq(known, &slab)) {
            let bytes = slab.read(stream)?;
            read.push((slab, bytes));
        }
    }
    Ok(read)
}
