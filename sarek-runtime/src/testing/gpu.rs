//! A fake GPU: an asynchronous device with its own memory. Queued work runs only when a caller
//! waits for it, so a missing wait shows. "Compiled" kernels are Rust functions, found by name.

mod codegen;
mod stream;

use std::any::Any;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use sarek_ir::write::{FAULT_WORDS, Joint, Slot, SlotKind, Source, Variant};
use sarek_ir::{Access, Axis, Kernel, ParamId, ParamKind, Scalar};

use super::graph::FakeGraph;
use super::host::info;
use super::memory::{Bytes, Memory, memory, with};
use crate::host::{IndexSpace, RawFault};
use crate::plugin::backend::*;
use crate::plugin::tag::{ScheduleKind, StorageKind, Tag};
use crate::sync::lock;
use crate::{Error, Result};
pub(super) use stream::GpuStream;

/// A backend with one or more devices.
pub(crate) struct GpuBackend {
    name: &'static str,
    priority: i32,
    info: DeviceInfo,
    count: usize,
    claims: Mutex<Option<Claim>>,
    pub(crate) stats: Arc<Stats>,
}

/// Adds claims of the backend.
type Claim = Box<dyn Fn(&mut Claims) + Send>;

/// An action of another thread while one waits.
type Meanwhile = Box<dyn FnOnce() + Send>;

/// Counters of a device's work, and switches for failures.
#[derive(Default)]
pub(crate) struct Stats {
    pub(crate) uploads: AtomicUsize,
    pub(crate) downloads: AtomicUsize,
    pub(crate) compiles: AtomicUsize,
    pub(crate) launches: AtomicUsize,
    pub(crate) events: AtomicUsize,
    /// Copies on the device, or between devices.
    pub(crate) copies: AtomicUsize,
    /// The number of allocations requested, and the number of bytes allocated now.
    pub(crate) allocs: AtomicUsize,
    pub(crate) live: AtomicUsize,
    /// The memory size in bytes; 0 for no limit.
    pub(crate) capacity: AtomicUsize,
    /// The number of the first allocation that fails; 0 for none.
    pub(crate) fail_from: AtomicUsize,
    /// True if the driver makes graphs; and the number of replays.
    pub(crate) graphs: AtomicBool,
    pub(crate) replays: AtomicUsize,
    /// The number of launches that were replaced in graphs.
    pub(crate) updates: AtomicUsize,
    /// Runs once, during the next download.
    pub(crate) meanwhile: Mutex<Option<Meanwhile>>,
    /// Makes downloads fail while it is set.
    pub(crate) broken: AtomicBool,
    /// Makes calls that queue work fail after queuing it, while it is set.
    pub(crate) late: AtomicBool,
    /// Keeps compiled programs in the disk cache while it is set.
    pub(crate) keeps_artifacts: AtomicBool,
    /// The number of programs that the driver refuses to load before it loads one.
    pub(crate) refusals: AtomicUsize,
    /// Makes the next wait for a stream fail.
    pub(crate) fail_sync: AtomicBool,
    /// The number of the event that cannot be recorded if it is a timed one; 0 for none.
    pub(crate) fail_time: AtomicUsize,
    /// Makes everything fail once it is set.
    pub(crate) lost: AtomicBool,
    /// The storages of allocations outside the device's own memory.
    pub(crate) storages: Mutex<Vec<String>>,
    /// The schedules of launches other than blocks.
    pub(crate) schedules: Mutex<Vec<String>>,
    /// The parts of the last compilation.
    pub(crate) parts: Mutex<Parts>,
    /// True if buffers carry the types of their elements; and those that were allocated.
    pub(crate) types_buffers: AtomicBool,
    pub(crate) elements: Mutex<Vec<String>>,
    /// The environments that the target adds to its texts.
    pub(crate) environments: Mutex<Vec<String>>,
    /// The states of the environment `testing/number` that launches found.
    pub(crate) numbers: Mutex<Vec<u32>>,
    /// The compiler rejects texts with this one in them.
    pub(crate) rejected: Mutex<Option<String>>,
    /// The number of texts in which the compiler wants a batch; 0 for one for each kernel.
    pub(crate) joined: AtomicUsize,
    /// True if texts depend on the tags of launches.
    pub(crate) sees_tags: AtomicBool,
    /// The slots and the grid of the last launch.
    pub(crate) last: Mutex<(Vec<Slot>, [u32; 3])>,
}

