//! Recording of graphs.

use std::fmt;
use std::ops::RangeBounds;
use std::sync::Mutex;

use super::{Driver, Graph, Known, Operation, Part, problem_on};
use crate::device::Stream;
use crate::launch::{VectorArg, host_memory};
use crate::plugin::backend::Mem;
use crate::plugin::claims::{CopyAction, Subject};
use crate::plugin::tag::StorageKind;
use crate::vector::{ErasedVector, bytes, resolve};
use crate::{Device, Element, Ready, Result, Vector};
use std::sync::Arc;

/// A recording of operations for a device; made by [`Device::record_graph`].
///
/// Recording runs nothing: a vector that is read meanwhile holds its earlier contents. Errors that
/// a launch would return before it is queued are returned here.
#[must_use = "`finish` gives the graph"]
pub struct Recording {
    stream: Stream,
    vectors: Vec<Known>,
    operations: Vec<Operation>,
    launches: Vec<Option<usize>>,
}

impl Recording {
    pub(super) fn new(device: &Device) -> Recording {
        Recording {
            stream: device.stream(),
            vectors: Vec::new(),
            operations: Vec::new(),
            launches: Vec::new(),
        }
    }

    /// Records a launch, and brings its vectors to the device. An empty launch does nothing, but
    /// its vectors must be passed to replays too.
    pub fn launch(&mut self, launch: Ready<'_>) -> Result<&mut Recording> {
        let vectors = &mut self.vectors;
        let number =
            |used: VectorArg<'_>| known(vectors, used.vector, used.name, true, used.written);
        let recorded = launch.recorded(self.stream.by_ref(), number)?;
        let place = recorded.is_some().then_some(self.operations.len());
        self.launches.push(place);
        let operation = recorded.map(|launch| Operation::Launch(Box::new(launch)));
        self.operations.extend(operation);
        Ok(self)
    }

    /// Records a copy: a range of another vector overwrites the elements of `to` that start at
    /// `at`.
    pub fn copy<T: Element>(
        &mut self,
        to: &mut Vector<T>,
        at: usize,
        from: &Vector<T>,
        range: impl RangeBounds<usize>,
    ) -> Result<&mut Recording> {
        let source = resolve(range, from.len())?;
        let target = resolve(at..at.saturating_add(source.len()), to.len())?;
        let whole = target.len() == to.len();
        // Vectors for which the host had no memory may have more elements than there are addresses.
        let bytes = |elements: usize| elements.saturating_mul(size_of::<T>());
        let direct = self.route(to, from, bytes(source.len()))?;
        let in_bytes = |vector, range: std::ops::Range<usize>| Part {
            vector,
            bytes: bytes(range.start)..bytes(range.end),
        };
        let vectors = &mut self.vectors;
        let from = known(vectors, from, "the source of a copy".into(), true, false);
        let to = known(vectors, to, "the target of a copy".into(), !whole, true);
        if !source.is_empty() {
            self.operations.push(Operation::Copy {
                to: in_bytes(to, target),
                from: in_bytes(from, source),
                direct,
            });
        }
        Ok(self)
    }

    /// Records a fill of all elements with `value`. Unless its bytes are all zero, the device keeps
    /// a buffer with one copy of the value per element.
    pub fn fill<T: Element>(&mut self, to: &mut Vector<T>, value: T) -> Result<&mut Recording> {
        let len = to.bytes();
        let element = crate::types::bytes::of(std::slice::from_ref(&value)).into_owned();
        let device = self.stream.device();
        let zeros = element.iter().all(|byte| *byte == 0);
        let constant = match zeros || len == 0 || host_memory(device) {
            true => None,
            false => Some(self.constant(&bytes::repeated(&element, to.len())?)?),
        };
        let vector = known(
            &mut self.vectors,
            to,
            "the target of a fill".into(),
            false,
            true,
        );
        if len > 0 {
            self.operations.push(Operation::Fill {
                to: Part {
                    vector,
                    bytes: 0..len,
                },
                element,
                constant,
            });
        }
        Ok(self)
    }

