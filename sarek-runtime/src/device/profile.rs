//! Profiles: the kernels, graphs and transfers of a device, with their times.
//!
//! [`Device::profile`] puts each launch between two events of its stream, which record the device's
//! time. If the device's events record no time, the host waits for it before and after each launch,
//! and measures the time itself. A device that finishes a launch before the call returns needs no
//! such wait. [`Device::profile_by`] selects the method.
//!
//! Transfers are timed on the host, from call to return. At that point an upload may only have been
//! queued.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::instrument::{self, Provider, Running};
use super::{Device, Queue, process_profile};
use crate::plugin::backend::BackendEvent;
use crate::plugin::tag::{InstrumentationKind, Tag};
use crate::sync::lock;
use crate::{Error, Result};

/// The result of [`Device::profile`]. `Display` prints a table.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The device.
    pub device: Device,
    /// The duration of the whole profile, measured on the host.
    pub total: Duration,
    /// The work of the device, in the order in which it was queued.
    pub work: Vec<Work>,
    /// The bandwidth of copies within the device's memory, in bytes per second, with reads and
    /// writes both counted. `None` if it cannot be measured. See [`Device::bandwidth`].
    pub bandwidth: Option<f64>,
}

/// A launch, a graph replay or a transfer.
#[derive(Clone, PartialEq, Debug)]
pub struct Work {
    /// The kind of work.
    pub kind: WorkKind,
    /// The name of the kernel or of the transfer.
    pub name: String,
    /// The start, relative to the start of the profile.
    pub start: Duration,
    /// The duration.
    pub time: Duration,
    /// The clock that measured the times.
    pub clock: Clock,
    /// The size in bytes of the arguments that the kernel reads, each counted once; for a transfer,
    /// the bytes transferred.
    pub read: u64,
    /// The size in bytes of the arguments that the kernel writes, each counted once.
    pub written: u64,
    /// The threads of a launch; 0 for other work.
    pub threads: u64,
}

/// The kinds of work on a device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WorkKind {
    /// A launch of a kernel.
    Kernel,
    /// A replay of a graph that the driver launches as a whole.
    Graph,
    /// A transfer of elements to the device.
    Upload,
    /// A transfer of elements to the host.
    Download,
}

/// The clock that measured a time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Clock {
    /// The device's clock.
    Device,
    /// The host's clock, around a call that returned when the work was done.
    Host,
}

impl Work {
    /// The throughput in bytes per second, with reads and writes both counted.
    pub fn bytes_per_second(&self) -> f64 {
        (self.read + self.written) as f64 / self.time.as_secs_f64().max(1e-9)
    }
}

impl WorkKind {
    /// The name in traces.
    pub(super) fn name(self) -> &'static str {
        match self {
            WorkKind::Kernel => "kernel",
            WorkKind::Graph => "graph",
            WorkKind::Upload => "upload",
            WorkKind::Download => "download",
        }
    }
}

/// The profiling state of a device.
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

/// The start of a profile.
struct Base {
    host: Instant,
    timing: Timing,
    /// True for the profile that `SAREK_PROFILE` asks for. Another one suspends it.
    of_process: bool,
}

/// The method of measuring.
enum Timing {
    /// Events of the device; this is the first.
    Events(Arc<dyn BackendEvent>),
    /// The host's clock, with a wait for each launch.
    Timer,
    /// No times; work is only counted.
    Counted,
    /// The calls of a provider.
    Provided(Arc<dyn Provider>),
}

/// Work whose device time has not been read yet.
struct Raw {
    work: Work,
    events: Option<[Arc<dyn BackendEvent>; 2]>,
}

/// Work that has begun, as [`Device::begin_work`] returned it.
pub(crate) struct Begun {
    host: Instant,
    event: Option<Arc<dyn BackendEvent>>,
    running: Option<Running>,
}

/// A description of work that has ended or was queued.
pub(crate) struct Done {
    pub(crate) kind: WorkKind,
    pub(crate) name: String,
    pub(crate) read: u64,
    pub(crate) written: u64,
    pub(crate) threads: u64,
}

