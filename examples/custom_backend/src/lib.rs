//! `mygpu`: a complete backend of sarek, as a starting point for others. `book/src/backends.md` walks through it.
//!
//! Its one device is an accelerator simulated in memory. The device has memory of its own, and takes programs in a C
//! dialect of its own. It "runs" them by interpreting the kernel's IR, and finishes each operation before the call returns.
//! A crate that depends on this one has the backend, without any call.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use sarek::backend::{
    Arg, Args, Artifact, Backend, BackendDevice, BackendStream, Claims, Codegen, Compiler,
    DeviceInfo, Features, Launch, Mem, Origin, Parts, Program, RawFault, Renderer, Slice,
};
use sarek::ir::interp::{Host, Ids, Machine, Stop};
use sarek::ir::operators;
use sarek::ir::write::{self, Derived, Dialect, OpenCl, Slot, SlotKind, Source, Variant};
use sarek::ir::{Kernel, ParamId, ParamKind, Scalar, Value};
use sarek::tag::{self, ScheduleKind, StorageKind, Template};
use sarek::{Error, Result};
use serde::{Deserialize, Serialize};

const NAME: &str = "mygpu";

// 1. The backend's own storage and schedule: banks of memory, and launches that run their blocks from the last to the first.

/// A bank of the device's memory.
#[derive(PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Bank {
    /// The bank's number, 0 or 1.
    pub number: u8,
}

/// A schedule that runs the blocks of a launch in reverse order.
#[derive(PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Backwards {
    /// The number of threads in a block.
    pub block_size: u32,
    /// The shared memory of a block, in kilobytes.
    pub smem_kb: u32,
}

/// The storage `mygpu/bank`.
pub fn bank() -> &'static Template<StorageKind, Bank> {
    static BANK: OnceLock<Template<StorageKind, Bank>> = OnceLock::new();
    BANK.get_or_init(|| tag::template("mygpu/bank").expect("the name is this crate's"))
}

/// The schedule `mygpu/backwards`.
pub fn backwards() -> &'static Template<ScheduleKind, Backwards> {
    static BACKWARDS: OnceLock<Template<ScheduleKind, Backwards>> = OnceLock::new();
    BACKWARDS.get_or_init(|| tag::template("mygpu/backwards").expect("the name is this crate's"))
}

// 2. The backend: its devices, and the storages and schedules that it handles.

/// The backend.
pub struct MyGpu;

#[linkme::distributed_slice(sarek::registry::LINKED)]
static LINKED: fn() -> Vec<Arc<dyn Backend>> = || vec![Arc::new(MyGpu)];

impl Backend for MyGpu {
    fn name(&self) -> &'static str {
        NAME
    }

    fn count(&self) -> Result<usize, String> {
        Ok(1) // or the reason why there is no device
    }

    fn open(&self, _ordinal: usize) -> Result<Arc<dyn BackendDevice>> {
        Ok(Arc::new(Simulated {
            info: describe(),
            stream: Arc::new(Queue),
        }))
    }

    fn priority(&self) -> i32 {
        80
    }

    fn claims(&self, claims: &mut Claims) {
        let (bank, backwards) = (bank().tag().clone(), backwards().tag().clone());
        claims.storage(bank).schedule(backwards);
    }
}

// 3. The dialect, which is OpenCL C except for the barrier; and the "compiler", which has nothing to do.

/// OpenCL C with a barrier of its own.
pub struct MyC;

impl Derived for MyC {
    fn base(&self) -> &dyn Dialect {
        &OpenCl
    }

    fn name(&self) -> &'static str {
        NAME
    }

    fn barrier(&self, _: bool) -> Result<&'static str, write::Unsupported> {
        Ok("mygpu_barrier();")
    }
}

// SAFETY: this is the framework's writer, with another spelling of barriers.
unsafe impl Renderer for MyC {
    fn target(&self) -> &'static str {
        NAME
    }

    fn render(&self, kernel: &Kernel, variant: &Variant) -> Result<Source> {
        write::render(kernel, self, variant).map_err(|lacking| Error::Unsupported {
            backend: NAME.into(),
            what: lacking.to_string(),
        })
    }
}

// SAFETY: the artifact is the text itself, and there are no options.
unsafe impl Compiler for MyC {
    fn fingerprint(&self) -> String {
        "mygpu 1".into()
    }