    /// Allocates device memory with these bytes.
    fn constant(&self, bytes: &[u8]) -> Result<Arc<dyn Mem>> {
        let mem = self.stream.device().alloc(bytes.len())?;
        let slice = crate::plugin::backend::Slice {
            mem: mem.clone(),
            offset: 0,
            len: bytes.len(),
        };
        let queue = self.stream.queue();
        // SAFETY: a whole memory of this device that no other code has.
        unsafe { queue.raw.copy_in(&slice, bytes) }?;
        // Replays may run on other streams.
        queue.raw.sync()?;
        Ok(mem)
    }

    /// True if the device may copy by itself; an error if the copy is illegal.
    fn route(&self, to: &dyn ErasedVector, from: &dyn ErasedVector, bytes: usize) -> Result<bool> {
        let claims = self.stream.device().claims();
        if !claims.has_copies() {
            return Ok(true);
        }
        let tag = |vector: &dyn ErasedVector| vector.storage();
        let [from, to] = [from, to].map(|vector| tag(vector).unwrap_or_else(StorageKind::device));
        Ok(claims.route(&Subject::copies(from, to), bytes as u64)? == CopyAction::Native)
    }

    /// Finishes the recording, and returns the graph.
    pub fn finish(self) -> Graph {
        Graph {
            device: self.stream.device().clone(),
            vectors: self.vectors,
            operations: self.operations,
            launches: self.launches,
            driver: Mutex::new(Driver::Untried),
            instruments: Vec::new(),
        }
    }
}

/// The number of a vector that an operation uses; adds it if it is new.
fn known(
    vectors: &mut Vec<Known>,
    vector: &dyn ErasedVector,
    name: String,
    needed: bool,
    written: bool,
) -> usize {
    let id = vector.id();
    match vectors.iter().position(|known| known.id == id) {
        Some(at) => {
            vectors[at].written |= written;
            at
        }
        None => {
            vectors.push(Known {
                id,
                name,
                needed,
                written,
            });
            vectors.len() - 1
        }
    }
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, device) = (self.operations.len(), self.stream.device());
        write!(f, "Recording({count} operations on {device})")
    }
}

impl Graph {
    /// Matches the vectors of a replay with those of the recording, in the order of their numbers.
    pub(super) fn bind<'a>(&self, given: Vec<crate::Arg<'a>>) -> Result<Vec<crate::Arg<'a>>> {
        let problem = |problem| Err(problem_on(&self.device, problem));
        let mut bound: Vec<Option<crate::Arg<'a>>> = self.vectors.iter().map(|_| None).collect();
        for (at, mut arg) in given.into_iter().enumerate() {
            let Some(id) = arg.vector().map(ErasedVector::id) else {
                return problem(format!("a replay takes vectors, and number {at} is none"));
            };
            let Some(number) = self.vectors.iter().position(|known| known.id == id) else {
                return problem(format!(
                    "the vector given as number {at} is none of those that were recorded: {}",
                    self.names()
                ));
            };
            let known = &self.vectors[number];
            if known.written && arg.written().is_none() {
                let name = &known.name;
                return problem(format!("it writes {name}: give it as `&mut`"));
            }
            bound[number] = Some(arg);
        }
        let missing = bound.iter().position(Option::is_none);
        if let Some(missing) = missing {
            let name = &self.vectors[missing].name;
            let all = self.names();
            return problem(format!("the argument {name} is missing; it uses {all}"));
        }
        Ok(bound.into_iter().flatten().collect())
    }

    fn names(&self) -> String {
        let name = |known: &Known| match known.written {
            true => format!("{} (&mut)", known.name),
            false => known.name.clone(),
        };
        let names: Vec<String> = self.vectors.iter().map(name).collect();
        names.join(", ")
    }
}
