//! Devices, their streams and events, and the registry of all backends.

pub mod instrument;
pub mod registry;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use crate::Result;
use crate::plugin::backend::{BackendDevice, DeviceInfo, Pipeline, States};
use crate::plugin::claims::{ClaimTable, Claims};
use crate::sync::fork;
use crate::sync::lock;
use crate::sync::span::span;

pub(crate) use cache_slot::{CacheSlot, LaunchCache};
pub use event::Event;
pub use event_future::EventFuture;
pub(crate) use fault_records::{Pending, RECORD_BYTES, RecordSlot};
pub use pool::MemoryUse;
use pool::Pool;
pub(crate) use pool::{Block, Purpose};
use profile::Profiler;
pub(crate) use profile::{Begun, Done};
pub use profile::{Clock, Profile, Work, WorkKind};
pub use properties::Properties;
pub(crate) use queue::{Queue, SideBuffers};
pub(crate) use ranked::Candidate;
pub use stream::Stream;
pub(crate) use stream::StreamRef;

/// A device that kernels run on. It is cheap to clone; two handles are equal if they are the same
/// device.
#[derive(Clone)]
pub struct Device(Arc<Inner>);

struct Inner {
    backend: &'static str,
    ordinal: usize,
    priority: i32,
    raw: Arc<dyn BackendDevice>,
    /// The claims of its backend.
    claims: Arc<Claims>,
    /// The claims of all backends of its registry.
    claim_table: Arc<ClaimTable>,
    default: Arc<Queue>,
    /// All other streams, until they are dropped and their faults were reported.
    others: Mutex<Vec<Arc<Queue>>>,
    /// The programs that launches have loaded.
    programs: CacheSlot,
    states: Arc<States>,
    pool: Pool,
    profiler: Profiler,
    /// The bandwidth, once measured.
    bandwidth: Mutex<Option<Option<f64>>>,
    /// A stream for reads, which do not wait for later work.
    reads: OnceLock<Arc<Queue>>,
}

impl Device {
    /// Returns every device, best first. Backends without devices are left out; [`Device::of`]
    /// returns the reason.
    pub fn all() -> Vec<Device> {
        registry::global().all()
    }

    /// Returns the best device: the one with the highest priority, or the first according to the
    /// environment variable `SAREK_BACKEND`.
    ///
    /// # Errors
    /// An error with the reasons, if there is no device.
    pub fn best() -> Result<Device> {
        registry::global().best()
    }

    /// Returns the device of a backend with the highest priority, and the first of equal ones.
    /// Ignores `SAREK_BACKEND`.
    ///
    /// # Errors
    /// [`Error::NoBackend`](crate::Error::NoBackend) with the reason, if the backend has no device.
    pub fn of(backend: &str) -> Result<Device> {
        registry::global().of(backend)
    }

    /// Returns the device of a backend with this ordinal. Ignores `SAREK_BACKEND`. Devices are opened once, so this is the same device
    /// each time.
    ///
    /// # Errors
    /// [`Error::NoBackend`](crate::Error::NoBackend) if the backend is not registered;
    /// [`Error::NoOrdinal`](crate::Error::NoOrdinal) if it has no such device, or cannot open it.
    pub fn nth(backend: &str, ordinal: usize) -> Result<Device> {
        registry::global().nth(backend, ordinal)
    }

    /// Returns the number of devices of a backend, with those that cannot be opened; 0 if there is no driver.
    ///
    /// # Errors
    /// [`Error::NoBackend`](crate::Error::NoBackend) if the backend is not registered.
    pub fn count(backend: &str) -> Result<usize> {
        registry::global().count(backend)
    }

    pub(crate) fn new(
        backend: &'static str,
        ordinal: usize,
        priority: i32,
        raw: Arc<dyn BackendDevice>,
        (claims, claim_table): (Arc<Claims>, Arc<ClaimTable>),
    ) -> Device {
        let default = Arc::new(Queue::new(raw.stream(), false));
        Device(Arc::new(Inner {
            backend,
            ordinal,
            // A device may only lower its backend's priority, so that better backends need not be
            // compared with unopened devices.
            priority: raw
                .info()
                .priority
                .map_or(priority, |own| own.min(priority)),
            raw,
            claims,
            claim_table,
            default,
            others: Mutex::default(),
            programs: CacheSlot::default(),
            states: Arc::default(),
            pool: Pool::default(),
            profiler: Profiler::default(),
            bandwidth: Mutex::default(),
            reads: OnceLock::new(),
        }))
    }

    /// The driver's name for the device.
    pub fn name(&self) -> &str {
        &self.info().name
    }

