//! Streams, events, and the faults that wait on them.
//!
//! Work on a stream runs in order. A launch that can fault on a device of its own memory carries
//! a fault record, a few words of device memory. [`Pending`] is such a record not yet read: the
//! vectors that the launch wrote hold it, and so does the stream's log. Whoever asks first reads it
//! back; from then on the outcome is known to all. An outcome sticks to the vectors; `sync` of the
//! stream or device and [`Event::sync`] report it only if nothing has reported it before.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use sarek_ir::Kernel;
use sarek_ir::write::FAULT_WORDS;

use super::{Device, slice};
use crate::Result;
use crate::backend::{BackendEvent, BackendStream, Mem, Slice};
use crate::fault::Sites;
use crate::output::{self, HEAD_BYTES, OUTPUT_BYTES};
use crate::sync::lock;

/// A queue of work on a device, run in order. Cheap to clone.
///
/// Vectors order work across streams by themselves: a launch waits for those launches on other
/// streams of its device that use the same vectors.
#[derive(Clone)]
pub struct Stream {
    device: Device,
    queue: Arc<Queue>,
}

impl Stream {
    pub(super) fn new(device: Device, queue: Arc<Queue>) -> Stream {
        Stream { device, queue }
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Waits for all earlier work. A fault of a kernel that nothing has reported yet is returned,
    /// once; the stream stays usable.
    pub fn sync(&self) -> Result<()> {
        self.queue.sync()
    }

    /// Has all work finished?
    pub fn is_idle(&self) -> Result<bool> {
        self.queue.raw.is_idle()
    }

    /// Marks the work queued so far.
    pub fn record(&self) -> Result<Event> {
        self.event(None)
    }

    /// Makes later work wait for an event; across devices, the calling thread waits.
    pub fn wait(&self, event: &Event) -> Result<()> {
        if event.stream.device.backend() == self.device.backend() {
            self.queue.raw.wait(&event.raw)
        } else {
            event.raw.sync()
        }
    }

    pub(crate) fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    /// An event behind a launch, whose outcome may still be pending.
    pub(crate) fn event(&self, outcome: Option<Pending>) -> Result<Event> {
        Ok(Event {
            raw: self.queue.raw.record()?,
            stream: self.clone(),
            outcome,
        })
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({})", self.device)
    }
}

/// A point in a stream.
#[derive(Clone)]
pub struct Event {
    stream: Stream,
    raw: Arc<dyn BackendEvent>,
    outcome: Option<Pending>,
}

impl Event {
    /// Has the stream passed it?
    pub fn is_done(&self) -> Result<bool> {
        self.raw.is_done()
    }

    /// Waits until it has; returns the fault of the launch behind which it stands, if that is not
    /// reported yet.
    pub fn sync(&self) -> Result<()> {
        self.raw.sync()?;
        match &self.outcome {
            Some(pending) => pending.report(),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event({:?})", self.stream)
    }
}

/// Bytes of a fault record.
const RECORD_BYTES: usize = FAULT_WORDS * size_of::<u32>();

/// After so many launches that can fault, the stream is waited for and their records are read, to
/// bound what they hold.
const MAX_UNREAD: usize = 256;

/// After so many launches that print, the stream is waited for and they are printed, to bound what they hold.
const MAX_UNPRINTED: usize = 16;

/// A backend's stream and the faults that may still appear on it.
pub(crate) struct Queue {
    pub(crate) raw: Arc<dyn BackendStream>,
    log: Mutex<Log>,
    outputs: Mutex<Outputs>,
}

/// Memory into which a launch writes what is no result.
#[derive(Default)]
pub(crate) struct Traces {
    /// The fault record.
    pub(crate) faults: Option<Arc<dyn Mem>>,
    /// What is printed.
    pub(crate) output: Option<Arc<dyn Mem>>,
}

impl Traces {
    pub(crate) fn is_some(&self) -> bool {
        self.faults.is_some() || self.output.is_some()
    }
}

/// What launches printed and nobody has read, in their order.
#[derive(Default)]
struct Outputs {
    free: Vec<Arc<dyn Mem>>,
    unread: VecDeque<Arc<Unprinted>>,
}

struct Unprinted {
    kernel: Arc<Kernel>,
    mem: Arc<dyn Mem>,
}

#[derive(Default)]
struct Log {
    free: Vec<Arc<dyn Mem>>,
    /// Launches whose outcome is unknown, or a fault that nothing has reported.
    open: Vec<Arc<Record>>,
    /// Launches since all records were last read.
    unread: usize,
}

/// What a launch that can fault, or prints, left behind.
struct Record {
    sites: Sites,
    output: Option<Arc<Unprinted>>,
    state: Mutex<State>,
    /// Has a user seen the fault?
    reported: AtomicBool,
}

enum State {
    /// On the device, unless nothing can fault.
    Unread(Option<Arc<dyn Mem>>),
    Read(Result<()>),
}

impl Queue {
    pub(super) fn new(raw: Arc<dyn BackendStream>) -> Queue {
        Queue {
            raw,
            log: Mutex::default(),
            outputs: Mutex::default(),
        }
    }

