//! Queuing of launches on streams.

use std::cell::Cell;
use std::sync::{Arc, OnceLock};

use sarek_ir::write::{Slot, SlotKind, Source};
use sarek_ir::{Memory, ParamId, Scalar, Value, bfloat16, binary16};

use super::arg::ArgKind;
use super::memo::Planned;
use super::plan::Plan;
use super::programs::{self, Jitted, Loaded, Programs, Writes};
use super::{Arg, Call, Ready, dispatch, eligible};
use crate::device::instrument;
use crate::device::{Begun, Done, Event, Pending, SideBuffers, StreamRef, WorkKind};
use crate::environment;
use crate::fault_decode::Sites;
use crate::host::DirectArg;
use crate::intrinsic;
use crate::kernel::foreign::Definition;
use crate::output::Collecting;
use crate::plugin::backend::{self, Args, Compiler, Mem, Pipeline, Renderer, ScalarBytes, Slice};
use crate::plugin::claims::Schedule;
use crate::plugin::tag::{ScheduleKind, Tag};
use crate::settings;
use crate::sync::fork;
use crate::sync::span::span;
use crate::{Error, Result};

/// The program that runs a launch on a device.
pub(super) enum Executable {
    /// Runs in place, on host memory.
    Host {
        /// The compiled body, or the IR.
        body: Loaded,
        /// True if the device takes the arguments of the linked kernel, with elements split into
        /// scalars.
        linked: bool,
        /// See [`Args::Host`].
        checked: bool,
    },
    /// Runs a program on the device's memory.
    Device(Jitted),
}

impl Ready<'_> {
    /// Queues the launch. Returns its outcome if that is still pending.
    pub(super) fn queue(&mut self, stream: StreamRef<'_>) -> Result<Option<Pending>> {
        span!(
            "launch",
            kernel = self.call.kernel.name(),
            device = stream.device()
        );
        let Some(planned) = self.planned(stream)? else {
            return Ok(None);
        };
        match self.call.instruments.take() {
            Some(instruments) if !instrument::is_inside() => {
                self.queue_instrumented(stream, &planned, &instruments)
            }
            Some(_) | None => self.queue_planned(stream, &planned),
        }
    }

    /// Queues a launch that is checked and planned.
    pub(super) fn queue_planned(
        &mut self,
        stream: StreamRef<'_>,
        planned: &Planned,
    ) -> Result<Option<Pending>> {
        let plan = &planned.plan;
        let has_copies = stream.device().claims().has_copies();
        let schedule = has_copies.then(|| self.call.schedule().clone());
        let stream = stream.under(schedule.as_ref());
        match &planned.executable {
            Executable::Host {
                body,
                linked,
                checked,
            } => {
                let how = (*linked, *checked);
                self.call
                    .run_on_host(stream, plan, body, how)
                    .map(|()| None)
            }
            Executable::Device(program) => self.call.queue_on_device(stream, plan, program),
        }
    }

    /// Checks and plans the launch; `None` if it is empty.
    pub(super) fn planned(&self, stream: StreamRef<'_>) -> Result<Option<Arc<Planned>>> {
        fork::check()?;
        let device = stream.device();
        let memo = Programs::of(device).memo();
        let is_memoizable = self.is_memoizable();
        let known = if is_memoizable { memo.get(self) } else { None };
        self.check_unless(known.is_some())?;
        stream.queue().check_fault()?;
        let must_ask = known.is_none() || device.claim_table().has_predicates();
        if must_ask && !self.dispatched {
            dispatch::check(device, self)?;
        }
        if let Some(known) = &known {
            self.require(&known.plan)?;
            return Ok(Some(known.clone()));
        }
        eligible::check(device, self)?;
        if self.shape.is_empty() {
            return Ok(None);
        }
        match device.pipeline() {
            Pipeline::Direct | Pipeline::Interpret if !is_memoizable => {
                intrinsic::check_hosts(&self.call.kernel.kernel)?;
            }
            Pipeline::Direct | Pipeline::Interpret | Pipeline::Jit(..) => {}
        }
        let plan = self.plan(device)?;
        self.require(&plan)?;
        let body = || programs::body(device, &self.call.kernel);
        let executable = match device.pipeline() {
            // The interpreter serves as the sanitizer: it also checks proved sites.
            Pipeline::Interpret => Executable::Host {
                body: body()?,
                linked: true,
                checked: true,
            },
            Pipeline::Direct => Executable::Host {
                body: body()?,
                linked: false,
                checked: plan.proof.any_provable
                    || self.call.strided
                    || intrinsic::is_hosted(&self.call.kernel.needs.intrinsics),
            },
            Pipeline::Jit(renderer, compiler) => {
                Executable::Device(self.program(stream, (renderer, compiler), &plan)?)
            }
        };
        // The device is eligible, so it is initialized for the environments now.
        environment::initialize(device, self.call.environments())?;
        if let Executable::Device(program) = &executable {
            environment::initialize(device, &program.source().environments)?;
        }
        match device.pipeline() {
            Pipeline::Interpret => {}
            Pipeline::Direct | Pipeline::Jit(..) => settings::not_sanitized(device),
        }
        let planned = Arc::new(Planned { plan, executable });
        if is_memoizable {
            memo.put(self, &planned);
        }
        Ok(Some(planned))
    }

    fn program(
        &self,
        stream: StreamRef<'_>,
        codegen: (&dyn Renderer, &dyn Compiler),
        plan: &Plan,
    ) -> Result<Jitted> {
        let (device, kernel) = (stream.device(), &self.call.kernel);
        let variant = match kernel.foreign() {
            Some(_) => Definition::variant(),
            None => plan.variant(&kernel.kernel, codegen.0.target()),
        };
        let environments = self.call.environments();
        let program = programs::jitted(
            device,
            codegen,
            (kernel, None),
            &variant,
            plan,
            environments,
        )?;
        let (buffers, most) = (buffers(program.source()), device.info().max_buffers);
        if buffers > most {
            let reason = eligible::too_many_buffers(buffers, most);
            return Err(eligible::not_eligible(device, kernel, vec![reason]));
        }
        program.fill(stream)?;
        Ok(program)
    }
}