impl Device {
    /// Runs `work`, and profiles all work of the device meanwhile, on any thread and stream. Waits
    /// for the device before and after.
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
        let events = self.timed_event()?.map(Timing::Events);
        self.profiled(events.unwrap_or(Timing::Timer), work)
    }

    /// The same with a given method: [`InstrumentationKind::device_events`],
    /// [`InstrumentationKind::timer`] on the host, which waits for each launch, or
    /// [`InstrumentationKind::none`], which waits for nothing and leaves all times 0. A member that
    /// was added calls its provider around all work, see [`super::instrument`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the device's events record no time; [`Error::Tag`] if the method is
    /// another one, without a provider.
    pub fn profile_by<R>(
        &self,
        way: &Tag<InstrumentationKind>,
        work: impl FnOnce() -> Result<R>,
    ) -> Result<(R, Profile)> {
        let unsupported = || Error::Unsupported {
            backend: self.backend().to_owned(),
            what: format!("profiles by `{way}`"),
        };
        let timing = if *way == InstrumentationKind::none() {
            Timing::Counted
        } else if *way == InstrumentationKind::timer() {
            Timing::Timer
        } else if *way == InstrumentationKind::device_events() {
            let first = self.timed_event()?;
            Timing::Events(first.ok_or_else(unsupported)?)
        } else {
            match instrument::provider(way)? {
                Some(provider) => Timing::Provided(provider),
                None => Timing::Counted,
            }
        };
        self.profiled(timing, work)
    }

    fn profiled<R>(
        &self,
        timing: Timing,
        work: impl FnOnce() -> Result<R>,
    ) -> Result<(R, Profile)> {
        let bandwidth = self.bandwidth()?;
        self.sync()?;
        let profiler = &self.0.profiler;
        let (host, suspended) = {
            let mut state = lock(&profiler.state);
            if state.start.as_ref().is_some_and(|base| !base.of_process) {
                return Err(Error::Unsupported {
                    backend: self.backend().to_owned(),
                    what: "two profiles of one device at the same time".to_owned(),
                });
            }
            let suspended = std::mem::take(&mut *state);
            let host = Instant::now();
            let of_process = false;
            state.start = Some(Base {
                host,
                timing,
                of_process,
            });
            (host, suspended)
        };
        profiler.on.store(true, Ordering::Release);
        let mut stop = Stop {
            profiler: Some(profiler),
            suspended,
        };
        let result = work().and_then(|result| self.sync().map(|()| result));
        let total = host.elapsed();
        let (start, raw) = stop.stop();
        let result = result?;
        let base = start.and_then(|base| match base.timing {
            Timing::Events(first) => Some(first),
            Timing::Timer | Timing::Counted | Timing::Provided(_) => None,
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

    /// Begins a profile that lasts until the process ends.
    pub(super) fn begin_process_profile(&self) -> Result<()> {
        let events = self.timed_event()?.map(Timing::Events);
        let base = Base {
            host: Instant::now(),
            timing: events.unwrap_or(Timing::Timer),
            of_process: true,
        };
        lock(&self.0.profiler.state).start = Some(base);
        self.0.profiler.on.store(true, Ordering::Release);
        Ok(())
    }

    /// Ends it; `None` if the device had no work.
    pub(super) fn end_process_profile(&self) -> Result<Option<Profile>> {
        self.sync()?;
        self.0.profiler.on.store(false, Ordering::Release);
        let State { start, raw } = std::mem::take(&mut *lock(&self.0.profiler.state));
        let Some(start) = start.filter(|_| !raw.is_empty()) else {
            return Ok(None);
        };
        let total = start.host.elapsed();
        let base = match start.timing {
            Timing::Events(first) => Some(first),
            Timing::Timer | Timing::Counted | Timing::Provided(_) => None,
        };
        let work = raw.into_iter().map(|raw| raw.finish(base.as_deref()));
        Ok(Some(Profile {
            device: self.clone(),
            total,
            work: work.collect::<Result<_>>()?,
            bandwidth: self.bandwidth()?,
        }))
    }

    /// An event before the default stream's next work; `None` if events record no time.
    fn timed_event(&self) -> Result<Option<Arc<dyn BackendEvent>>> {
        if self.info().host_memory {
            return Ok(None);
        }
        let queue = self.default_queue();
        let [one, two] = [queue.raw.record_time()?, queue.raw.record_time()?];
        two.sync()?;
        Ok(two.elapsed(&*one)?.map(|_| two))
    }

    /// To be called before work is queued; `None` unless the device is being profiled. `done`
    /// describes the work.
    #[inline]
    pub(crate) fn begin_work(
        &self,
        queue: &Queue,
        done: impl FnOnce() -> Done,
    ) -> Result<Option<Begun>> {
        match self.0.profiler.on.load(Ordering::Relaxed) {
            false => Ok(None),
            true => self.begin(Some(queue), done),
        }
    }

    /// The same for work that is done when a call returns.
    #[inline]
    pub(crate) fn begin_transfer(&self, done: impl FnOnce() -> Done) -> Result<Option<Begun>> {
        match self.0.profiler.on.load(Ordering::Relaxed) {
            false => Ok(None),
            true => self.begin(None, done),
        }
    }

    fn begin(&self, queue: Option<&Queue>, done: impl FnOnce() -> Done) -> Result<Option<Begun>> {
        let (by_events, by_host, provider) = match &lock(&self.0.profiler.state).start {
            Some(base) => match &base.timing {
                Timing::Events(_) => (true, false, None),
                Timing::Timer => (false, true, None),
                Timing::Counted => (false, false, None),
                Timing::Provided(provider) => (false, false, Some(provider.clone())),
            },
            None => (false, false, None), // the profile is over
        };
        let running = match provider {
            Some(_) if instrument::is_inside() => return Ok(None),
            Some(provider) => Some(Running::begin(vec![provider], self, queue, &done())?),
            None => None,
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
        Ok(Some(Begun {
            host,
            event,
            running,
        }))
    }

    /// The same as [`Device::end_work`] for work whose provider was called before it.
    fn end_provided(&self, queue: &Queue, running: Running, done: Done) -> Result<()> {
        let base = lock(&self.0.profiler.state)
            .start
            .as_ref()
            .map(|base| base.host);
        let (work, outcome) = running.end(queue, done, base)?;
        let mut state = lock(&self.0.profiler.state);
        if state.start.is_some() {
            state.raw.push(Raw { work, events: None });
        }
        outcome
    }

    /// To be called after the work was queued, or is done.
    pub(crate) fn end_work(&self, queue: &Queue, begun: Begun, done: Done) -> Result<()> {
        if let Some(running) = begun.running {
            return self.end_provided(queue, running, done);
        }
        let counted = {
            let state = lock(&self.0.profiler.state);
            let base = state.start.as_ref();
            base.is_some_and(|base| matches!(base.timing, Timing::Counted))
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
        let of_process = base.of_process;
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
        drop(state);
        if of_process {
            process_profile::worked();
        }
        Ok(())
    }
}

/// Ends a profile, even if the profiled work panics, and continues the one that it suspended.
struct Stop<'a> {
    /// `None` once it has ended.
    profiler: Option<&'a Profiler>,
    suspended: State,
}

impl Stop<'_> {
    fn stop(&mut self) -> (Option<Base>, Vec<Raw>) {
        let Some(profiler) = self.profiler.take() else {
            return (None, vec![]);
        };
        let suspended = std::mem::take(&mut self.suspended);
        let mut state = lock(&profiler.state);
        let continues = suspended.start.is_some();
        profiler.on.store(continues, Ordering::Release);
        let State { start, raw } = std::mem::replace(&mut *state, suspended);
        (start, raw)
    }
}

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        drop(self.stop());
    }
}

impl Raw {
    /// Reads the device times.
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

/// The work of one kind and name in a profile, summed up.
struct Summary<'a> {
    name: &'a str,
    kind: WorkKind,
    count: usize,
    time: Duration,
    bytes: u64,
}

impl Profile {
    /// Groups work by kind and name; the longest total time comes first.
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

    /// The throughput of a piece of work as a fraction of the device's bandwidth. Caches may raise
    /// it above 1. `None` if the bandwidth is unknown.
    pub fn share(&self, work: &Work) -> Option<f64> {
        Some(work.bytes_per_second() / self.bandwidth?)
    }
}

/// Prints a table with count, time, bytes per second, and fraction of the device's bandwidth.
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
