//! Replay of graphs: brings vectors to the device, queues all operations, and updates the vectors'
//! state.

use super::{Driver, Graph, Operation, Part};
use crate::device::instrument::{self, Running};
use crate::device::{Done, Pending, StreamRef, WorkKind};
use crate::launch::{Bindings, Recorded, SideResults, host_memory};
use crate::output::Collecting;
use crate::plugin::backend::{self, BackendStream, GraphOp, Slice};
use crate::sync::fork;
use crate::sync::lock;
use crate::sync::span::span;
use crate::vector::host_bytes;
use crate::{Arg, Result};

/// The pending outcomes of a replay, and the vectors of the graph.
type Queued<'a> = (Vec<Pending>, Vec<Arg<'a>>);

impl Graph {
    pub(super) fn queue<'a>(
        &self,
        stream: StreamRef<'_>,
        given: Vec<Arg<'a>>,
    ) -> Result<Queued<'a>> {
        fork::check()?;
        if *stream.device() != self.device {
            let other = stream.device();
            return Err(self.problem(format!("it cannot be replayed on {other}")));
        }
        span!(
            "replay",
            operations = self.operations.len(),
            device = self.device
        );
        let mut vectors = self.bind(given)?;
        Recorded::check_program(&self.device, self.recorded())?;
        stream.queue().check_fault()?;
        if self.operations.is_empty() {
            return Ok((Vec::new(), vectors));
        }
        let running = self.begin_instrumented(stream)?;
        let outcomes = match host_memory(&self.device) {
            true => self
                .run_on_host(stream, &mut vectors)
                .map(|()| Vec::new())?,
            false => self.queue_on_device(stream, &mut vectors)?,
        };
        if let Some(running) = running {
            let (_, outcome) = running.end(stream.queue(), self.profiled(), None)?;
            outcome?;
        }
        Ok((outcomes, vectors))
    }

    /// Calls the providers of the graph's tags before a replay.
    fn begin_instrumented(&self, stream: StreamRef<'_>) -> Result<Option<Running>> {
        if self.instruments.is_empty() || instrument::is_inside() {
            return Ok(None);
        }
        let providers = self.instruments.iter().map(instrument::provider);
        let providers: Vec<_> = providers
            .filter_map(Result::transpose)
            .collect::<Result<_>>()?;
        let queue = Some(stream.queue().as_ref());
        Running::begin(providers, &self.device, queue, &self.profiled()).map(Some)
    }

    fn run_on_host(&self, stream: StreamRef<'_>, vectors: &mut [Arg<'_>]) -> Result<()> {
        let mut bindings = vec![std::ptr::null_mut(); vectors.len()];
        // All vectors are brought to the host first: an error leaves the others unchanged.
        for ((place, known), arg) in bindings.iter_mut().zip(&self.vectors).zip(&*vectors) {
            if let (true, Some(vector)) = (known.needed, arg.vector()) {
                *place = vector.on_host()?.cast_mut();
            }
        }
        for ((place, known), arg) in bindings.iter_mut().zip(&self.vectors).zip(&mut *vectors) {
            if let Some(vector) = arg.written().filter(|_| known.written) {
                *place = match known.needed {
                    true => vector.on_host_mut()?,
                    false => vector.on_host_to_overwrite()?,
                };
            }
        }
        let mut printed = Ok(());
        for operation in &self.operations {
            let done = match operation {
                Operation::Launch(launch) => {
                    let collecting = Collecting::begin();
                    let done = launch.queue(stream, &Bindings::Host(&bindings));
                    printed = printed.and(collecting.end(launch.name()));
                    done.map(|_| ())
                }
                Operation::Copy { to, from, .. } => {
                    let (source, target) = (part(&bindings, from), part(&bindings, to));
                    // SAFETY: two vectors, one of them borrowed mutably; recording checked both
                    // ranges, and the lengths of vectors do not change. Bytes of elements become
                    // elements of the same type.
                    unsafe { source.copy_to_nonoverlapping(target, from.bytes.len()) };
                    Ok(())
                }
                Operation::Fill { to, element, .. } => {
                    let (first, size) = (part(&bindings, to), element.len());
                    for at in (0..to.bytes.len()).step_by(size) {
                        // SAFETY: an element of a vector that is borrowed mutably. Bytes there need
                        // not be initialised.
                        unsafe {
                            first
                                .add(at)
                                .copy_from_nonoverlapping(element.as_ptr(), size)
                        };
                    }
                    Ok(())
                }
            };
            if let Err(error) = done {
                for vector in self.written(vectors) {
                    vector.fail(error.clone());
                }
                return Err(error);
            }
        }
        printed
    }

    /// The vectors that the graph writes.
    fn written<'v>(
        &self,
        vectors: &'v mut [Arg<'_>],
    ) -> impl Iterator<Item = &'v mut (dyn crate::vector::ErasedVector + 'v)> {
        let written = self.vectors.iter().map(|known| known.written);
        let both = vectors.iter_mut().zip(written.collect::<Vec<_>>());
        both.filter_map(|(arg, written)| arg.written().filter(|_| written))
    }

    fn queue_on_device(
        &self,
        stream: StreamRef<'_>,
        vectors: &mut [Arg<'_>],
    ) -> Result<Vec<Pending>> {
        let mut outcomes: Vec<Pending> = stream.queue().last_outcome().into_iter().collect();
        let mut bindings = Vec::with_capacity(vectors.len());
        for (known, arg) in self.vectors.iter().zip(&mut *vectors) {
            bindings.push(match (known.needed, arg.written()) {
                (false, Some(vector)) => vector.on_device_to_overwrite(stream)?,
                (true | false, _) => match arg.vector() {
                    Some(vector) => vector.on_device(stream, known.written, Some(&mut outcomes))?,
                    None => unreachable!("`bind` checked that these are vectors"),
                },
            });
        }
        let mut all = vectors.iter().filter_map(Arg::vector);
        let at_home = all.any(|vector| vector.is_in_host_memory(stream.device()));
        let replayed = match at_home {
            // The driver's graph would keep the memory of vectors, which belongs to the host here.
            true => self.replayed_one_by_one(stream, &bindings),
            false => self.replayed(stream, &bindings),
        };
        let side_results = match replayed {
            Ok(side_results) => side_results,
            Err(error) => {
                // Some of the operations may have been queued.
                for vector in self.written(vectors) {
                    vector.written_on(stream, &[]);
                    vector.fail(error.clone());
                }
                return Err(error);
            }
        };
        let queue = stream.queue();
        let own = side_results
            .into_iter()
            .map(|(side_buffers, sites)| queue.watch(side_buffers, sites, &mut outcomes));
        let own: Vec<Pending> = own.collect();
        for (known, arg) in self.vectors.iter().zip(vectors) {
            if let (true, Some(vector)) = (known.written, arg.written()) {
                if !known.needed {
                    vector.forget_outcomes();
                }
                vector.written_on(stream, &outcomes);
            }
        }
        queue.bound_log()?;
        Ok(own)
    }

    /// Queues the operations on vectors bound to this memory.
    fn replayed(&self, stream: StreamRef<'_>, bindings: &[Slice]) -> Result<Vec<SideResults>> {
        let mut driver = lock(&self.driver);
        self.ask_driver(&mut driver, bindings)?;
        match &mut *driver {
            Driver::Untried | Driver::Absent => self.replayed_one_by_one(stream, bindings),
            Driver::Made { graph, last, .. } => {
                let queue = stream.queue();
                if let Some(last) = last.as_ref().filter(|l| !std::sync::Arc::ptr_eq(l, queue)) {
                    last.precede(queue)?;
                }
                *last = Some(queue.clone());
                let begun = self.device.begin_work(queue, || self.profiled())?;
                // SAFETY: the stream belongs to the device, and waits for the previous replay. The
                // operations were recorded with their checks, and the bound vectors that
                // they were made for are borrowed for this replay.
                unsafe { graph.replay(&*queue.raw) }?;
                if let Some(begun) = begun {
                    self.device.end_work(queue, begun, self.profiled())?;
                }
                // The next replay uses the same fault records, so these are copied.
                let mut side_results = Vec::new();
                for launch in self.launches() {
                    if let Some(faults) = launch.faults() {
                        let slot = queue.fault_record(&self.device)?;
                        copy(&*queue.raw, &slot.slice(), &faults, true)?;
                        side_results.push(launch.side_results_at(slot));
                    }
                }
                Ok(side_results)
            }
        }
    }

    /// The entry in a profile, for the graph as a whole.
    fn profiled(&self) -> Done {
        let copied = self.operations.iter().map(|operation| match operation {
            Operation::Launch(_) => (0, 0),
            Operation::Copy { to, .. } => (to.bytes.len(), to.bytes.len()),
            Operation::Fill { to, .. } => (0, to.bytes.len()),
        });
        let copied = copied.map(|(read, written)| (read as u64, written as u64));
        let launched = self.launches().map(|launch| launch.profiled());
        let launched = launched.map(|done| (done.read, done.written));
        let (read, written) = copied
            .chain(launched)
            .fold((0, 0), |sum, bytes| (sum.0 + bytes.0, sum.1 + bytes.1));
        Done {
            kind: WorkKind::Graph,
            name: format!("graph of {}", self.operations.len()),
            read,
            written,
            threads: 0,
        }
    }

    fn launches(&self) -> impl Iterator<Item = &crate::launch::Recorded> {
        self.operations
            .iter()
            .filter_map(|operation| match operation {
                Operation::Launch(launch) => Some(&**launch),
                Operation::Copy { .. } | Operation::Fill { .. } => None,
            })
    }

    /// Asks the driver for a graph for vectors bound to this memory, unless it has one.
    fn ask_driver(&self, driver: &mut Driver, bindings: &[Slice]) -> Result<()> {
        match driver {
            Driver::Absent => return Ok(()),
            Driver::Made {
                bindings: known,
                current: true,
                ..
            } if same(known, bindings) => return Ok(()),
            Driver::Made { .. } | Driver::Untried => {}
        }
        // Output is read after each launch, and copies through the host are not the driver's;
        // neither can be in its graph.
        let all_direct = self.operations.iter().all(|operation| match operation {
            Operation::Launch(launch) => !launch.prints(),
            Operation::Copy { direct, .. } => *direct,
            Operation::Fill { .. } => true,
        });
        let graph = match all_direct {
            true => self.driver_graph(bindings)?,
            false => None,
        };
        // Replays of the new graph use the fault records of the previous one.
        let last = match driver {
            Driver::Made { last, .. } => last.take(),
            Driver::Untried | Driver::Absent => None,
        };
        *driver = match graph {
            None => Driver::Absent,
            Some(graph) => Driver::Made {
                graph,
                bindings: bindings.to_vec(),
                current: true,
                last,
            },
        };
        Ok(())
    }

    fn driver_graph(&self, bindings: &[Slice]) -> Result<Option<Box<dyn backend::BackendGraph>>> {
        let records: Vec<Slice> = self.launches().filter_map(|l| l.faults()).collect();
        let args: Vec<_> = self.launches().map(|l| l.fixed(bindings)).collect();
        let launches = self.launches().zip(&args);
        let launches: Vec<_> = launches.map(|(l, args)| l.as_launch(args)).collect();
        let copies: Vec<_> = self
            .operations
            .iter()
            .map(|o| slices(o, bindings))
            .collect();
        let mut operations: Vec<_> = records.iter().map(GraphOp::Zero).collect();
        let mut launches = launches.iter();
        for slices in &copies {
            operations.extend(match slices {
                Slices::None => launches.next().map(GraphOp::Launch),
                Slices::Zero(to) => Some(GraphOp::Zero(to)),
                Slices::Copy(to, from) => Some(GraphOp::Copy { to, from }),
            });
        }
        // SAFETY: recording checked all operations against the bounds of their vectors; the
        // driver's graph is kept next to the operations.
        unsafe { self.device.raw().graph(&operations) }
    }

    fn replayed_one_by_one(
        &self,
        stream: StreamRef<'_>,
        bindings: &[Slice],
    ) -> Result<Vec<SideResults>> {
        let raw = &*stream.queue().raw;
        let mut side_results = Vec::new();
        for operation in &self.operations {
            if let Operation::Launch(launch) = operation {
                side_results.extend(launch.queue(stream, &Bindings::Device(bindings))?);
            }
            match (slices(operation, bindings), operation) {
                (Slices::None, _) => {}
                // SAFETY: a part of a vector that is borrowed mutably, on a stream that has waited
                // for its users.
                (Slices::Zero(to), _) => unsafe { raw.zero(&to) }?,
                (Slices::Copy(to, from), Operation::Copy { direct, .. }) => {
                    copy(raw, &to, &from, *direct)?;
                }
                (Slices::Copy(to, from), _) => copy(raw, &to, &from, true)?,
            }
        }
        Ok(side_results)
    }
}

