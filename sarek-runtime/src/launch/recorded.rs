//! Recorded launches, for replay in graphs: everything is fixed but the memory of the vectors.

use std::sync::{Arc, LazyLock};

use super::plan::Plan;
use super::prepare::Prepared;
use super::programs::{Jitted, Loaded};
use super::relaunch::CallTemplate;
use super::run::{Executable, SideSlices, side_buffers, whole};
use super::{Arg, Ready, dispatch};
use crate::device::{Done, RECORD_BYTES, RecordSlot, SideBuffers, StreamRef, WorkKind};
use crate::fault_decode::Sites;
use crate::host::{DirectArg, IndexSpace};
use crate::plugin::backend::{self, Args, Mem, Slice, States};
use crate::plugin::tag::{ScheduleKind, Tag};
use crate::vector::ErasedVector;
use crate::{Device, Error, Result};
use sarek_ir::write::SlotKind;

/// A vector among the arguments of a launch.
pub(crate) struct VectorArg<'a> {
    /// The vector.
    pub(crate) vector: &'a dyn ErasedVector,
    /// True if the launch writes it.
    pub(crate) written: bool,
    /// The parameter's name in the kernel.
    pub(crate) name: String,
}

/// A launch with fixed arguments, except that vectors are numbers to be bound at each replay.
pub(crate) struct Recorded {
    kernel: Arc<Prepared>,
    space: IndexSpace,
    grid: [u32; 3],
    schedule: Tag<ScheduleKind>,
    states: Arc<States>,
    sites: Sites,
    /// The bytes that it reads and writes.
    bytes: (u64, u64),
    program: Program,
    /// The call, which can be repeated with another scalar.
    pub(super) template: CallTemplate,
}

pub(super) enum Program {
    Host {
        loaded: Loaded,
        args: Vec<DirectArg>,
        /// Pairs of an argument's index and the number of its vector.
        vectors: Vec<(usize, usize)>,
        checked: bool,
        /// Keeps alive the bytes that arguments of several parts point to.
        _values: Vec<Arc<[u8]>>,
    },
    Device {
        jitted: Jitted,
        args: Vec<backend::Arg>,
        vectors: Vec<(usize, usize)>,
        /// The index of the fault record among the arguments, and memory for one that all replays
        /// share.
        faults: Option<(usize, Arc<dyn Mem>)>,
        /// The index of the print buffer among the arguments.
        output: Option<usize>,
    },
}

/// A placeholder for the memory of a vector in a recording. Each replay substitutes the vector's
/// own.
struct Unbound;

// SAFETY: its length is 0, so there is no byte to access.
unsafe impl Mem for Unbound {
    fn len(&self) -> usize {
        0
    }
}

/// A placeholder slice for a vector without a place.
pub(super) fn unbound() -> Slice {
    static UNBOUND: LazyLock<Arc<dyn Mem>> = LazyLock::new(|| Arc::new(Unbound));
    Slice {
        mem: UNBOUND.clone(),
        offset: 0,
        len: 0,
    }
}