    /// The name of its backend: `cuda`, `opencl`, …
    pub fn backend(&self) -> &'static str {
        self.0.backend
    }

    /// The ordinal among the devices of its backend.
    pub fn ordinal(&self) -> usize {
        self.0.ordinal
    }

    /// The priority among all devices; higher is preferred.
    pub fn priority(&self) -> i32 {
        self.0.priority
    }

    /// The device's limits and features.
    pub fn info(&self) -> &DeviceInfo {
        self.0.raw.info()
    }

    /// The used and total memory in bytes as the driver reports it, if it does.
    pub fn used_memory(&self) -> Option<(u64, u64)> {
        self.0.raw.used_memory()
    }

    /// Details from the driver, as text for people, and the programs that the device has compiled:
    /// `program NAME`, with a number if several have the name.
    pub fn debug_info(&self) -> BTreeMap<String, String> {
        let mut all = self.0.raw.debug_info();
        for (name, what) in self.0.programs.debug_info() {
            let numbered = (2..).map(|number| format!("program {name} ({number})"));
            let mut keys = [format!("program {name}")].into_iter().chain(numbered);
            if let Some(key) = keys.find(|key| !all.contains_key(key)) {
                all.insert(key, what);
            }
        }
        all
    }

    /// The default stream, which launches without an explicit stream use.
    pub fn stream(&self) -> Stream {
        Stream::new(self.clone(), self.0.default.clone())
    }

    /// Makes another stream. On a device with only one, work on both runs in one order.
    pub fn new_stream(&self) -> Result<Stream> {
        fork::check()?;
        let queue = Arc::new(Queue::new(self.0.raw.new_stream()?, true));
        let mut others = lock(&self.0.others);
        others.retain(|other| Arc::strong_count(other) > 1 || other.has_unreported_faults());
        others.push(queue.clone());
        Ok(Stream::new(self.clone(), queue))
    }

    /// Waits for all work on all streams of the device. Returns the fault of a kernel that was not
    /// reported before; each fault is reported once. The device stays usable.
    pub fn sync(&self) -> Result<()> {
        fork::check()?;
        span!("wait", device = self);
        // Every stream is waited for, even if one of them reports a fault.
        let queues = self.queues().into_iter();
        queues.map(|queue| queue.sync()).fold(Ok(()), Result::and)
    }

    /// True if all work on all streams of the device has finished.
    pub fn is_idle(&self) -> Result<bool> {
        fork::check()?;
        for queue in self.queues() {
            if !queue.raw.is_idle()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Records an event behind the work queued so far on all streams of the device.
    pub fn record_all(&self) -> Result<Event> {
        fork::check()?;
        let streams = self.queues().into_iter();
        let events = streams.map(|queue| Stream::new(self.clone(), queue).event(None));
        Ok(Event::all(events.collect::<Result<Vec<_>>>()?))
    }

    /// All streams; the default one is first.
    fn queues(&self) -> Vec<Arc<Queue>> {
        let mut queues = vec![self.0.default.clone()];
        queues.extend(lock(&self.0.others).iter().cloned());
        queues
    }

    /// The backend's own device, for code that works with that backend directly.
    pub fn as_backend(&self) -> &dyn BackendDevice {
        self.raw()
    }

    pub(crate) fn raw(&self) -> &dyn BackendDevice {
        &*self.0.raw
    }

    /// The steps from a kernel to a program.
    pub(crate) fn pipeline(&self) -> Pipeline<'_> {
        self.0.raw.codegen().into()
    }

    /// Room for the programs that launches have loaded.
    pub(crate) fn programs(&self) -> &CacheSlot {
        &self.0.programs
    }

    /// State that environments keep on the device.
    pub(crate) fn states(&self) -> &Arc<States> {
        &self.0.states
    }

    /// The claims of its backend.
    pub(crate) fn claims(&self) -> &Claims {
        &self.0.claims
    }

    /// The claims of all backends of its registry.
    pub(crate) fn claim_table(&self) -> &ClaimTable {
        &self.0.claim_table
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

    /// A stream for reads alone; the default one if the device has no other.
    pub(crate) fn read_queue(&self) -> &Arc<Queue> {
        self.0.reads.get_or_init(|| match self.0.raw.new_stream() {
            Ok(raw) => Arc::new(Queue::new(raw, false)),
            Err(_) => self.0.default.clone(),
        })
    }
}

// Below the constructors, so that the documentation begins with them.
mod bandwidth;
mod cache_slot;
mod event;
pub(crate) mod event_future;
mod fault_records;
mod pool;
pub(crate) mod preference;
mod print_buffers;
mod process_profile;
mod profile;
mod properties;
mod queue;
mod ranked;
mod stream;
#[cfg(test)]
mod tests;
mod trace;

pub(crate) use trace::quoted;

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