impl GpuBackend {
    pub(crate) fn new(name: &'static str, priority: i32) -> Arc<GpuBackend> {
        GpuBackend::with(name, priority, |_| ())
    }

    pub(crate) fn with(
        name: &'static str,
        priority: i32,
        change: impl FnOnce(&mut DeviceInfo),
    ) -> Arc<GpuBackend> {
        GpuBackend::of_many(name, priority, 1, change)
    }

    pub(crate) fn of_many(
        name: &'static str,
        priority: i32,
        count: usize,
        change: impl FnOnce(&mut DeviceInfo),
    ) -> Arc<GpuBackend> {
        let mut info = info("fake GPU", false);
        info.warp = 32;
        info.slabs = true;
        info.memory = 1 << 24;
        change(&mut info);
        Arc::new(GpuBackend {
            name,
            priority,
            info,
            count,
            claims: Mutex::default(),
            stats: Arc::default(),
        })
    }
}

impl GpuBackend {
    /// Sets the claims that the backend makes when it is registered.
    pub(crate) fn claim(&self, claim: impl Fn(&mut Claims) + Send + 'static) {
        *lock(&self.claims) = Some(Box::new(claim));
    }
}

impl Backend for GpuBackend {
    fn claims(&self, claims: &mut Claims) {
        if let Some(claim) = &*lock(&self.claims) {
            claim(claims);
        }
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn count(&self) -> Result<usize, String> {
        Ok(self.count)
    }

    fn open(&self, _ordinal: usize) -> Result<Arc<dyn BackendDevice>> {
        Ok(Arc::new(GpuDevice {
            info: self.info.clone(),
            codegen: Fake(self.stats.clone()),
            stream: Arc::new(GpuStream::new(self.stats.clone())),
        }))
    }

    fn priority(&self) -> i32 {
        self.priority
    }
}

struct GpuDevice {
    info: DeviceInfo,
    codegen: Fake,
    stream: Arc<GpuStream>,
}

struct Fake(Arc<Stats>);

/// Work that may run more than once.
pub(super) type Repeated = Arc<dyn Fn() + Send + Sync>;

pub(super) fn copying(to: &Slice, from: &Slice) -> Repeated {
    let (to, from) = (to.clone(), from.clone());
    Arc::new(move || {
        let bytes = with(&from, |from| from.to_vec());
        with(&to, |to| to.copy_from_slice(&bytes));
    })
}

pub(super) fn zeroing(to: &Slice) -> Repeated {
    let to = to.clone();
    Arc::new(move || with(&to, |to| to.fill(0)))
}

pub(super) fn work(launch: &Launch<'_>) -> Repeated {
    let Some(loaded) = launch.program.downcast_ref::<Loaded>() else {
        panic!("another backend's program");
    };
    let Args::Device(args) = launch.args else {
        panic!("host arguments");
    };
    assert_eq!(loaded.block, launch.space.block);
    assert_eq!(loaded.slots.len(), args.len());
    for (slot, arg) in loaded.slots.iter().zip(args) {
        if let Arg::Buffer(slice) = arg {
            assert!(slice.len >= slot.ty.size(), "a buffer of no elements");
            if let (SlotKind::Buffer { .. }, Some(element)) = (slot.kind, memory(slice).element) {
                assert_eq!(sarek_ir::link::unit(&element).0, slot.ty, "another type");
            }
        }
    }
    let kinds = loaded.slots.iter().map(|slot| slot.kind);
    let run = Run {
        space: launch.space,
        values: kinds.zip(args.iter().cloned()).collect(),
    };
    let body = loaded.run;
    Arc::new(move || body(&run))
}

struct Loaded {
    run: fn(&Run),
    slots: Vec<Slot>,
    block: [u32; 3],
}

// SAFETY: memory is a separate vector, on which the test does what the kernel would.
unsafe impl BackendDevice for GpuDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn codegen(&self) -> Codegen<'_> {
        Codegen::Jit(&self.codegen, &self.codegen)
    }

    unsafe fn load(&self, program: &Program<'_>) -> Result<Arc<dyn Any + Send + Sync>> {
        let Program::Binary {
            source,
            kernel,
            block,
            ..
        } = *program
        else {
            panic!("not compiled");
        };
        let refusals = &self.codegen.0.refusals;
        let less = |left: usize| left.checked_sub(1);
        if refusals
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .is_ok()
        {
            return Err(failed("it refuses the program"));
        }
        Ok(Arc::new(Loaded {
            run: super::kernels::on_gpu(kernel),
            slots: source.slots.clone(),
            block,
        }))
    }

    fn alloc(&self, bytes: usize) -> Result<Arc<dyn Mem>> {
        assert!(bytes > 0, "an allocation of 0 bytes");
        let stats = &self.codegen.0;
        stats.alive()?;
        let number = stats.allocs.fetch_add(1, Ordering::Relaxed) + 1;
        let fail_from = stats.fail_from.load(Ordering::Relaxed);
        let capacity = stats.capacity.load(Ordering::Relaxed);
        let full = capacity > 0 && stats.live.load(Ordering::Relaxed) + bytes > capacity;
        if full || fail_from > 0 && number >= fail_from {
            return Err(Error::OutOfMemory {
                device: "fake GPU".into(),
                bytes,
            });
        }
        stats.live.fetch_add(bytes, Ordering::Relaxed);
        Ok(Arc::new(Memory::of(Bytes::Own(vec![0xEE; bytes]), stats)))
    }

    fn types_buffers(&self) -> bool {
        self.codegen.0.types_buffers.load(Ordering::Relaxed)
    }

    fn alloc_elements(&self, request: &BufferRequest<'_>) -> Result<Arc<dyn Mem>> {
        let (unit, per) = request.unit();
        let told = format!("{} elements of {per} {unit}", request.elements());
        let stats = &self.codegen.0;
        lock(&stats.elements).push(told);
        if let Some(storage) = request.storage {
            lock(&stats.storages).push(storage.to_string());
        }
        stats.live.fetch_add(request.bytes, Ordering::Relaxed);
        let mut made = Memory::of(Bytes::Own(vec![0xEE; request.bytes]), stats);
        made.element = Some(request.element);
        Ok(Arc::new(made))
    }

    unsafe fn import_host(&self, at: NonNull<u8>, bytes: usize) -> Result<Option<Arc<dyn Mem>>> {
        if !self.info.unified {
            return Ok(None);
        }
        let stats = &self.codegen.0;
        stats.live.fetch_add(bytes, Ordering::Relaxed);
        let memory = Memory::of(Bytes::OfHost(at, bytes), stats);
        Ok(Some(Arc::new(memory)))
    }

    fn alloc_in(&self, bytes: usize, storage: &Tag<StorageKind>) -> Result<Arc<dyn Mem>> {
        lock(&self.codegen.0.storages).push(storage.to_string());
        self.alloc(bytes)
    }

    unsafe fn graph(&self, operations: &[GraphOp<'_>]) -> Result<Option<Box<dyn BackendGraph>>> {
        FakeGraph::of(&self.codegen.0, operations)
    }

    fn stream(&self) -> Arc<dyn BackendStream> {
        self.stream.clone()
    }

    fn new_stream(&self) -> Result<Arc<dyn BackendStream>> {
        Ok(Arc::new(GpuStream::new(self.codegen.0.clone())))
    }
}