/// The schedule of launches that set none.
static BLOCKS: OnceLock<Tag<ScheduleKind>> = OnceLock::new();

/// `linked` selects lengths in scalars, as devices see them, instead of elements.
fn host_arg(arg: &mut Arg<'_>, linked: bool) -> Result<DirectArg> {
    let len = if linked { arg.units() } else { arg.len() } as usize;
    Ok(match &mut arg.0 {
        ArgKind::Scalar(value) => DirectArg::Scalar(*value),
        ArgKind::Value(_) | ArgKind::View(_) => {
            unreachable!("a call has its scalars in its place")
        }
        ArgKind::Read(vector) => DirectArg::Slice {
            ptr: vector.on_host()?.cast_mut(),
            len,
            mutable: false,
        },
        ArgKind::Write(vector) => DirectArg::Slice {
            ptr: vector.on_host_mut()?,
            len,
            mutable: true,
        },
    })
}

fn buffers(source: &Source) -> u32 {
    let is_buffer = |slot: &&Slot| match slot.kind {
        SlotKind::Buffer { .. } | SlotKind::Output(_) | SlotKind::Faults => true,
        SlotKind::Len(_)
        | SlotKind::Scalar(_)
        | SlotKind::Extent(_)
        | SlotKind::Grid(_)
        | SlotKind::Shared(_) => false,
    };
    source.slots.iter().filter(is_buffer).count() as u32
}

/// The memory of the fault and print buffers of a launch.
pub(super) struct SideSlices {
    pub(super) faults: Option<Slice>,
    pub(super) output: Option<Slice>,
}

impl SideSlices {
    pub(super) fn of(side_buffers: &SideBuffers) -> SideSlices {
        SideSlices {
            faults: side_buffers.faults.as_ref().map(|slot| slot.slice()),
            output: side_buffers.output.as_ref().map(whole),
        }
    }
}

/// The arguments of a launch. The list's memory is reused by the next launch of the same thread.
struct ArgList(Vec<backend::Arg>);

thread_local! {
    static LIST: Cell<Vec<backend::Arg>> = const { Cell::new(Vec::new()) };
}

impl ArgList {
    fn empty() -> ArgList {
        // At the end of a thread the list is gone already.
        ArgList(LIST.try_with(Cell::take).unwrap_or_default())
    }
}

impl Drop for ArgList {
    fn drop(&mut self) {
        let mut list = std::mem::take(&mut self.0);
        list.clear();
        let _kept = LIST.try_with(|kept| kept.set(list));
    }
}