    fn keeps_artifacts(&self) -> bool {
        false // an artifact is the text itself
    }

    unsafe fn compile(&self, kernel: &str, source: &Source, parts: &Parts) -> Result<Artifact> {
        parts.refuse_libraries(kernel, NAME, "its device interprets the IR")?;
        Ok(Artifact::new(source.text.as_bytes()).with_entries([&source.entry]))
    }
}

// 4. The device and its memory.

struct Simulated {
    info: DeviceInfo,
    stream: Arc<Queue>,
}

fn describe() -> DeviceInfo {
    DeviceInfo {
        name: "simulated accelerator".into(),
        features: Features {
            f64: true,
            f64_math: true,
            i64: true,
            storage8: true,
            storage16: true,
            atomics64: true,
            fences: true,
            ..Features::default()
        },
        max_block: [1024, 1024, 64],
        max_block_threads: 1024,
        max_grid: [65535; 3],
        max_shared: 64 << 10,
        memory: 4 << 30,
        max_buffer: 1 << 30,
        slabs: true,
        ..DeviceInfo::default()
    }
}

// SAFETY: each allocation is a vector of its own, and the interpreter makes all checks of a kernel.
unsafe impl BackendDevice for Simulated {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn codegen(&self) -> Codegen<'_> {
        Codegen::Jit(&MyC, &MyC)
    }

    unsafe fn load(&self, program: &Program<'_>) -> Result<Arc<dyn Any + Send + Sync>> {
        match program {
            Program::Binary {
                source,
                origin: Origin::Rendered(ir),
                ..
            } => Ok(Arc::new(Loaded {
                kernel: Arc::clone(ir),
                slots: source.slots.clone(),
            })),
            // The device interprets the IR, and cannot run text alone.
            Program::Binary { .. } | Program::Direct(_) | Program::Ir(_) => Err(foreign("program")),
        }
    }

    fn alloc(&self, bytes: usize) -> Result<Arc<dyn Mem>> {
        Ok(Arc::new(Memory(Mutex::new(vec![0; bytes]), bytes)))
    }

    fn alloc_in(&self, bytes: usize, _: &tag::Tag<StorageKind>) -> Result<Arc<dyn Mem>> {
        self.alloc(bytes) // both banks are alike
    }

    fn stream(&self) -> Arc<dyn BackendStream> {
        self.stream.clone()
    }
}

struct Memory(Mutex<Vec<u8>>, usize);

// SAFETY: the length is that of the bytes which it owns.
unsafe impl Mem for Memory {
    fn len(&self) -> usize {
        self.1
    }
}

fn bytes(slice: &Slice) -> Result<MutexGuard<'_, Vec<u8>>> {
    let memory: &dyn Any = &*slice.mem;
    let memory: &Memory = memory.downcast_ref().ok_or_else(|| foreign("memory"))?;
    Ok(memory.0.lock().unwrap_or_else(PoisonError::into_inner))
}

fn foreign(what: &str) -> Error {
    Error::Device {
        device: NAME.into(),
        message: format!("was given another backend's {what}"),
    }
}

// 5. The stream, which copies and launches in order.

struct Queue;

struct Loaded {
    kernel: Arc<Kernel>,
    slots: Vec<Slot>,
}

// SAFETY: each operation is complete before its call returns.
unsafe impl BackendStream for Queue {
    unsafe fn copy_in(&self, dst: &Slice, src: &[u8]) -> Result<()> {
        bytes(dst)?[dst.offset..][..src.len()].copy_from_slice(src);
        Ok(())
    }

    unsafe fn copy_out(&self, src: &Slice, dst: &mut [u8]) -> Result<()> {
        dst.copy_from_slice(&bytes(src)?[src.offset..][..dst.len()]);
        Ok(())
    }