fn slots(kernel: &Kernel, variant: &Variant) -> Vec<Slot> {
    let usize_type = variant.index.scalar();
    let mut slots = Vec::new();
    for (param, id) in kernel.params.iter().zip((0..).map(ParamId)) {
        match param.kind {
            ParamKind::Scalar(ty) => slots.push(Slot {
                kind: SlotKind::Scalar(id),
                ty: if ty == Scalar::Usize { usize_type } else { ty },
            }),
            ParamKind::Value(_) | ParamKind::Reference(_) => {
                unreachable!("a closed kernel takes scalars and slices")
            }
            ParamKind::Slice { elem, access } => {
                let mutable = access != Access::Read;
                slots.push(Slot {
                    kind: SlotKind::Buffer { param: id, mutable },
                    ty: elem.scalar(),
                });
                slots.push(Slot {
                    kind: SlotKind::Len(id.into()),
                    ty: usize_type,
                });
            }
        }
    }
    for axis in Axis::ALL.into_iter().take(usize::from(variant.dims)) {
        let ty = usize_type;
        let kind = SlotKind::Extent(axis);
        slots.push(Slot { kind, ty });
        if variant.folded {
            let kind = SlotKind::Grid(axis);
            slots.push(Slot { kind, ty });
        }
    }
    if !variant.checked.is_empty() {
        let (kind, ty) = (SlotKind::Faults, Scalar::U32);
        slots.push(Slot { kind, ty });
    }
    slots
}