/// All of a memory.
pub(super) fn whole(mem: &Arc<dyn Mem>) -> Slice {
    Slice {
        mem: mem.clone(),
        offset: 0,
        len: mem.len(),
    }
}

/// The fault and print buffers for the next launch of a program on a stream.
pub(super) fn side_buffers(stream: StreamRef<'_>, writes: &Writes) -> Result<SideBuffers> {
    let (queue, device) = (stream.queue(), stream.device());
    let faults = writes.faults.then(|| queue.fault_record(device));
    let output = writes.output.then(|| queue.output(device));
    Ok(SideBuffers {
        faults: faults.transpose()?,
        output: output.transpose()?,
    })
}

impl Call<'_> {
    /// Runs the compiled body, or the interpreter, on host memory.
    fn run_on_host(
        &mut self,
        stream: StreamRef<'_>,
        plan: &Plan,
        body: &Loaded,
        (linked, checked): (bool, bool),
    ) -> Result<()> {
        let kernel = self.kernel.clone();
        let args = self.host_args(linked)?;
        let begun = self.begin_profiled(stream, plan)?;
        let launch = backend::Launch {
            program: &**body,
            kernel: kernel.name(),
            space: plan.space,
            grid: plan.grid,
            schedule: self.schedule(),
            environments: stream.device().states(),
            args: Args::Host {
                args: &args,
                checked,
            },
        };
        let collecting = Collecting::begin();
        // SAFETY: the arguments match the kernel, by a check or a promise; they are borrowed and on
        // the host. Checks that are left out were proved.
        let launched = unsafe { stream.queue().raw.launch(&launch) };
        let printed = collecting.end(kernel.name());
        let profile_result = self.report_to_profile(stream, plan, begun);
        let failed = match launched {
            Ok(None) => return profile_result.and(printed),
            Ok(Some(raw)) => self.sites(plan).describe(&raw),
            Err(error) => error,
        };
        // The launch stopped halfway: the vectors that it writes are lost.
        for arg in &mut self.args {
            if let Some(vector) = arg.written() {
                vector.fail(failed.clone());
            }
        }
        Err(failed)
    }

    /// Begins the launch in the profile, if there is one.
    fn begin_profiled(&self, stream: StreamRef<'_>, plan: &Plan) -> Result<Option<Begun>> {
        let done = || self.profiled(plan);
        stream.device().begin_work(stream.queue(), done)
    }

    /// Reports the launch to the profile, if there is one.
    fn report_to_profile(
        &self,
        stream: StreamRef<'_>,
        plan: &Plan,
        begun: Option<Begun>,
    ) -> Result<()> {
        begun.map_or(Ok(()), |begun| {
            let done = self.profiled(plan);
            stream.device().end_work(stream.queue(), begun, done)
        })
    }

    /// The arguments of the compiled body, or of the linked kernel if `linked`.
    pub(super) fn host_args(&mut self, linked: bool) -> Result<Vec<DirectArg>> {
        // All vectors are brought to the host first: an error leaves the others unchanged.
        for arg in &self.args {
            arg.vector().map(|vector| vector.on_host()).transpose()?;
        }
        let mut args = self.args.iter_mut().map(|arg| host_arg(arg, linked));
        if linked {
            return args.collect();
        }
        let mut made = vec![];
        let mut at = 0;
        for (start, count, bytes) in &self.compounds {
            for arg in args.by_ref().take(start - at) {
                made.push(arg?);
            }
            at = start + count;
            args.by_ref()
                .take(*count)
                .try_for_each(|arg| arg.map(drop))?;
            made.push(DirectArg::Value {
                ptr: bytes.as_ptr(),
                len: bytes.len(),
            });
        }
        for arg in args {
            made.push(arg?);
        }
        Ok(made)
    }

    /// The framework's schedule that the launch asks for. The framework treats a backend's own
    /// schedule as one by blocks.
    pub(super) fn known_schedule(&self) -> Schedule {
        let known = self.schedule.as_ref().and_then(Schedule::of);
        known.unwrap_or(Schedule::Blocks)
    }

    pub(super) fn schedule(&self) -> &Tag<ScheduleKind> {
        let blocks = || BLOCKS.get_or_init(ScheduleKind::blocks);
        self.schedule.as_ref().unwrap_or_else(blocks)
    }

    pub(super) fn sites(&self, plan: &Plan) -> Sites {
        Sites {
            shared: plan.shared.clone(),
            kernel: self.kernel.kernel.clone(),
            lens: self.args.iter().map(Arg::len).collect(),
        }
    }

    /// Brings vectors to the device and queues a compiled kernel.
    fn queue_on_device(
        &mut self,
        stream: StreamRef<'_>,
        plan: &Plan,
        program: &Jitted,
    ) -> Result<Option<Pending>> {
        let mut outcomes: Vec<Pending> = stream.queue().last_outcome().into_iter().collect();
        let side_buffers = side_buffers(stream, program.writes())?;
        let side_slices = SideSlices::of(&side_buffers);
        let mut values = ArgList::empty();
        self.device_args(
            stream,
            plan,
            program,
            &side_slices,
            &mut values.0,
            Some(&mut outcomes),
        )?;
        let begun = self.begin_profiled(stream, plan)?;
        let launch = backend::Launch {
            program: &*program.program,
            kernel: self.kernel.name(),
            space: plan.space,
            grid: plan.grid,
            schedule: self.schedule(),
            environments: stream.device().states(),
            args: Args::Device(&values.0),
        };
        // SAFETY: the arguments match the kernel, as for `run_on_host`. The vectors were brought to the
        // device, and this stream waits for their users.
        let launched = unsafe { stream.queue().raw.launch(&launch) };
        // From here on the launch may be queued: vectors must learn of it before any return.
        let profile_result = self.report_to_profile(stream, plan, begun);
        match launched {
            Ok(None) => {}
            Ok(Some(raw)) => {
                // The device has run it already, up to the fault.
                let fault = self.sites(plan).describe(&raw);
                for vector in self.args.iter_mut().filter_map(Arg::written) {
                    vector.written_on(stream, &[]);
                    vector.fail(fault.clone());
                }
                return Err(fault);
            }
            Err(error) => {
                for vector in self.args.iter_mut().filter_map(Arg::written) {
                    vector.give_up(stream, &error);
                }
                return Err(error);
            }
        }
        let watched = side_buffers.is_some();
        let outcome = watched.then(|| {
            let sites = self.sites(plan);
            stream.queue().watch(side_buffers, sites, &mut outcomes)
        });
        for param in &program.writes().params {
            if let Some(vector) = self.args[param.index()].written() {
                vector.written_on(stream, &outcomes);
            }
        }
        profile_result?;
        if watched {
            stream.queue().bound_log()?;
        }
        Ok(outcome)
    }

    /// The entry in a profile.
    pub(super) fn profiled(&self, plan: &Plan) -> Done {
        let (read, written) = self.kernel.bytes(self.args.iter().map(Arg::bytes));
        Done {
            kind: WorkKind::Kernel,
            name: self.kernel.name().to_owned(),
            read,
            written,
            threads: plan.asked.threads(),
        }
    }

    /// Records an event behind the launch, which was the last work of its stream.
    pub(super) fn mark_written(&mut self, event: &Event) {
        for vector in self.args.iter_mut().filter_map(Arg::written) {
            vector.passed(event.stream().by_ref(), event.raw());
        }
    }

    /// Brings vectors to the device, and appends the arguments to `args` in the order of the
    /// program's slots. If `outcomes` is given, it gets the pending outcomes of launches that the
    /// vectors depend on. The results of this launch depend on them too.
    pub(super) fn device_args(
        &mut self,
        stream: StreamRef<'_>,
        plan: &Plan,
        program: &Jitted,
        side_slices: &SideSlices,
        args: &mut Vec<backend::Arg>,
        mut outcomes: Option<&mut Vec<Pending>>,
    ) -> Result<()> {
        for slot in &program.source().slots {
            if let SlotKind::Buffer { param, mutable } = slot.kind {
                let outcomes = outcomes.as_deref_mut();
                let slice = match self.args.get_mut(param.index()).map(|arg| &mut arg.0) {
                    Some(ArgKind::Read(vector)) => vector.on_device(stream, mutable, outcomes),
                    Some(ArgKind::Write(vector)) => vector.on_device_mut(stream, mutable, outcomes),
                    Some(ArgKind::Scalar(_) | ArgKind::Value(_) | ArgKind::View(_)) => {
                        Err(self.mismatch(slot))
                    }
                    None => program.table(param).ok_or_else(|| self.mismatch(slot)),
                };
                args.push(backend::Arg::Buffer(slice?));
            } else {
                args.push(self.device_arg(plan, slot, side_slices)?);
            }
        }
        Ok(())
    }

    /// The argument of a slot that is no vector.
    fn device_arg(
        &self,
        plan: &Plan,
        slot: &Slot,
        side_slices: &SideSlices,
    ) -> Result<backend::Arg> {
        let arg = |param: ParamId| &self.args[param.index()];
        let unsigned = |value| self.scalar(slot.ty, Value::Usize(value));
        let memory = |slice: &Option<Slice>| match slice {
            Some(slice) => Ok(backend::Arg::Buffer(slice.clone())),
            None => Err(self.mismatch(slot)),
        };
        match slot.kind {
            SlotKind::Scalar(param) => match arg(param).scalar() {
                Some(value) => self.scalar(slot.ty, value),
                None => Err(self.mismatch(slot)),
            },
            SlotKind::Len(Memory::Slice(param)) => unsigned(arg(param).units()),
            SlotKind::Len(Memory::Shared(shared)) => unsigned(plan.shared[shared.index()]),
            SlotKind::Len(Memory::Local(_) | Memory::Table(_)) | SlotKind::Buffer { .. } => {
                Err(self.mismatch(slot))
            }
            SlotKind::Shared(shared) => Ok(backend::Arg::Shared {
                bytes: plan.shared[shared.index()].max(1) * slot.ty.size() as u64,
            }),
            SlotKind::Extent(axis) => unsigned(plan.space.extent[axis.index()]),
            SlotKind::Grid(axis) => unsigned(plan.space.grid[axis.index()]),
            SlotKind::Faults => memory(&side_slices.faults),
            SlotKind::Output(_) => memory(&side_slices.output),
        }
    }

    /// The bytes of a scalar in a slot of type `ty`.
    fn scalar(&self, ty: Scalar, value: Value) -> Result<backend::Arg> {
        let bytes = match (value, ty) {
            (Value::Bool(v), Scalar::Bool) => ScalarBytes::four(u32::from(v).to_ne_bytes()),
            // Small integers and floats are passed in 32 bits.
            (Value::I8(v), Scalar::I32) => ScalarBytes::four(i32::from(v).to_ne_bytes()),
            (Value::I16(v), Scalar::I32) => ScalarBytes::four(i32::from(v).to_ne_bytes()),
            (Value::U8(v), Scalar::U32) => ScalarBytes::four(u32::from(v).to_ne_bytes()),
            (Value::U16(v), Scalar::U32) => ScalarBytes::four(u32::from(v).to_ne_bytes()),
            (Value::F16(v), Scalar::F32) => ScalarBytes::four(binary16::to_f32(v).to_ne_bytes()),
            (Value::Bf16(v), Scalar::F32) => ScalarBytes::four(bfloat16::to_f32(v).to_ne_bytes()),
            (Value::I32(v), Scalar::I32) => ScalarBytes::four(v.to_ne_bytes()),
            (Value::U32(v), Scalar::U32) => ScalarBytes::four(v.to_ne_bytes()),
            (Value::F32(v), Scalar::F32) => ScalarBytes::four(v.to_ne_bytes()),
            (Value::I64(v), Scalar::I64) => ScalarBytes::eight(v.to_ne_bytes()),
            (Value::U64(v) | Value::Usize(v), Scalar::U64) => ScalarBytes::eight(v.to_ne_bytes()),
            (Value::F64(v), Scalar::F64) => ScalarBytes::eight(v.to_ne_bytes()),
            // Slots have 32 bits only if the proof of this launch says that every `usize` fits.
            (Value::Usize(v), Scalar::U32) => match u32::try_from(v) {
                Ok(v) => ScalarBytes::four(v.to_ne_bytes()),
                Err(_) => return Err(self.malformed(format!("{v} does not fit 32 bits"))),
            },
            (value, ty) => {
                let have = value.scalar();
                return Err(self.malformed(format!(
                    "the renderer asks for {ty}, but the argument is {have}"
                )));
            }
        };
        Ok(backend::Arg::Scalar(bytes))
    }

    /// The error for a renderer whose slots do not match the kernel.
    fn mismatch(&self, slot: &Slot) -> Error {
        self.malformed(format!(
            "the renderer asks for {slot:?}, which the launch does not have"
        ))
    }
}
