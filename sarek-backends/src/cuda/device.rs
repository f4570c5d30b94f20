//! A CUDA device, its primary context and its streams.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use cudarc::driver::result::{self, DriverError, ctx, device, event, primary_ctx, stream};
use cudarc::driver::sys::{
    CUcontext, CUdevice, CUdevice_attribute as Attribute, CUevent, CUevent_flags, CUstream,
};
use sarek_runtime::backend::{
    BackendDevice, BackendGraph, BackendStream, Codegen, DeviceInfo, Features, GraphOp, Mem,
    Program,
};
use sarek_runtime::tag::{DeviceKind, StorageKind, Tag};
use sarek_runtime::{Error, Result};

use super::graph::Graph;
use super::memory::Memory;
use super::program::{self, Compiler, Renderer};
use super::stream::Stream;
use super::transfer::Transfers;
use super::words;
use crate::jit::{self, lock};

/// A CUDA device.
pub(super) struct Device {
    shared: Arc<Shared>,
    info: DeviceInfo,
    compiler: Compiler,
    stream: Arc<Stream>,
}

/// The part of a device that its memory, streams and programs share. The framework keeps devices until the process
/// ends, so the context is never released.
pub(super) struct Shared {
    pub name: String,
    pub device: CUdevice,
    pub context: CUcontext,
    /// The live streams. Memory is freed after the work of all of them.
    streams: Mutex<Vec<FencedStream>>,
    /// The devices for which peer access was tried, successfully or not.
    pub peers: Mutex<Vec<CUdevice>>,
    /// Events ready for reuse.
    pub event_pool: EventPool,
    /// The thread teams for large transfers.
    pub transfers: Transfers,
}

/// A pool of events for reuse: creating an event takes longer than recording it.
#[derive(Default)]
pub(super) struct EventPool {
    plain: Mutex<Vec<CUevent>>,
    timed: Mutex<Vec<CUevent>>,
}

impl EventPool {
    /// The maximum number of events of each kind.
    const MOST: usize = 64;

    fn of(&self, timed: bool) -> &Mutex<Vec<CUevent>> {
        if timed { &self.timed } else { &self.plain }
    }

    /// Takes an event, with timing if `timed`.
    pub fn take(&self, timed: bool) -> Option<CUevent> {
        lock(self.of(timed)).pop()
    }

    /// Keeps an unused event if there is room; returns whether it does.
    pub fn put(&self, event: CUevent, timed: bool) -> bool {
        let mut spare = lock(self.of(timed));
        let keeps = spare.len() < Self::MOST;
        if keeps {
            spare.push(event);
        }
        keeps
    }
}

/// A stream, with an event for waiting on it.
#[derive(Clone, Copy)]
pub(super) struct FencedStream {
    pub stream: CUstream,
    pub fence: CUevent,
}

// SAFETY: see `Shared`.
unsafe impl Send for FencedStream {}
// SAFETY: as above.
unsafe impl Sync for FencedStream {}
// SAFETY: a context, its streams and events may be used from any thread on which the context is current, which
// `Shared::bind` ensures.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// Makes the context current on this thread.
    pub fn bind(&self) -> Result<()> {
        let bound = match ctx::get_current() {
            Ok(Some(current)) if current == self.context => Ok(()),
            // SAFETY: the context is live.
            Ok(_) | Err(_) => unsafe { ctx::set_current(self.context) },
        };
        bound.map_err(|error| self.error("cuCtxSetCurrent", error))
    }

    /// The error for a failed call of the driver.
    pub fn error(&self, call: &str, error: DriverError) -> Error {
        failure(&self.name, call, error)
    }

    /// Opens a stream and adds it to [`Shared::streams`].
    pub fn open_stream(&self) -> Result<FencedStream> {
        let fenced = self.private_stream()?;
        lock(&self.streams).push(fenced);
        Ok(fenced)
    }

    /// Opens a stream for recording a graph. No one waits for it.
    pub fn private_stream(&self) -> Result<FencedStream> {
        self.bind()?;
        let fence = event::create(CUevent_flags::CU_EVENT_DISABLE_TIMING)
            .map_err(|error| self.error("cuEventCreate", error))?;
        let stream = stream::create(stream::StreamKind::NonBlocking)
            .map_err(|error| self.error("cuStreamCreate", error))?;
        Ok(FencedStream { stream, fence })
    }

    /// Waits for a stream and closes it.
    pub fn close_stream(&self, fenced: FencedStream) -> Result<()> {
        self.bind()?;
        // SAFETY: the stream is live, and its owner gives it up.
        let waited = unsafe { stream::synchronize(fenced.stream) };
        lock(&self.streams).retain(|other| other.stream != fenced.stream);
        // SAFETY: no one can reach the stream any more.
        let destroyed = unsafe { stream::destroy(fenced.stream).and(event::destroy(fenced.fence)) };
        waited
            .and(destroyed)
            .map_err(|error| self.error("cuStreamDestroy", error))
    }

    /// Waits for all streams.
    pub fn finish_all(&self) -> Result<()> {
        let streams = lock(&self.streams);
        for fenced in streams.iter() {
            // SAFETY: the lock keeps the stream live.
            unsafe { stream::synchronize(fenced.stream) }
                .map_err(|error| self.error("cuStreamSynchronize", error))?;
        }
        Ok(())
    }

    fn attribute(&self, attribute: Attribute) -> Result<i32> {
        // SAFETY: the driver returned the device.
        unsafe { device::get_attribute(self.device, attribute) }
            .map_err(|error| self.error("cuDeviceGetAttribute", error))
    }

    /// The maximum size in bytes of a block's shared memory, for kernels that opt in to more than the default.
    pub fn max_shared(&self) -> Result<u32> {
        let most =
            self.attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        Ok(u32::try_from(most).unwrap_or(0))
    }
}

