//! Graphs: launches and copies that are recorded once and replayed many times.
//!
//! A [`Recording`] collects operations for one device; nothing runs meanwhile. What depends on arguments, such as proofs, texts and
//! programs, is done there once. The [`Graph`] that it gives queues all operations by one call. Where the driver has graphs
//! (CUDA), they are one launch to it; elsewhere the framework queues them one after the other ([`replay`]).
//!
//! Lengths and index spaces are those of the recording, and so are scalars until they are set to others ([`update`]). Vectors are not held by the graph: each replay is given them,
//! as a call of a kernel is, so that borrows are what they are for a launch, and between replays vectors may be read and written like
//! any other. They are told apart by identity, so their order is of no account.
//!
//! A graph is one piece: should one of its launches fail, all vectors that the graph writes are lost, on every device.

mod recording;
mod replay;
#[cfg(test)]
mod tests;
mod update;
mod vectors;

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use crate::device::{Event, Queue, Stream};
use crate::launch::Recorded;
use crate::plugin::backend::{BackendGraph, Mem, Slice};
use crate::sync::lock;
use crate::{Device, Error, Result};

pub use recording::Recording;
pub use vectors::Vectors;

/// Recorded operations of a device. See [`Device::record_graph`].
pub struct Graph {
    device: Device,
    vectors: Vec<Known>,
    operations: Vec<Operation>,
    /// Which operations the launches are, in their order; those that are empty are none.
    launches: Vec<Option<usize>>,
    driver: Mutex<Driver>,
}

/// A vector that a graph uses.
struct Known {
    id: u64,
    /// What it is to the first operation that uses it.
    name: String,
    /// Do operations depend on what it holds before?
    needed: bool,
    written: bool,
}

/// A part of a vector, in bytes.
struct Part {
    vector: usize,
    bytes: Range<usize>,
}

enum Operation {
    Launch(Box<Recorded>),
    Copy {
        to: Part,
        from: Part,
        /// May the device do it, or does it go through the host?
        direct: bool,
    },
    /// Fills a whole vector.
    Fill {
        to: Part,
        /// The bytes of an element.
        element: Vec<u8>,
        /// All of them on the device, if they are not zeros.
        constant: Option<Arc<dyn Mem>>,
    },
}

/// The driver's own graph.
enum Driver {
    /// Nobody has asked for it.
    Untried,
    /// There is none.
    Absent,
    Made {
        graph: Box<dyn BackendGraph>,
        /// For vectors in these places.
        places: Vec<Slice>,
        /// Is it of the launches as they are now?
        current: bool,
        /// The stream of the last replay.
        last: Option<Arc<Queue>>,
    },
}

impl Device {
    /// Begins to record operations that are then replayed together on this device.
    ///
    /// ```no_run
    /// # use sarek_runtime::{Device, Ready, Vector};
    /// # fn step<'a>(_: f32, _: &'a Vector<f32>, _: &'a mut Vector<f32>) -> Ready<'a> { todo!() }
    /// # fn main() -> sarek_runtime::Result<()> {
    /// let device = Device::best()?;
    /// let mut field = Vector::filled(1 << 20, 1.0f32);
    /// let mut next = Vector::zeros(1 << 20);
    /// let mut recording = device.record_graph();
    /// recording.launch(step(0.1, &field, &mut next))?;
    /// recording.copy(&mut field, 0, &next, ..)?;
    /// let graph = recording.finish();
    /// for _ in 0..1000 {
    ///     graph.replay((&mut field, &mut next))?;
    /// }
    /// println!("{}", field.get(0)?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn record_graph(&self) -> Recording {
        Recording::new(self)
    }
}

impl Graph {
    /// Queues all operations on the device's default stream. `vectors` are those that the graph uses, in any order:
    /// `&mut` those that it writes. A fault is returned by the next read of any of those, or by `sync`.
    pub fn replay<'a>(&self, vectors: impl Vectors<'a>) -> Result<()> {
        self.queue(self.device.default_stream(), vectors.into_args())
            .map(|_| ())
    }

    /// Queues all operations on a stream of the device. The event is behind them.
    pub fn replay_on<'a>(&self, stream: &Stream, vectors: impl Vectors<'a>) -> Result<Event> {
        let (outcomes, mut written) = self.queue(stream.by_ref(), vectors.into_args())?;
        let event = stream.event(outcomes.into_iter().chain(stream.queue().tail()))?;
        for vector in written.iter_mut().filter_map(|arg| arg.written()) {
            vector.passed(event.stream().by_ref(), event.raw());
        }
        Ok(event)
    }

    /// The device for which it was recorded.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The number of its operations.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Has it no operations?
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    fn problem(&self, problem: String) -> Error {
        problem_on(&self.device, problem)
    }
}

fn problem_on(device: &Device, problem: String) -> Error {
    Error::Graph {
        device: device.to_string(),
        problem,
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match *lock(&self.driver) {
            Driver::Untried | Driver::Absent => "",
            Driver::Made { .. } => ", as one launch",
        };
        let count = self.operations.len();
        write!(f, "Graph({count} operations on {}{how})", self.device)
    }
}
