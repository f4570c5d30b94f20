//! What a device does and how long it takes: kernels, graphs and transfers.
//!
//! While [`Device::profile`] runs, each launch stands between two events of its stream, which keep the device's own time. A
//! device whose events keep none is waited for before and after each launch, and the host's clock is read; on devices
//! that run a launch before the call returns, that is the time anyway. [`Device::profile_by`] chooses. Transfers are timed on the host, from call to return: an upload
//! may have been queued by then only.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::{Device, Queue};
use crate::plugin::backend::BackendEvent;
use crate::plugin::tag::{InstrumentationKind, Tag};
use crate::sync::lock;
use crate::{Error, Result};

/// What was measured while [`Device::profile`] ran.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The device.
    pub device: Device,
    /// From the beginning to the end, on the host.
    pub total: Duration,
    /// What the device did, in the order in which it was asked to.
    pub work: Vec<Work>,
    /// Bytes a second that the device copies within its memory, read and written ones counted; `None` where it cannot be
    /// measured. See [`Device::bandwidth`].
    pub bandwidth: Option<f64>,
}

/// A launch, a graph or a transfer.
#[derive(Clone, PartialEq, Debug)]
pub struct Work {
    /// What it was.
    pub kind: WorkKind,
    /// The kernel's name, or that of the transfer.
    pub name: String,
    /// When it began, counted from the beginning of the profile.
    pub start: Duration,
    /// How long it took.
    pub time: Duration,
    /// Whose clock that was.
    pub clock: Clock,
    /// Bytes of the arguments that the kernel reads, each once, or bytes that are transferred.
    pub read: u64,
    /// Bytes of the arguments that the kernel writes, each once.
    pub written: u64,
    /// Threads of a launch; 0 for anything else.
    pub threads: u64,
}

/// What a device was asked to do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WorkKind {
    /// A launch of a kernel.
    Kernel,
    /// A replay of a graph that the driver launches as a whole.
    Graph,
    /// Elements brought to the device.
    Upload,
    /// Elements brought to the host.
    Download,
}

/// Whose clock a time was taken by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Clock {
    /// The device's own.
    Device,
    /// The host's, around a call that returned when the work was done.
    Host,
}

impl Work {
    /// Bytes a second, of those read and written.
    pub fn bytes_per_second(&self) -> f64 {
        (self.read + self.written) as f64 / self.time.as_secs_f64().max(1e-9)
    }
}

impl WorkKind {
    /// Its name in traces.
    pub(super) fn name(self) -> &'static str {
        match self {
            WorkKind::Kernel => "kernel",
            WorkKind::Graph => "graph",
            WorkKind::Upload => "upload",
            WorkKind::Download => "download",
        }
    }
}

/// What a device keeps while it is profiled.
#[derive(Default)]
pub(super) struct Profiler {
    on: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    start: Option<Base>,
    raw: Vec<Raw>,
}

/// The beginning of a profile.
struct Base {
    host: Instant,
    how: How,
}

/// How work is measured.
enum How {
    /// By events of the device, of which this is the first.
    Events(Arc<dyn BackendEvent>),
    /// By the host, which waits for each launch.
    Timer,
    /// Not at all.
    Counted,
}

/// Work whose device time is still to be asked for.
struct Raw {
    work: Work,
    events: Option<[Arc<dyn BackendEvent>; 2]>,
}

/// Work that has begun.
pub(crate) struct Begun {
    host: Instant,
    event: Option<Arc<dyn BackendEvent>>,
}

/// What [`Begun`] becomes.
pub(crate) struct Done {
    pub(crate) kind: WorkKind,
    pub(crate) name: String,
    pub(crate) read: u64,
    pub(crate) written: u64,
    pub(crate) threads: u64,
}

impl Device {
    /// Runs `work`, and tells what the device did meanwhile, on whichever thread and stream. Waits for the device before and
    /// after.
    ///
    /// ```no_run
    /// # let device = sarek_runtime::Device::best()?;
    /// let ((), profile) = device.profile(|| {
    ///     // launches, reads, replays
    ///     Ok(())
    /// })?;
    /// println!("{profile}");
    /// profile.write_trace("trace.json")?; // for chrome://tracing or ui.perfetto.dev
    /// # Ok::<(), sarek_runtime::Error>(())
    /// ```
    pub fn profile<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<(R, Profile)> {
        let events = self.timed_event()?.map(How::Events);
        self.profiled(events.unwrap_or(How::Timer), work)
    }