/// The error for a failed call of the driver.
fn failure(device: &str, call: &str, error: DriverError) -> Error {
    Error::Device {
        device: device.into(),
        message: format!("{call} failed: {}", words(error)),
    }
}

impl Device {
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub fn open(ordinal: usize) -> Result<Arc<Device>> {
        let told = |call| move |error| failure("CUDA device", call, error);
        let device = device::get(ordinal as i32).map_err(told("cuDeviceGet"))?;
        let name = device::get_name(device).map_err(told("cuDeviceGetName"))?;
        // SAFETY: the driver returned the device.
        let context = unsafe { primary_ctx::retain(device) };
        let shared = Shared {
            context: context.map_err(told("cuDevicePrimaryCtxRetain"))?,
            name,
            device,
            streams: Mutex::default(),
            peers: Mutex::default(),
            event_pool: EventPool::default(),
            transfers: Transfers::default(),
        };
        shared.bind()?;
        let shared = Arc::new(shared);
        Ok(Arc::new(Device {
            info: describe(&shared)?,
            compiler: Compiler::new(&shared.name, capability(&shared)?),
            stream: Arc::new(Stream::new(shared.clone())?),
            shared,
        }))
    }
}

// SAFETY: memory, programs and streams are the driver's own, and the driver supplies the description.
unsafe impl BackendDevice for Device {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn codegen(&self) -> Codegen<'_> {
        Codegen::Jit(&Renderer, &self.compiler)
    }

    unsafe fn load(&self, program: &Program<'_>) -> Result<Arc<dyn Any + Send + Sync>> {
        Ok(Arc::new(program::load(&self.shared, program)?))
    }

    fn alloc(&self, bytes: usize) -> Result<Arc<dyn Mem>> {
        Ok(Arc::new(Memory::new(&self.shared, bytes)?))
    }

    fn alloc_in(&self, bytes: usize, storage: &Tag<StorageKind>) -> Result<Arc<dyn Mem>> {
        let in_place = self.info.unified && *storage == StorageKind::zero_copy();
        match *storage == StorageKind::pinned() || in_place {
            true => Ok(Arc::new(Memory::on_host(&self.shared, bytes)?)),
            false => Err(jit::no_storage(&self.shared.name, storage)),
        }
    }

    fn stream(&self) -> Arc<dyn BackendStream> {
        self.stream.clone()
    }

    fn new_stream(&self) -> Result<Arc<dyn BackendStream>> {
        Ok(Arc::new(Stream::new(self.shared.clone())?))
    }

    unsafe fn graph(&self, operations: &[GraphOp<'_>]) -> Result<Option<Box<dyn BackendGraph>>> {
        let graph = Graph::new(&self.shared, operations)?;
        Ok(Some(Box::new(graph)))
    }

    fn used_memory(&self) -> Option<(u64, u64)> {
        self.shared.bind().ok()?;
        let (free, total) = result::mem_get_info().ok()?;
        Some((total.saturating_sub(free) as u64, total as u64))
    }

    fn debug_info(&self) -> BTreeMap<String, String> {
        let facts = [
            ("clock kHz", Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
            (
                "L2 cache bytes",
                Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE,
            ),
            (
                "memory bus bits",
                Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH,
            ),
            (
                "shared bytes per block",
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
            ),
        ];
        facts
            .into_iter()
            .filter_map(|(key, fact)| {
                let value = self.shared.attribute(fact).ok()?;
                Some((key.to_string(), value.to_string()))
            })
            .chain([(
                "architecture".to_string(),
                self.compiler.arch().unwrap_or_else(|why| why),
            )])
            .collect()
    }
}

/// The compute capability, major and minor.
fn capability(shared: &Shared) -> Result<(i32, i32)> {
    Ok((
        shared.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
        shared.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
    ))
}

fn describe(shared: &Shared) -> Result<DeviceInfo> {
    let get = |attribute| {
        let value = shared.attribute(attribute)?;
        Ok::<u32, Error>(u32::try_from(value).unwrap_or(0))
    };
    // SAFETY: the driver returned the device.
    let memory = unsafe { device::total_mem(shared.device) }
        .map_err(|error| shared.error("cuDeviceTotalMem", error))? as u64;
    Ok(DeviceInfo {
        name: shared.name.clone(),
        kind: DeviceKind::gpu(),
        priority: None,
        host_memory: false,
        features: Features {
            f64: true,
            f64_math: true,
            i64: true,
            storage8: true,
            storage16: true,
            f16: true,
            atomics64: true,
            subgroups: true,
            shaped_subgroups: true,
            fences: true,
            strided: true,
            strict: true,
        },
        max_block: [
            get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
            get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
            get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
        ],
        max_block_threads: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        max_grid: [
            get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
            get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
            get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
        ],
        max_shared: shared.max_shared()?.into(),
        // A thread has 512 KiB of local memory, which also holds spilled registers.
        max_private: 496 << 10,
        max_private_block: u64::MAX,
        max_buffer: memory,
        // Arguments take at most 4096 bytes; a buffer is a pointer and a length.
        max_buffers: 200,
        warp: get(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
        subgroup: get(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
        compute_units: get(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        memory,
        unified: get(Attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED)? != 0,
        // Arguments are addresses; this is the alignment of the driver's own allocations.
        alignment: 256,
        slabs: true,
        words: false,
    })
}
