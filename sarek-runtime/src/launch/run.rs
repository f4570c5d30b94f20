//! Queuing a launch on a stream.

use std::sync::OnceLock;

use sarek_ir::write::{Slot, SlotKind, Source};
use sarek_ir::{Memory, ParamId, Scalar, Value, binary16};

use super::arg::Operands;
use super::plan::Plan;
use super::programs::{self, Jitted};
use super::{Arg, Call, Ready, eligible};
use crate::backend::{self, Args, Codegen, Compiler, Renderer, ScalarBytes, Slice};
use crate::device::{Event, Pending, Stream, Traces};
use crate::direct::DirectArg;
use crate::fault::Sites;
use crate::tag::{ScheduleKind, Tag};
use crate::{Error, Result};

impl Ready<'_> {
    /// Queues the launch; its outcome if that is not known yet.
    pub(super) fn queue(&mut self, stream: &Stream) -> Result<Option<Pending>> {
        self.check()?;
        stream.queue().admit()?;
        let device = stream.device();
        eligible::check(device, self)?;
        if self.shape.is_empty() {
            return Ok(None);
        }
        let plan = self.plan(device)?;
        self.require(&plan)?;
        device.initialize(&self.call.environments)?;
        match device.raw().codegen() {
            // The interpreter is the sanitizer: it checks what is proved, too.
            Codegen::Interpret => {
                let how = (true, true);
                self.call.run_on_host(stream, &plan, how).map(|()| None)
            }
            Codegen::Direct => {
                let how = (false, plan.proof.any_provable || self.call.strided);
                self.call.run_on_host(stream, &plan, how).map(|()| None)
            }
            Codegen::Jit(renderer, compiler) => {
                let program = self.program(stream, (renderer, compiler), &plan)?;
                self.call.queue_on_device(stream, &plan, &program)
            }
        }
    }

    fn program(
        &self,
        stream: &Stream,
        codegen: (&dyn Renderer, &dyn Compiler),
        plan: &Plan,
    ) -> Result<Jitted> {
        let (device, kernel) = (stream.device(), &self.call.kernel);
        let variant = plan.variant(&kernel.kernel, codegen.0.target());
        let environments = &self.call.environments;
        let program = programs::jitted(device, codegen, kernel, &variant, plan, environments)?;
        let (buffers, most) = (buffers(program.source()), device.info().max_buffers);
        if buffers > most {
            let reason = eligible::too_many_buffers(buffers, most);
            return Err(eligible::not_eligible(device, kernel, vec![reason]));
        }
        Ok(program)
    }
}

/// The schedule of launches that ask for none.
static BLOCKS: OnceLock<Tag<ScheduleKind>> = OnceLock::new();