/// The memory of a graph's vectors, by their numbers.
pub(crate) enum Bindings<'a> {
    /// On the host.
    Host(&'a [*mut u8]),
    /// On a device.
    Device(&'a [Slice]),
}

impl<'a> Ready<'a> {
    /// Records the launch for the stream's device; `None` if it is empty. `number` assigns a number
    /// to each vector. Vectors are brought to the device.
    pub(crate) fn recorded(
        mut self,
        stream: StreamRef<'_>,
        mut number: impl FnMut(VectorArg<'_>) -> usize,
    ) -> Result<Option<Recorded>> {
        if self.call.instruments.is_some() {
            return Err(Error::Graph {
                device: stream.device().to_string(),
                problem: format!(
                    "the launch of `{}` carries instrumentation, which it has only outside of \
                     graphs: use `Graph::instrument`",
                    self.call.kernel.name()
                ),
            });
        }
        let template = CallTemplate::of(&self);
        self.call.rebound = true;
        let Some(planned) = self.planned(stream)? else {
            // Its vectors are numbered anyway, because replays bind all of them.
            for param in 0..self.call.args.len() {
                self.numbered(param, &mut number);
            }
            return Ok(None);
        };
        let plan = &planned.plan;
        let program = match &planned.executable {
            Executable::Host {
                body,
                linked,
                checked,
            } => self.recorded_on_host(body, (*linked, *checked), &mut number)?,
            Executable::Device(jitted) => {
                self.recorded_on_device(stream, plan, jitted, &mut number)?
            }
        };
        Ok(Some(Recorded {
            template,
            space: plan.space,
            grid: plan.grid,
            schedule: self.call.schedule().clone(),
            states: stream.device().states().clone(),
            sites: self.call.sites(plan),
            bytes: (self.call.kernel).bytes(self.call.args.iter().map(Arg::bytes)),
            kernel: self.call.kernel,
            program,
        }))
    }

    /// The number of a parameter's vector.
    fn numbered(
        &mut self,
        param: usize,
        number: &mut dyn FnMut(VectorArg<'_>) -> usize,
    ) -> Option<usize> {
        let kernel = &self.call.kernel;
        let name = format!("`{}` of `{}`", kernel.params()[param].name, kernel.name());
        let arg = &mut self.call.args[param];
        let written = arg.written().is_some();
        arg.vector().map(|vector| {
            number(VectorArg {
                vector,
                written,
                name,
            })
        })
    }

    fn recorded_on_host(
        &mut self,
        body: &Loaded,
        (linked, checked): (bool, bool),
        number: &mut dyn FnMut(VectorArg<'_>) -> usize,
    ) -> Result<Program> {
        let args = self.call.host_args(linked)?;
        // Vectors are in the order of the parameters, with other arguments between them.
        let is_slice = |arg: &DirectArg| match arg {
            DirectArg::Slice { .. } => true,
            DirectArg::Scalar(_) | DirectArg::Value { .. } => false,
        };
        let slices = (0..args.len()).filter(|&at| is_slice(&args[at]));
        let params = (0..self.call.args.len()).filter_map(|param| self.numbered(param, number));
        Ok(Program::Host {
            vectors: slices.zip(params).collect(),
            loaded: body.clone(),
            args,
            checked,
            _values: self
                .call
                .compounds
                .drain(..)
                .map(|(.., bytes)| bytes)
                .collect(),
        })
    }

    fn recorded_on_device(
        &mut self,
        stream: StreamRef<'_>,
        plan: &Plan,
        jitted: &Jitted,
        number: &mut dyn FnMut(VectorArg<'_>) -> usize,
    ) -> Result<Program> {
        let slots = &jitted.source().slots;
        let device = stream.device();
        let at = |is: &dyn Fn(SlotKind) -> bool| slots.iter().position(|slot| is(slot.kind));
        let faults = at(&|kind| kind == SlotKind::Faults)
            .map(|at| Ok((at, device.alloc(RECORD_BYTES)?)))
            .transpose()?;
        let output = at(&|kind| matches!(kind, SlotKind::Output(_)));
        let memory = match output {
            Some(_) => Some(stream.queue().output(device)?),
            None => None,
        };
        let side_slices = SideSlices {
            faults: faults.as_ref().map(|(_, mem)| whole(mem)),
            output: memory.as_ref().map(whole),
        };
        let mut args = Vec::new();
        // Each replay collects the outcomes of the vectors that it uses.
        self.call
            .device_args(stream, plan, jitted, &side_slices, &mut args, None)?;
        let mut vectors = Vec::new();
        for (at, slot) in slots.iter().enumerate() {
            if let SlotKind::Buffer { param, .. } = slot.kind
                && param.index() < self.call.args.len()
            {
                // A recording may outlive the vectors and their memory, so it keeps none.
                args[at] = backend::Arg::Buffer(unbound());
                let number = self.numbered(param.index(), number);
                vectors.extend(number.map(|number| (at, number)));
            }
        }
        Ok(Program::Device {
            args,
            vectors,
            faults,
            output,
            jitted: jitted.clone(),
        })
    }
}

impl Recorded {
    /// Returns an error if another backend is in charge of the kernels of these launches together.
    pub(crate) fn check_program<'a>(
        device: &Device,
        launches: impl Iterator<Item = &'a Recorded>,
    ) -> Result<()> {
        let kernels: Vec<&Prepared> = launches.map(|launch| &*launch.kernel).collect();
        dispatch::check_program(device, &kernels)
    }

    /// The kernel's name.
    pub(crate) fn name(&self) -> &str {
        self.kernel.name()
    }

    /// Makes the replays of this launch use the fault record of another one.
    pub(super) fn keep_faults(&mut self, of: &Recorded) {
        if let Program::Device {
            faults: Some((_, mem)),
            ..
        } = &mut self.program
            && let Program::Device {
                faults: Some((_, kept)),
                ..
            } = &of.program
        {
            *mem = kept.clone();
        }
    }

    fn launch<'a>(&'a self, args: Args<'a>) -> backend::Launch<'a> {
        backend::Launch {
            program: match &self.program {
                Program::Host { loaded, .. } => &**loaded,
                Program::Device { jitted, .. } => &*jitted.program,
            },
            kernel: self.kernel.name(),
            space: self.space,
            grid: self.grid,
            schedule: &self.schedule,
            environments: &self.states,
            args,
        }
    }

    /// Queues a replay. Returns its side buffers, if it may fail or print. If the device
    /// has run it already, a fault is an error.
    pub(crate) fn queue(
        &self,
        stream: StreamRef<'_>,
        bindings: &Bindings<'_>,
    ) -> Result<Option<SideResults>> {
        let (queue, device) = (stream.queue(), stream.device());
        let begun = device.begin_work(queue, || self.profiled())?;
        let (launched, side_buffers) = match (&self.program, bindings) {
            (
                Program::Host {
                    args,
                    vectors,
                    checked,
                    ..
                },
                Bindings::Host(bindings),
            ) => {
                let mut args = args.clone();
                for &(at, number) in vectors {
                    if let DirectArg::Slice { ptr, .. } = &mut args[at] {
                        *ptr = bindings[number];
                    }
                }
                let (args, checked) = (&args, *checked);
                // SAFETY: recording checked the launch; the vectors are borrowed for this replay,
                // and bound to this memory.
                let launched =
                    unsafe { queue.raw.launch(&self.launch(Args::Host { args, checked })) }?;
                (launched, SideBuffers::default())
            }
            (Program::Device { jitted, .. }, Bindings::Device(bindings)) => {
                let side_buffers = side_buffers(stream, jitted.writes())?;
                let args = self.bound_args(bindings, &SideSlices::of(&side_buffers));
                // SAFETY: as above.
                let launched = unsafe { queue.raw.launch(&self.launch(Args::Device(&args))) }?;
                (launched, side_buffers)
            }
            (Program::Host { .. } | Program::Device { .. }, _) => {
                unreachable!("a graph is replayed on the device for which it was recorded")
            }
        };
        if let Some(begun) = begun {
            device.end_work(queue, begun, self.profiled())?;
        }
        match launched {
            Some(raw) => Err(self.sites.describe(&raw)),
            None => Ok(side_buffers
                .is_some()
                .then(|| self.side_results(side_buffers))),
        }
    }

    /// The entry in a profile.
    pub(crate) fn profiled(&self) -> Done {
        let (read, written) = self.bytes;
        Done {
            kind: WorkKind::Kernel,
            name: self.kernel.name().to_owned(),
            read,
            written,
            threads: self.space.threads(),
        }
    }

    fn side_results(&self, side_buffers: SideBuffers) -> SideResults {
        (side_buffers, self.sites.clone())
    }

    /// The arguments, with the vectors bound to this memory.
    fn bound_args(&self, bindings: &[Slice], side_slices: &SideSlices) -> Vec<backend::Arg> {
        let Program::Device {
            args,
            vectors,
            faults,
            output,
            ..
        } = &self.program
        else {
            unreachable!("its program is for device memory");
        };
        let mut args = args.clone();
        for &(at, number) in vectors {
            args[at] = backend::Arg::Buffer(bindings[number].clone());
        }
        let mut put = |at: Option<usize>, slice: &Option<Slice>| {
            if let (Some(at), Some(slice)) = (at, slice) {
                args[at] = backend::Arg::Buffer(slice.clone());
            }
        };
        put(faults.as_ref().map(|(at, _)| *at), &side_slices.faults);
        put(*output, &side_slices.output);
        args
    }

    /// The arguments, with the fault record that all replays share.
    pub(crate) fn fixed(&self, bindings: &[Slice]) -> Vec<backend::Arg> {
        let (faults, output) = (self.faults(), None);
        self.bound_args(bindings, &SideSlices { faults, output })
    }

    /// The launch with these arguments.
    pub(crate) fn as_launch<'a>(&'a self, args: &'a [backend::Arg]) -> backend::Launch<'a> {
        self.launch(Args::Device(args))
    }

    /// The fault record that all replays share, if the launch may fault.
    pub(crate) fn faults(&self) -> Option<Slice> {
        match &self.program {
            Program::Host { .. } => None,
            Program::Device { faults, .. } => faults.as_ref().map(|(_, mem)| whole(mem)),
        }
    }

    /// True if it prints.
    pub(crate) fn prints(&self) -> bool {
        match &self.program {
            Program::Host { .. } => false,
            Program::Device { output, .. } => output.is_some(),
        }
    }

    /// The side buffers of a replay whose fault record was copied to `slot`.
    pub(crate) fn side_results_at(&self, slot: RecordSlot) -> SideResults {
        let faults = Some(slot);
        self.side_results(SideBuffers {
            faults,
            output: None,
        })
    }
}

/// The fault and print buffers of a launch, and the sites that give their contents a meaning.
pub(crate) type SideResults = (SideBuffers, Sites);