    /// Zeroed memory for the fault record of a launch.
    pub(crate) fn fault_record(&self, device: &Device) -> Result<Arc<dyn Mem>> {
        let free = lock(&self.log).free.pop();
        let mem = match free {
            Some(mem) => mem,
            None => device.alloc(RECORD_BYTES)?,
        };
        self.raw.zero(&slice(&mem, RECORD_BYTES))?;
        Ok(mem)
    }

    /// Memory for what a launch prints.
    pub(crate) fn output(&self, device: &Device) -> Result<Arc<dyn Mem>> {
        let free = lock(&self.outputs).free.pop();
        let mem = match free {
            Some(mem) => mem,
            None => device.alloc(OUTPUT_BYTES)?,
        };
        self.raw.zero(&slice(&mem, HEAD_BYTES))?;
        Ok(mem)
    }

    /// Remembers that the launch just queued may fault, or prints.
    pub(crate) fn watch(self: &Arc<Queue>, traces: Traces, sites: Sites) -> Pending {
        let output = traces.output.map(|mem| {
            let kernel = sites.kernel.clone();
            let output = Arc::new(Unprinted { kernel, mem });
            lock(&self.outputs).unread.push_back(output.clone());
            output
        });
        let record = Arc::new(Record {
            sites,
            output,
            state: Mutex::new(State::Unread(traces.faults)),
            reported: AtomicBool::new(false),
        });
        let mut log = lock(&self.log);
        log.open.push(record.clone());
        log.unread += 1;
        Pending {
            queue: self.clone(),
            record,
        }
    }

    /// Reads the fault records if there may be many.
    pub(crate) fn bound_log(&self) -> Result<()> {
        if lock(&self.outputs).unread.len() >= MAX_UNPRINTED {
            self.print(None)?;
        }
        if lock(&self.log).unread < MAX_UNREAD {
            return Ok(());
        }
        self.settle()
    }

    /// Waits for all work, and returns a fault that nothing has reported.
    pub(super) fn sync(&self) -> Result<()> {
        self.raw.sync()?;
        self.print(None)?;
        self.settle()?;
        let faults = std::mem::take(&mut lock(&self.log).open);
        // All of them count as reported: users mend the first and try again.
        let report = |fault: Arc<Record>| fault.report(self);
        faults.into_iter().map(report).fold(Ok(()), Result::and)
    }

    pub(super) fn has_unreported_faults(&self) -> bool {
        !lock(&self.log).open.is_empty()
    }