/// `linked` counts what devices see elements as.
fn host_arg(arg: &mut Arg<'_>, linked: bool) -> Result<DirectArg> {
    let len = if linked { arg.units() } else { arg.len() } as usize;
    Ok(match &mut arg.0 {
        Operands::Scalar(value) => DirectArg::Scalar(*value),
        Operands::Value(_) | Operands::View(_) => {
            unreachable!("a call has its scalars in its place")
        }
        Operands::Read(vector) => DirectArg::Slice {
            ptr: vector.on_host()?.cast_mut(),
            len,
            mutable: false,
        },
        Operands::Write(vector) => DirectArg::Slice {
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

impl Call<'_> {
    /// Runs the compiled body, or the interpreter, on host memory.
    fn run_on_host(
        &mut self,
        stream: &Stream,
        plan: &Plan,
        (linked, checked): (bool, bool),
    ) -> Result<()> {
        let kernel = self.kernel.clone();
        let program = programs::body(stream.device(), &kernel)?;
        let args = self.host_args(linked)?;
        let launched = stream.queue().raw.launch(&backend::Launch {
            program: &*program,
            kernel: kernel.name(),
            space: plan.space,
            grid: plan.grid,
            schedule: self.schedule(),
            args: Args::Host {
                args: &args,
                checked,
            },
        });
        let failed = match launched {
            Ok(None) => return Ok(()),
            Ok(Some(raw)) => self.sites(plan).describe(&raw),
            Err(error) => error,
        };
        // It stopped half way: what it writes is lost.
        for arg in &mut self.args {
            if let Some(vector) = arg.written() {
                vector.fail(failed.clone());
            }
        }
        Err(failed)
    }

    /// The arguments as the compiled body takes them, or as the linked kernel does.
    fn host_args(&mut self, linked: bool) -> Result<Vec<DirectArg>> {
        // All are read first: a failing one leaves the others as they are.
        for arg in &self.args {
            arg.vector().map(|vector| vector.on_host()).transpose()?;
        }
        let mut args = self.args.iter_mut().map(|arg| host_arg(arg, linked));
        if linked {
            return args.collect();
        }
        let mut made = vec![];
        let mut at = 0;
        for (start, count, bytes) in &self.wholes {
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

    fn schedule(&self) -> &Tag<ScheduleKind> {
        let blocks = || BLOCKS.get_or_init(ScheduleKind::blocks);
        self.schedule.as_ref().unwrap_or_else(blocks)
    }

    fn sites(&self, plan: &Plan) -> Sites {
        Sites {
            shared: plan.shared.clone(),
            kernel: self.kernel.kernel.clone(),
            lens: self.args.iter().map(Arg::len).collect(),
        }
    }

    /// Brings vectors to the device and queues a compiled kernel.
    fn queue_on_device(
        &mut self,
        stream: &Stream,
        plan: &Plan,
        program: &Jitted,
    ) -> Result<Option<Pending>> {
        let mut outcomes = self.unsettled()?;
        let slots = &program.source().slots;
        outcomes.extend(stream.queue().tail());
        let has = |is: &dyn Fn(SlotKind) -> bool| slots.iter().any(|slot| is(slot.kind));
        let (queue, device) = (stream.queue(), stream.device());
        let faults = has(&|kind| kind == SlotKind::Faults);
        let prints = has(&|kind| matches!(kind, SlotKind::Output(_)));
        let traces = Traces {
            faults: faults.then(|| queue.fault_record(device)).transpose()?,
            output: prints.then(|| queue.output(device)).transpose()?,
        };
        let values = self.device_args(stream, plan, slots, &traces)?;
        let launched = stream.queue().raw.launch(&backend::Launch {
            program: &*program.program,
            kernel: self.kernel.name(),
            space: plan.space,
            grid: plan.grid,
            schedule: self.schedule(),
            args: Args::Device(&values),
        })?;
        if let Some(raw) = launched {
            // The device has run it already, up to there.
            let fault = self.sites(plan).describe(&raw);
            for vector in self.args.iter_mut().filter_map(Arg::written) {
                vector.written_on(stream, &[]);
                vector.fail(fault.clone());
            }
            return Err(fault);
        }
        let outcome = traces
            .is_some()
            .then(|| queue.watch(traces, self.sites(plan)));
        outcomes.extend(outcome.clone());
        for slot in slots {
            if let SlotKind::Buffer {
                param,
                mutable: true,
            } = slot.kind
                && let Some(vector) = self.args[param.index()].written()
            {
                vector.written_on(stream, &outcomes);
            }
        }
        stream.queue().bound_log()?;
        Ok(outcome)
    }

    /// The launch, which was the last work of its stream, lies before an event.
    pub(super) fn mark_written(&mut self, event: &Event) {
        for vector in self.args.iter_mut().filter_map(Arg::written) {
            vector.passed(event.stream(), event.raw());
        }
    }

    /// Outcomes not yet known of launches that made the arguments what they are: whatever this
    /// launch writes depends on them too.
    fn unsettled(&self) -> Result<Vec<Pending>> {
        let mut all: Vec<Pending> = Vec::new();
        for vector in self.args.iter().filter_map(Arg::vector) {
            for outcome in vector.unsettled()? {
                if !all.iter().any(|known| known.is_same(&outcome)) {
                    all.push(outcome);
                }
            }
        }
        Ok(all)
    }

    fn device_args(
        &self,
        stream: &Stream,
        plan: &Plan,
        slots: &[Slot],
        traces: &Traces,
    ) -> Result<Vec<backend::Arg>> {
        let arg = |param: ParamId| &self.args[param.index()];
        let unsigned = |slot: &Slot, value| self.scalar(slot.ty, Value::Usize(value));
        let value = |slot: &Slot| match slot.kind {
            SlotKind::Buffer { param, mutable } => match arg(param).vector() {
                Some(vector) => Ok(backend::Arg::Buffer(vector.on_device(stream, mutable)?)),
                None => Err(self.mismatch(slot)),
            },
            SlotKind::Scalar(param) => match arg(param).scalar() {
                Some(value) => self.scalar(slot.ty, value),
                None => Err(self.mismatch(slot)),
            },
            SlotKind::Len(Memory::Slice(param)) => unsigned(slot, arg(param).units()),
            SlotKind::Len(Memory::Shared(shared)) => unsigned(slot, plan.shared[shared.index()]),
            SlotKind::Len(Memory::Local(_)) => Err(self.mismatch(slot)),
            SlotKind::Shared(shared) => Ok(backend::Arg::Shared {
                bytes: plan.shared[shared.index()].max(1) * slot.ty.size() as u64,
            }),
            SlotKind::Extent(axis) => unsigned(slot, plan.space.extent[axis.index()]),
            SlotKind::Grid(axis) => unsigned(slot, plan.space.grid[axis.index()]),
            SlotKind::Faults => match &traces.faults {
                Some(slot) => Ok(backend::Arg::Buffer(slot.slice())),
                None => Err(self.mismatch(slot)),
            },
            SlotKind::Output(_) => match &traces.output {
                Some(mem) => Ok(backend::Arg::Buffer(Slice {
                    mem: mem.clone(),
                    offset: 0,
                    len: mem.len(),
                })),
                None => Err(self.mismatch(slot)),
            },
        };
        slots.iter().map(value).collect()
    }

    /// The bytes of a scalar in a slot of type `ty`.
    fn scalar(&self, ty: Scalar, value: Value) -> Result<backend::Arg> {
        let bytes = match (value, ty) {
            (Value::Bool(v), Scalar::Bool) => ScalarBytes::four(u32::from(v).to_ne_bytes()),
            // Small numbers are passed in 32 bits.
            (Value::I8(v), Scalar::I32) => ScalarBytes::four(i32::from(v).to_ne_bytes()),
            (Value::I16(v), Scalar::I32) => ScalarBytes::four(i32::from(v).to_ne_bytes()),
            (Value::U8(v), Scalar::U32) => ScalarBytes::four(u32::from(v).to_ne_bytes()),
            (Value::U16(v), Scalar::U32) => ScalarBytes::four(u32::from(v).to_ne_bytes()),
            (Value::F16(v), Scalar::F32) => ScalarBytes::four(binary16::to_f32(v).to_ne_bytes()),
            (Value::I32(v), Scalar::I32) => ScalarBytes::four(v.to_ne_bytes()),
            (Value::U32(v), Scalar::U32) => ScalarBytes::four(v.to_ne_bytes()),
            (Value::F32(v), Scalar::F32) => ScalarBytes::four(v.to_ne_bytes()),
            (Value::I64(v), Scalar::I64) => ScalarBytes::eight(v.to_ne_bytes()),
            (Value::U64(v) | Value::Usize(v), Scalar::U64) => ScalarBytes::eight(v.to_ne_bytes()),
            (Value::F64(v), Scalar::F64) => ScalarBytes::eight(v.to_ne_bytes()),
            // The proof of this launch says that every `usize` fits when slots have 32 bits.
            (Value::Usize(v), Scalar::U32) => match u32::try_from(v) {
                Ok(v) => ScalarBytes::four(v.to_ne_bytes()),
                Err(_) => return Err(self.malformed(format!("{v} does not fit 32 bits"))),
            },
            (value, ty) => {
                let have = value.scalar();
                return Err(self.malformed(format!("a renderer asked for {ty} where {have} is")));
            }
        };
        Ok(backend::Arg::Scalar(bytes))
    }

    /// A renderer's slots are not those of the kernel.
    fn mismatch(&self, slot: &Slot) -> Error {
        self.malformed(format!("a renderer asked for {slot:?}, which it has not"))
    }
}
