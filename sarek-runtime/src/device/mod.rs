//! Devices, their streams, and the registry that knows them all.

pub mod registry;

mod bandwidth;
mod event;
mod faults;
mod outputs;
mod pool;
pub(crate) mod preference;
mod profile;
mod properties;
mod queue;
mod ranked;
mod stream;
#[cfg(test)]
mod tests;
mod trace;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use crate::Result;
use crate::launch::Programs;
use crate::plugin::backend::{BackendDevice, DeviceInfo};
use crate::plugin::claims::Claims;
use crate::plugin::environment::Initialized;
use crate::sync::fork;
use crate::sync::lock;
use crate::sync::span::span;

pub use event::Event;
pub(crate) use faults::{Pending, RECORD_BYTES, Slot};
pub use pool::MemoryUse;
use pool::Pool;
pub(crate) use pool::{Block, Purpose};
use profile::Profiler;
pub(crate) use profile::{Begun, Done};
pub use profile::{Clock, Profile, Work, WorkKind};
pub use properties::Properties;
pub(crate) use queue::{Queue, Traces};
pub(crate) use ranked::Candidate;
pub use stream::Stream;
pub(crate) use stream::StreamRef;

/// A device that kernels run on; cheap to clone, equal when it is the same device.
#[derive(Clone)]
pub struct Device(Arc<Inner>);

struct Inner {
    backend: &'static str,
    ordinal: usize,
    priority: i32,
    raw: Arc<dyn BackendDevice>,
    /// Those of its backend.
    claims: Arc<Claims>,
    default: Arc<Queue>,
    /// Every other stream, until it is dropped and its faults were reported.
    others: Mutex<Vec<Arc<Queue>>>,
    programs: Programs,
    environments: Initialized,
    pool: Pool,
    profiler: Profiler,
    /// Once it was measured.
    bandwidth: Mutex<Option<Option<f64>>>,
    /// For reads that need not wait for what was queued since.
    reads: OnceLock<Arc<Queue>>,
}

impl Device {
    /// Every device, best first. Backends that have none are left out; [`Device::of`] says why.
    pub fn all() -> Vec<Device> {
        registry::global().all()
    }

    /// The best device: that of the highest priority, or as the environment variable
    /// `SAREK_BACKEND` says.
    pub fn best() -> Result<Device> {
        registry::global().best()
    }

    /// The device of a backend with the highest priority, the first of equals, whatever
    /// `SAREK_BACKEND` says.
    pub fn of(backend: &str) -> Result<Device> {
        registry::global().of(backend)
    }

    pub(crate) fn new(
        backend: &'static str,
        ordinal: usize,
        priority: i32,
        raw: Arc<dyn BackendDevice>,
        claims: Arc<Claims>,
    ) -> Device {
        let default = Arc::new(Queue::new(raw.stream(), false));
        Device(Arc::new(Inner {
            backend,
            ordinal,
            // A device may only lower its backend's priority: so better backends need not be
            // compared with devices that nobody has opened yet.
            priority: raw
                .info()
                .priority
                .map_or(priority, |own| own.min(priority)),
            raw,
            claims,
            default,
            others: Mutex::default(),
            programs: Programs::default(),
            environments: Initialized::default(),
            pool: Pool::default(),
            profiler: Profiler::default(),
            bandwidth: Mutex::default(),
            reads: OnceLock::new(),
        }))
    }

    /// The driver's name of it.
    pub fn name(&self) -> &str {
        &self.info().name
    }

    /// The name of its backend: `cuda`, `opencl`, …
    pub fn backend(&self) -> &'static str {
        self.0.backend
    }

    /// Its number among the devices of its backend.
    pub fn ordinal(&self) -> usize {
        self.0.ordinal
    }

    /// Where it stands among all devices; higher is preferred.
    pub fn priority(&self) -> i32 {
        self.0.priority
    }

    /// What it is and what it can do.
    pub fn info(&self) -> &DeviceInfo {
        self.0.raw.info()
    }

    /// Used and total memory as the driver sees it, in bytes, where it says so.
    pub fn used_memory(&self) -> Option<(u64, u64)> {
        self.0.raw.used_memory()
    }

    /// Facts for people.
    pub fn debug_info(&self) -> BTreeMap<String, String> {
        self.0.raw.debug_info()
    }

    /// The default stream.
    pub fn stream(&self) -> Stream {
        Stream::new(self.clone(), self.0.default.clone())
    }

    /// Another stream; where the device has only one, work on both is run in one order.
    pub fn new_stream(&self) -> Result<Stream> {
        fork::check()?;
        let queue = Arc::new(Queue::new(self.0.raw.new_stream()?, true));
        let mut others = lock(&self.0.others);
        others.retain(|other| Arc::strong_count(other) > 1 || other.has_unreported_faults());
        others.push(queue.clone());
        Ok(Stream::new(self.clone(), queue))
    }

    /// Waits for all work on all streams of the device. A fault of a kernel that nothing has
    /// reported yet is returned, once; the device stays usable.
    pub fn sync(&self) -> Result<()> {
        fork::check()?;
        span!("wait", device = self);
        // Every stream is waited for, even when one of them reports a fault.
        let queues = self.queues().into_iter();
        queues.map(|queue| queue.sync()).fold(Ok(()), Result::and)
    }

    /// Has all work on all streams of the device finished?
    pub fn is_idle(&self) -> Result<bool> {
        fork::check()?;
        for queue in self.queues() {
            if !queue.raw.is_idle()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Marks the work queued so far on all streams of the device.
    pub fn record_all(&self) -> Result<Event> {
        fork::check()?;
        let streams = self.queues().into_iter();
        let events = streams.map(|queue| Stream::new(self.clone(), queue).event(None));
        Ok(Event::all(events.collect::<Result<Vec<_>>>()?))
    }

    /// The streams, the default one first.
    fn queues(&self) -> Vec<Arc<Queue>> {
        let mut queues = vec![self.0.default.clone()];
        queues.extend(lock(&self.0.others).iter().cloned());
        queues
    }

    /// What its backend knows it as, for who works with that backend directly.
    pub fn as_backend(&self) -> &dyn BackendDevice {
        self.raw()
    }

    pub(crate) fn raw(&self) -> &dyn BackendDevice {
        &*self.0.raw
    }

    pub(crate) fn programs(&self) -> &Programs {
        &self.0.programs
    }

    /// Does what environments ask for before the first launch that needs them.
    pub(crate) fn initialize(&self, environments: &[String]) -> Result<()> {
        match environments {
            [] => Ok(()),
            names => self.0.environments.ensure(self, names),
        }
    }

    /// What its backend is in charge of.
    pub(crate) fn claims(&self) -> &Claims {
        &self.0.claims
    }

    fn pool(&self) -> &Pool {
        &self.0.pool
    }

    pub(crate) fn default_queue(&self) -> &Arc<Queue> {
        &self.0.default
    }

    /// The default stream.
    pub(crate) fn default_stream(&self) -> StreamRef<'_> {
        StreamRef::new(self, &self.0.default)
    }

    /// A stream for nothing but reads; the default one where there is no other.
    pub(crate) fn read_queue(&self) -> &Arc<Queue> {
        self.0.reads.get_or_init(|| match self.0.raw.new_stream() {
            Ok(raw) => Arc::new(Queue::new(raw, false)),
            Err(_) => self.0.default.clone(),
        })
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Device {}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}:{})", self.name(), self.backend(), self.ordinal())
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({self})")
    }
}
