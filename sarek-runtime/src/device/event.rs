//! Events: points in the order of a stream.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::fault_records::Pending;
use super::{Device, Stream};
use crate::plugin::backend::BackendEvent;
use crate::sync::fork;
use crate::{Error, Result};

/// A point in a stream, or in all streams of a device ([`Device::record_all`]).
#[derive(Clone)]
pub struct Event {
    points: Vec<Point>,
    outcomes: Vec<Pending>,
}

#[derive(Clone)]
struct Point {
    stream: Stream,
    raw: Arc<dyn BackendEvent>,
}

impl Event {
    pub(super) fn new(stream: Stream, raw: Arc<dyn BackendEvent>, outcomes: Vec<Pending>) -> Event {
        let points = vec![Point { stream, raw }];
        Event { points, outcomes }
    }

    /// Combines several events into one that is done when all are.
    pub(super) fn all(events: impl IntoIterator<Item = Event>) -> Event {
        let points = events.into_iter().flat_map(|event| event.points);
        Event {
            points: points.collect(),
            outcomes: Vec::new(),
        }
    }

    /// True if all work before the event has finished.
    pub fn is_done(&self) -> Result<bool> {
        fork::check()?;
        for point in &self.points {
            if !point.raw.is_done()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True if [`Event::sync`] would return without waiting.
    pub(crate) fn is_known(&self) -> Result<bool> {
        Ok(self
            .outcomes
            .iter()
            .all(|outcome| outcome.known().is_some())
            && self.is_done()?)
    }

    /// Waits for all work before the event. An event of a launch or replay also reports its fault,
    /// unless that was reported before.
    pub fn sync(&self) -> Result<()> {
        fork::check()?;
        for point in &self.points {
            point.raw.sync()?;
        }
        let outcomes = self.outcomes.iter();
        outcomes.map(Pending::report).fold(Ok(()), Result::and)
    }

    /// Returns the time on the device between an earlier event and this one, after waiting for
    /// both.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the events are of two devices or span several streams, or if the
    /// device's events record no time.
    pub fn elapsed(&self, since: &Event) -> Result<Duration> {
        self.sync()?;
        since.sync()?;
        let device = self.device();
        let unsupported = |what: &str| Error::Unsupported {
            backend: device.backend().to_owned(),
            what: what.to_owned(),
        };
        let ([end], [start]) = (self.points.as_slice(), since.points.as_slice()) else {
            return Err(unsupported("the time between points of several streams"));
        };
        if start.stream.device() != device {
            return Err(unsupported("the time between events of two devices"));
        }
        let elapsed = end.raw.elapsed(&*start.raw)?;
        elapsed.ok_or_else(|| unsupported("measuring time by events"))
    }

    /// The device of the event's stream.
    pub fn device(&self) -> &Device {
        self.points[0].stream.device()
    }

    /// Makes later work of a stream wait for this event.
    pub(super) fn precede(&self, later: &Stream) -> Result<()> {
        fork::check()?;
        for point in &self.points {
            match point.stream.device().backend() == later.device().backend() {
                _ if point.stream == *later => {}
                true => later.queue().raw.wait(&point.raw)?,
                false => point.raw.sync()?,
            }
        }
        Ok(())
    }

    /// The stream of the event; the first one if it has several.
    pub(crate) fn stream(&self) -> &Stream {
        &self.points[0].stream
    }

    /// The backend's event on that stream.
    pub(crate) fn raw(&self) -> &Arc<dyn BackendEvent> {
        &self.points[0].raw
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let streams = self.points.iter().map(|point| &point.stream);
        f.write_str("Event")?;
        f.debug_list().entries(streams).finish()
    }
}