/// The memory that an operation other than a launch works on.
enum Slices {
    None,
    Zero(Slice),
    Copy(Slice, Slice),
}

fn slices(operation: &Operation, bindings: &[Slice]) -> Slices {
    let slice = |part: &Part| Slice {
        mem: bindings[part.vector].mem.clone(),
        offset: bindings[part.vector].offset + part.bytes.start,
        len: part.bytes.len(),
    };
    match operation {
        Operation::Launch(_) => Slices::None,
        Operation::Copy { to, from, .. } => Slices::Copy(slice(to), slice(from)),
        Operation::Fill { to, constant, .. } => match constant {
            None => Slices::Zero(slice(to)),
            Some(mem) => {
                let from = Slice {
                    mem: mem.clone(),
                    offset: 0,
                    len: to.bytes.len(),
                };
                Slices::Copy(slice(to), from)
            }
        },
    }
}

/// Copies within a device; through the host if there is no other way.
fn copy(stream: &dyn BackendStream, to: &Slice, from: &Slice, direct: bool) -> Result<()> {
    // SAFETY: equally long parts of two vectors or fault records, within their bounds. This stream
    // may use them, and has waited for their other users.
    if direct && unsafe { stream.copy(to, from) }? {
        return Ok(());
    }
    let mut bytes = host_bytes(from.len)?;
    // SAFETY: as above.
    unsafe { stream.copy_out(from, &mut bytes) }?;
    // SAFETY: as above.
    unsafe { stream.copy_in(to, &bytes) }
}

/// True if all slices are the same.
fn same(one: &[Slice], other: &[Slice]) -> bool {
    let same = |(a, b): (&Slice, &Slice)| {
        std::sync::Arc::ptr_eq(&a.mem, &b.mem) && a.offset == b.offset && a.len == b.len
    };
    one.len() == other.len() && one.iter().zip(other).all(same)
}

/// The address of a vector's part on the host.
fn part(bindings: &[*mut u8], part: &Part) -> *mut u8 {
    bindings[part.vector].wrapping_add(part.bytes.start)
}