    /// The same, measured in one way: by [`InstrumentationKind::device_events`], by [`InstrumentationKind::timer`] on the host, which waits
    /// for each launch, or by [`InstrumentationKind::none`]: then nothing waits, and all times are 0.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the device keeps no time, or if the way is another one.
    pub fn profile_by<R>(
        &self,
        way: &Tag<InstrumentationKind>,
        work: impl FnOnce() -> Result<R>,
    ) -> Result<(R, Profile)> {
        let unsupported = || Error::Unsupported {
            backend: self.backend().to_owned(),
            what: format!("profiles by `{way}`"),
        };
        let how = if *way == InstrumentationKind::none() {
            How::Counted
        } else if *way == InstrumentationKind::timer() {
            How::Timer
        } else if *way == InstrumentationKind::device_events() {
            let first = self.timed_event()?;
            How::Events(first.ok_or_else(unsupported)?)
        } else {
            return Err(unsupported());
        };
        self.profiled(how, work)
    }

    fn profiled<R>(&self, how: How, work: impl FnOnce() -> Result<R>) -> Result<(R, Profile)> {
        let bandwidth = self.bandwidth()?;
        self.sync()?;
        let profiler = &self.0.profiler;
        let host = {
            let mut state = lock(&profiler.state);
            if state.start.is_some() {
                return Err(Error::Unsupported {
                    backend: self.backend().to_owned(),
                    what: "two profiles of one device at the same time".to_owned(),
                });
            }
            let host = Instant::now();
            state.start = Some(Base { host, how });
            state.raw.clear();
            host
        };
        profiler.on.store(true, Ordering::Release);
        let stop = Stop(profiler);
        let result = work().and_then(|result| self.sync().map(|()| result));
        let total = host.elapsed();
        let (start, raw) = stop.stop();
        let result = result?;
        let base = start.and_then(|base| match base.how {
            How::Events(first) => Some(first),
            How::Timer | How::Counted => None,
        });
        let work = raw.into_iter().map(|raw| raw.finish(base.as_deref()));
        let profile = Profile {
            device: self.clone(),
            total,
            work: work.collect::<Result<_>>()?,
            bandwidth,
        };
        Ok((result, profile))
    }

    /// An event at the beginning of the default stream's next work; `None` if events keep no time.
    fn timed_event(&self) -> Result<Option<Arc<dyn BackendEvent>>> {
        if self.info().host_memory {
            return Ok(None);
        }
        let queue = self.default_queue();
        let [one, two] = [queue.raw.record_time()?, queue.raw.record_time()?];
        two.sync()?;
        Ok(two.elapsed(&*one)?.map(|_| two))
    }

    /// To be called before work is queued; `None` unless the device is being profiled.
    #[inline]
    pub(crate) fn begin_work(&self, queue: &Queue) -> Result<Option<Begun>> {
        match self.0.profiler.on.load(Ordering::Relaxed) {
            false => Ok(None),
            true => self.begin(Some(queue)).map(Some),
        }
    }

    /// The same of work that is done when a call returns.
    #[inline]
    pub(crate) fn begin_transfer(&self) -> Result<Option<Begun>> {
        match self.0.profiler.on.load(Ordering::Relaxed) {
            false => Ok(None),
            true => self.begin(None).map(Some),
        }
    }

    fn begin(&self, queue: Option<&Queue>) -> Result<Begun> {
        let (by_events, by_host) = match &lock(&self.0.profiler.state).start {
            Some(base) => match base.how {
                How::Events(_) => (true, false),
                How::Timer => (false, true),
                How::Counted => (false, false),
            },
            None => (false, false), // the profile is over
        };
        let event = match queue {
            Some(queue) if by_events => Some(queue.raw.record_time()?),
            Some(queue) if by_host => {
                queue.raw.sync()?;
                None
            }
            Some(_) | None => None,
        };
        let host = Instant::now();
        Ok(Begun { host, event })
    }

