//! Streams: ordered queues of work on a device.

use std::fmt;
use std::sync::Arc;

use super::Device;
use super::event::Event;
use super::fault_records::Pending;
use super::queue::Queue;
use crate::Result;
use crate::plugin::backend::BackendStream;
use crate::plugin::tag::{ScheduleKind, Tag};
use crate::sync::fork;
use crate::sync::span::span;

/// A queue of work on a device, run in order. Cheap to clone.
///
/// Vectors order work across streams: a launch waits for launches on other streams of its device
/// that use the same vectors. Use events for any other order.
///
/// A stream made by [`Device::new_stream`] is a sequence: if a kernel on it fails, all later work
/// on it fails with the same error. That ends when the error has been returned once, by the
/// stream's next launch, by `sync`, by an event or by a read. The default stream is shared; there a
/// fault affects only the vectors that depend on it.
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

    /// Waits for all earlier work. Returns the fault of a kernel that was not reported before; each
    /// fault is reported once. The stream stays usable.
    pub fn sync(&self) -> Result<()> {
        fork::check()?;
        span!("wait", device = self.device);
        self.queue.sync()
    }

    /// True if all work has finished.
    pub fn is_idle(&self) -> Result<bool> {
        fork::check()?;
        self.queue.raw.is_idle()
    }

    /// Records an event behind the work queued so far.
    pub fn record(&self) -> Result<Event> {
        self.event(self.queue.last_outcome())
    }

    /// Makes later work wait for an event. If the event is of another backend, the calling thread
    /// waits instead.
    pub fn wait(&self, event: &Event) -> Result<()> {
        event.precede(self)
    }

    /// The backend's own stream, for code that works with that backend directly.
    pub fn as_backend(&self) -> &dyn BackendStream {
        &*self.queue.raw
    }

    pub(crate) fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    pub(crate) fn by_ref(&self) -> StreamRef<'_> {
        StreamRef::new(&self.device, &self.queue)
    }

    /// An event behind launches whose outcomes may still be pending.
    pub(crate) fn event(&self, outcomes: impl IntoIterator<Item = Pending>) -> Result<Event> {
        fork::check()?;
        let point = self.queue.raw.record_time()?;
        Ok(Event::new(
            self.clone(),
            point,
            outcomes.into_iter().collect(),
        ))
    }
}

/// A borrowed stream: a launch on a device's default stream changes no reference count.
#[derive(Clone, Copy)]
pub(crate) struct StreamRef<'a> {
    device: &'a Device,
    queue: &'a Arc<Queue>,
    /// The schedule of the launch that is queued, where claims on copies depend on it.
    schedule: Option<&'a Tag<ScheduleKind>>,
}

impl<'a> StreamRef<'a> {
    pub(super) fn new(device: &'a Device, queue: &'a Arc<Queue>) -> StreamRef<'a> {
        StreamRef {
            device,
            queue,
            schedule: None,
        }
    }

    /// The same stream, for a launch with a schedule.
    pub(crate) fn under<'b>(self, schedule: Option<&'b Tag<ScheduleKind>>) -> StreamRef<'b>
    where
        'a: 'b,
    {
        StreamRef { schedule, ..self }
    }

    /// The schedule of the launch that is queued, where claims on copies depend on it.
    pub(crate) fn schedule(self) -> Option<&'a Tag<ScheduleKind>> {
        self.schedule
    }

    /// The device.
    pub(crate) fn device(self) -> &'a Device {
        self.device
    }

    pub(crate) fn queue(self) -> &'a Arc<Queue> {
        self.queue
    }
}

/// Streams are equal if they share one queue.
impl PartialEq for Stream {
    fn eq(&self, other: &Stream) -> bool {
        Arc::ptr_eq(&self.queue, &other.queue)
    }
}

impl Eq for Stream {}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({})", self.device)
    }
}