    /// Reads every record; keeps the faults that nothing has reported.
    fn settle(&self) -> Result<()> {
        let open = {
            let mut log = lock(&self.log);
            log.unread = 0;
            log.open.clone()
        };
        for record in open {
            // A failing device is told by `?`; a kernel's fault stays in its record.
            let _outcome = record.read(self)?;
        }
        lock(&self.log)
            .open
            .retain(|r| r.is_unknown() || r.is_unreported_fault());
        Ok(())
    }

    /// Prints what launches have to say, up to and including `last`, or all. The lock keeps their order.
    fn print(&self, last: Option<&Arc<Unprinted>>) -> Result<()> {
        let mut outputs = lock(&self.outputs);
        if last.is_some_and(|last| !outputs.unread.iter().any(|o| Arc::ptr_eq(o, last))) {
            return Ok(());
        }
        while let Some(output) = outputs.unread.pop_front() {
            let mut head = [0; HEAD_BYTES];
            self.raw
                .copy_out(&slice(&output.mem, HEAD_BYTES), &mut head)?;
            let mut records = vec![0; output::used(&head)];
            if !records.is_empty() {
                let from = Slice {
                    mem: output.mem.clone(),
                    offset: HEAD_BYTES,
                    len: records.len(),
                };
                self.raw.copy_out(&from, &mut records)?;
            }
            for line in output::lines(&output.kernel, &head, &records) {
                output::emit(&line);
            }
            outputs.free.push(output.mem.clone());
            if last.is_some_and(|last| Arc::ptr_eq(last, &output)) {
                break;
            }
        }
        Ok(())
    }

    /// After everything queued here so far, lets `later` go on.
    pub(crate) fn precede(&self, later: &Queue) -> Result<()> {
        later.raw.wait(&self.raw.record()?)
    }
}

impl Record {
    /// The launch's outcome, read back if it is unknown; `Err` when the device fails.
    fn read(&self, queue: &Queue) -> Result<Result<()>> {
        let mut state = lock(&self.state);
        let mem = match &*state {
            State::Read(outcome) => return Ok(outcome.clone()),
            State::Unread(mem) => mem.clone(),
        };
        if let Some(output) = &self.output {
            queue.print(Some(output))?;
        }
        let mut outcome = Ok(());
        if let Some(mem) = &mem {
            let mut bytes = [0; RECORD_BYTES];
            queue.raw.copy_out(&slice(mem, RECORD_BYTES), &mut bytes)?;
            outcome = self.sites.decode(&bytes).map_or(Ok(()), Err);
        }
        *state = State::Read(outcome.clone());
        drop(state);
        lock(&queue.log).free.extend(mem);
        Ok(outcome)
    }

    /// The outcome, unless a user has seen it.
    fn report(&self, queue: &Queue) -> Result<()> {
        let outcome = self.read(queue)?;
        if outcome.is_err() && self.reported.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        outcome
    }

    fn is_unknown(&self) -> bool {
        matches!(*lock(&self.state), State::Unread(_))
    }

    fn is_unreported_fault(&self) -> bool {
        matches!(*lock(&self.state), State::Read(Err(_))) && !self.reported.load(Ordering::Relaxed)
    }
}

/// The outcome of a launch on a stream, known or not.
#[derive(Clone)]
pub(crate) struct Pending {
    queue: Arc<Queue>,
    record: Arc<Record>,
}

impl Pending {
    /// Waits for the outcome and returns it, now and ever again.
    pub(crate) fn outcome(&self) -> Result<()> {
        let outcome = self.record.read(&self.queue)?;
        if outcome.is_err() {
            self.record.reported.store(true, Ordering::Relaxed);
        }
        outcome
    }

    /// The outcome if it is known without waiting.
    pub(crate) fn known(&self) -> Option<Result<()>> {
        match &*lock(&self.record.state) {
            State::Unread(_) => None,
            State::Read(outcome) => Some(outcome.clone()),
        }
    }

    /// Waits for the outcome and returns it unless it was reported before.
    fn report(&self) -> Result<()> {
        self.record.report(&self.queue)
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