    unsafe fn launch(&self, launch: &Launch<'_>) -> Result<Option<RawFault>> {
        let loaded: Option<&Loaded> = launch.program.downcast_ref();
        let (Some(loaded), Args::Device(args)) = (loaded, &launch.args) else {
            return Err(foreign("launch"));
        };
        let mut host = Given { loaded, args };
        let mut machine = Machine::new(&loaded.kernel);
        let (space, [nx, ny, _]) = (launch.space, launch.space.grid);
        let blocks = space.blocks();
        for n in 0..blocks {
            let reversed = backwards().matches(launch.schedule);
            let n = if reversed { blocks - 1 - n } else { n };
            let block_idx = [n % nx, n / nx % ny, n / (nx * ny)];
            let (ids, size) = Ids::of_block(block_idx, space.block, space.grid, space.extent);
            match machine.run(&ids, size, &mut host) {
                Ok(()) => {}
                Err(Stop::Fault { fault, thread }) => {
                    return Ok(Some(RawFault {
                        site: fault.site,
                        detail: fault.detail,
                        thread: ids.global_of(thread),
                    }));
                }
                Err(Stop::Divergence { .. } | Stop::Found(_)) => {
                    return Err(Error::Launch {
                        kernel: launch.kernel.into(),
                        problem: "a thread does not come to a barrier".into(),
                    });
                }
            }
        }
        Ok(None)
    }

    fn sync(&self) -> Result<()> {
        Ok(()) // all work is already done
    }
}

/// The arguments of a launch, by slot.
struct Given<'a> {
    loaded: &'a Loaded,
    args: &'a [Arg],
}

impl Given<'_> {
    fn slot(&self, is: impl Fn(SlotKind) -> bool) -> Option<&Arg> {
        let at = self.loaded.slots.iter().position(|slot| is(slot.kind))?;
        self.args.get(at)
    }

    /// The memory, the byte offset and the type of an element.
    fn element(&self, param: ParamId, index: u64) -> (&Slice, usize, Scalar) {
        let is = |kind| matches!(kind, SlotKind::Buffer { param: p, .. } if p == param);
        match (self.slot(is), self.loaded.kernel.params[param.index()].kind) {
            (Some(Arg::Buffer(slice)), ParamKind::Slice { elem, .. }) => {
                let at = slice.offset + index as usize * elem.scalar().size();
                (slice, at, elem.scalar())
            }
            _ => unreachable!("a kernel indexes slices, which have slots"),
        }
    }

    fn scalar(&self, kind: SlotKind, ty: Scalar) -> Value {
        match self.slot(|k| k == kind) {
            // A 16-bit float is passed as an `f32`, in which kernels compute it.
            Some(Arg::Scalar(scalar)) if ty.is_half() => {
                operators::cast(value(Scalar::F32, scalar.as_bytes()), ty)
            }
            Some(Arg::Scalar(scalar)) => value(ty, scalar.as_bytes()),
            _ => unreachable!("a scalar has a slot"),
        }
    }
}

impl Host for Given<'_> {
    fn print(&mut self, text: &str) {
        sarek::backend::print(format_args!("{text}"));
    }

    fn scalar(&self, param: ParamId) -> Value {
        match self.loaded.kernel.params[param.index()].kind {
            ParamKind::Scalar(ty) => self.scalar(SlotKind::Scalar(param), ty),
            _ => unreachable!("a kernel that was linked takes scalars and slices"),
        }
    }

    fn len(&self, slice: ParamId) -> u64 {
        // If the text takes no length, the length is that of the memory.
        match self.slot(|kind| kind == SlotKind::Len(slice.into())) {
            Some(_) => self
                .scalar(SlotKind::Len(slice.into()), Scalar::Usize)
                .word(),
            None => {
                let (memory, _, ty) = self.element(slice, 0);
                (memory.len / ty.size()) as u64
            }
        }
    }

    fn load(&mut self, slice: ParamId, index: u64) -> Value {
        let (memory, at, ty) = self.element(slice, index);
        let memory = bytes(memory).expect("it was copied to before");
        value(ty, &memory[at..at + ty.size()])
    }

    fn store(&mut self, slice: ParamId, index: u64, value: Value) {
        let (memory, at, ty) = self.element(slice, index);
        let mut memory = bytes(memory).expect("it was copied to before");
        memory[at..at + ty.size()].copy_from_slice(&value.word().to_le_bytes()[..ty.size()]);
    }
}

/// A value from its bytes. A small number that is an argument has more bytes than its type.
fn value(ty: Scalar, bytes: &[u8]) -> Value {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    Value::from_word(ty, u64::from_le_bytes(word))
}
