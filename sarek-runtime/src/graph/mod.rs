//! Graphs: launches and copies that are recorded once and replayed many times.
//!
//! A [`Recording`] collects operations for one device and runs nothing. Work that depends on
//! arguments, such as proofs, texts and programs, is done then, once. The resulting [`Graph`]
//! queues all operations with one call. Where the driver has graphs (CUDA), it launches them as a
//! whole; elsewhere the framework queues them one after the other ([`replay`]).
//!
//! Lengths and index spaces are those of the recording. So are scalars, until they are set to other
//! values ([`update`]). The graph does not hold vectors: each replay takes them as arguments, like
//! a kernel call, and borrows them the same way. Between replays, vectors may be read and written
//! like any other. They are matched by identity, in any order.
//!
//! A graph fails as a whole: if one of its launches fails, all vectors that the graph writes are
//! unreadable, on every device.

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
use crate::plugin::tag::{InstrumentationKind, Tag};
use crate::sync::lock;
use crate::{Device, Error, Result};

pub use recording::Recording;
pub use vectors::Vectors;

/// Recorded operations of a device. See [`Device::record_graph`].
pub struct Graph {
    device: Device,
    vectors: Vec<Known>,
    operations: Vec<Operation>,
    /// For each recorded launch, the index of its operation; `None` for an empty launch.
    launches: Vec<Option<usize>>,
    driver: Mutex<Driver>,
    /// The instrumentation of replays.
    instruments: Vec<Tag<InstrumentationKind>>,
}

/// A vector that a graph uses.
struct Known {
    id: u64,
    /// The name of the parameter in the first operation that uses it.
    name: String,
    /// True if operations depend on its earlier contents.
    needed: bool,
    written: bool,
}

/// A byte range of a vector.
struct Part {
    vector: usize,
    bytes: Range<usize>,
}

enum Operation {
    Launch(Box<Recorded>),
    Copy {
        to: Part,
        from: Part,
        /// True if the device copies by itself, false if the copy goes through the host.
        direct: bool,
    },
    /// Fills a whole vector.
    Fill {
        to: Part,
        /// The bytes of an element.
        element: Vec<u8>,
        /// Device memory filled with the element, unless its bytes are all zero.
        constant: Option<Arc<dyn Mem>>,
    },
}

/// The driver's own graph.
enum Driver {
    /// Not requested yet.
    Untried,
    /// The driver makes none.
    Absent,
    Made {
        graph: Box<dyn BackendGraph>,
        /// The memory of the vectors that it was made for.
        bindings: Vec<Slice>,
        /// True if its launches are the current ones.
        current: bool,
        /// The stream of the last replay.
        last: Option<Arc<Queue>>,
    },
}

impl Device {
    /// Starts to record operations that are then replayed together on this device.
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
    /// Calls the provider of a tag around each replay, see [`crate::instrument`]. A graph may carry
    /// several tags.
    ///
    /// A replay returns [`Error::Tag`] if the tag has no provider.
    pub fn instrument(mut self, tag: &Tag<InstrumentationKind>) -> Graph {
        self.instruments.push(tag.clone());
        self
    }

    /// Queues all operations on the device's default stream. `vectors` are those that the graph
    /// uses, in any order; pass `&mut` for those that it writes. A fault is returned by the next
    /// read of a written vector, or by `sync`.
    ///
    /// # Errors
    /// [`Error::Graph`] if the vectors are not those of the recording; [`Error::NotEligible`] if another
    /// backend claims the program that its kernels make together (`claims::Subject::Programs`).
    pub fn replay<'a>(&self, vectors: impl Vectors<'a>) -> Result<()> {
        self.queue(self.device.default_stream(), vectors.into_args())
            .map(|_| ())
    }

    /// Queues all operations on a stream of the device, and returns an event behind them. Otherwise
    /// as [`Graph::replay`].
    pub fn replay_on<'a>(&self, stream: &Stream, vectors: impl Vectors<'a>) -> Result<Event> {
        let (outcomes, mut written) = self.queue(stream.by_ref(), vectors.into_args())?;
        let event = stream.event(outcomes.into_iter().chain(stream.queue().last_outcome()))?;
        for vector in written.iter_mut().filter_map(|arg| arg.written()) {
            vector.passed(event.stream().by_ref(), event.raw());
        }
        Ok(event)
    }

    /// The device that the graph was recorded for.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The number of operations.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// True if there are no operations.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Its launches, in their order.
    fn recorded(&self) -> impl Iterator<Item = &Recorded> {
        self.operations
            .iter()
            .filter_map(|operation| match operation {
                Operation::Launch(launch) => Some(&**launch),
                Operation::Copy { .. } | Operation::Fill { .. } => None,
            })
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