impl Stats {
    pub(super) fn alive(&self) -> Result<()> {
        match self.lost.load(Ordering::Relaxed) {
            true => Err(failed("it was lost")),
            false => Ok(()),
        }
    }

    /// The result of a call that has queued work.
    fn queued(&self) -> Result<()> {
        match self.late.load(Ordering::Relaxed) {
            true => Err(failed("it failed late")),
            false => Ok(()),
        }
    }
}

fn failed(message: &str) -> Error {
    Error::Device {
        device: "fake GPU".into(),
        message: message.into(),
    }
}

/// A launch, as seen by a fake kernel.
pub(crate) struct Run {
    pub(crate) space: IndexSpace,
    values: Vec<(SlotKind, Arg)>,
}

impl Run {
    fn value(&self, kind: impl Fn(SlotKind) -> bool) -> Option<&Arg> {
        self.values
            .iter()
            .find(|(k, _)| kind(*k))
            .map(|(_, arg)| arg)
    }

    fn word(&self, kind: SlotKind) -> u64 {
        match self.value(|k| k == kind) {
            Some(Arg::Scalar(scalar)) => {
                let mut word = [0; 8];
                word[..scalar.as_bytes().len()].copy_from_slice(scalar.as_bytes());
                u64::from_ne_bytes(word)
            }
            _ => panic!("no scalar {kind:?}"),
        }
    }

    pub(crate) fn scalar(&self, param: u32) -> u64 {
        self.word(SlotKind::Scalar(ParamId(param)))
    }

    pub(crate) fn len(&self, param: u32) -> u64 {
        self.word(SlotKind::Len(ParamId(param).into()))
    }

    /// Accesses the bytes of a buffer.
    pub(crate) fn with_buffer<R>(&self, param: u32, f: impl FnOnce(&mut [u8]) -> R) -> R {
        let is = |k| matches!(k, SlotKind::Buffer { param: p, .. } if p.0 == param);
        match self.value(is) {
            Some(Arg::Buffer(slice)) => with(slice, f),
            _ => panic!("no buffer {param}"),
        }
    }

    /// Records a fault, if it is the first one and the site is checked.
    pub(crate) fn fault(&self, site: u32, index: u64) {
        let Some(Arg::Buffer(slice)) = self.value(|k| k == SlotKind::Faults) else {
            panic!("a fault where nothing is checked");
        };
        let (low, high) = (index as u32, (index >> 32) as u32);
        let words = [1, site, low, high, low, 0, 0, 0, 0, 0];
        with(slice, |record| {
            assert_eq!(record.len(), 4 * FAULT_WORDS);
            if record[..4] == [0; 4] {
                record.copy_from_slice(&words.map(u32::to_ne_bytes).concat());
            }
        });
    }
}