    /// To be called when work was queued, or done.
    pub(crate) fn end_work(&self, queue: &Queue, begun: Begun, done: Done) -> Result<()> {
        let counted = {
            let state = lock(&self.0.profiler.state);
            let base = state.start.as_ref();
            base.is_some_and(|base| matches!(base.how, How::Counted))
        };
        let events = match (begun.event, done.kind) {
            (Some(event), _) => Some([event, queue.raw.record_time()?]),
            (None, WorkKind::Kernel | WorkKind::Graph) if !counted => {
                queue.raw.sync()?;
                None
            }
            (None, _) => None,
        };
        let time = match counted {
            true => Duration::ZERO,
            false => begun.host.elapsed(),
        };
        let mut state = lock(&self.0.profiler.state);
        let Some(base) = &state.start else {
            return Ok(()); // the profile is over
        };
        let work = Work {
            kind: done.kind,
            name: done.name,
            start: begun.host.saturating_duration_since(base.host),
            time,
            clock: Clock::Host,
            read: done.read,
            written: done.written,
            threads: done.threads,
        };
        state.raw.push(Raw { work, events });
        Ok(())
    }
}

/// Ends a profile, also when what is profiled panics.
struct Stop<'a>(&'a Profiler);

impl Stop<'_> {
    fn stop(&self) -> (Option<Base>, Vec<Raw>) {
        self.0.on.store(false, Ordering::Release);
        let state = &mut *lock(&self.0.state);
        (state.start.take(), std::mem::take(&mut state.raw))
    }
}

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        drop(self.stop());
    }
}

impl Raw {
    /// Asks the device when it was.
    fn finish(mut self, base: Option<&dyn BackendEvent>) -> Result<Work> {
        if let (Some([start, end]), Some(base)) = (&self.events, base) {
            end.sync()?;
            let (since, time) = (start.elapsed(base)?, end.elapsed(&**start)?);
            if let (Some(since), Some(time)) = (since, time) {
                self.work.start = since;
                self.work.time = time;
                self.work.clock = Clock::Device;
            }
        }
        Ok(self.work)
    }
}

/// What a profile says of all work of one name.
struct Summary<'a> {
    name: &'a str,
    kind: WorkKind,
    count: usize,
    time: Duration,
    bytes: u64,
}

impl Profile {
    /// All work of one kind and name together, that of the longest time first.
    fn summaries(&self) -> Vec<Summary<'_>> {
        let mut all: Vec<Summary<'_>> = Vec::new();
        for work in &self.work {
            let same = |s: &&mut Summary<'_>| s.name == work.name && s.kind == work.kind;
            let bytes = work.read + work.written;
            match all.iter_mut().find(same) {
                Some(sum) => {
                    sum.count += 1;
                    sum.time += work.time;
                    sum.bytes += bytes;
                }
                None => all.push(Summary {
                    name: &work.name,
                    kind: work.kind,
                    count: 1,
                    time: work.time,
                    bytes,
                }),
            }
        }
        all.sort_by_key(|sum| std::cmp::Reverse(sum.time));
        all
    }

    /// Which part of the device's bandwidth a piece of work has come to, from 0 to about 1: caches may give more.
    pub fn share(&self, work: &Work) -> Option<f64> {
        Some(work.bytes_per_second() / self.bandwidth?)
    }
}

/// A table: how often, how long, bytes a second, and the share of the device's bandwidth.
impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {:.3} ms", self.device, ms(self.total))?;
        writeln!(
            f,
            "{:<32} {:>8} {:>12} {:>12} {:>10} {:>6}",
            "", "calls", "ms", "µs each", "GB/s", "share"
        )?;
        for sum in self.summaries() {
            let speed = sum.bytes as f64 / sum.time.as_secs_f64().max(1e-9);
            let share = match (sum.kind, self.bandwidth) {
                (WorkKind::Kernel | WorkKind::Graph, Some(most)) => {
                    format!("{:.0} %", 100.0 * speed / most)
                }
                (WorkKind::Upload | WorkKind::Download, _) | (_, None) => String::new(),
            };
            writeln!(
                f,
                "{:<32} {:>8} {:>12.3} {:>12.3} {:>10.2} {:>6}",
                sum.name,
                sum.count,
                ms(sum.time),
                1e3 * ms(sum.time) / sum.count as f64,
                speed / 1e9,
                share
            )?;
        }
        Ok(())
    }
}

fn ms(time: Duration) -> f64 {
    1e3 * time.as_secs_f64()
}
