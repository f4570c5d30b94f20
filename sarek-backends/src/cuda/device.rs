//! A CUDA device, its primary context and its lanes.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use cudarc::driver::result::{
    self, DriverError, ctx, device, event, mem_pool, primary_ctx, stream,
};
use cudarc::driver::sys::{
    CUcontext, CUdevice, CUdevice_attribute as Attribute, CUevent, CUevent_flags,
    CUevent_wait_flags, CUmemAllocationHandleType, CUmemAllocationType, CUmemLocation,
    CUmemLocationType, CUmemPool_attribute as PoolAttribute, CUmemPoolProps, CUmemoryPool,
    CUstream,
};
use sarek_runtime::backend::{
    BackendDevice, BackendStream, Codegen, DeviceInfo, Features, Mem, Program,
};
use sarek_runtime::{Error, Result};

use super::memory::Memory;
use super::program::{self, Compiler, Renderer};
use super::stream::Stream;
use super::words;
use crate::jit::lock;

/// A device.
pub(super) struct Device {
    shared: Arc<Shared>,
    info: DeviceInfo,
    compiler: Compiler,
    stream: Arc<Stream>,
}

/// What everything that belongs to a device needs of it. Kept to the end of the process, as the
/// framework keeps devices, so the context is never released.
pub(super) struct Shared {
    pub name: String,
    device: CUdevice,
    pub context: CUcontext,
    /// How memory is allocated, if the device has pools.
    pub pool: Option<Pool>,
    /// The streams that live; what is freed waits for all of them.
    lanes: Mutex<Vec<Lane>>,
}

/// A memory pool and its streams. Allocation and release have one each: an allocation must not
/// queue behind a release, which waits for work.
#[derive(Clone, Copy)]
pub(super) struct Pool {
    pub pool: CUmemoryPool,
    pub alloc: CUstream,
    pub free: CUstream,
}

/// A stream, with an event to wait for it.
#[derive(Clone, Copy)]
pub(super) struct Lane {
    pub stream: CUstream,
    fence: CUevent,
}

// SAFETY: a context, its streams and events may be used from any thread once the context is
// current there, which `Shared::bind` sees to.
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

    /// The driver's word on a failed call.
    pub fn error(&self, call: &str, error: DriverError) -> Error {
        failure(&self.name, call, error)
    }

    /// A new stream, known to [`Shared::lanes`].
    pub fn open_lane(&self) -> Result<Lane> {
        self.bind()?;
        let fence = event::create(CUevent_flags::CU_EVENT_DISABLE_TIMING)
            .map_err(|error| self.error("cuEventCreate", error))?;
        let stream = stream::create(stream::StreamKind::NonBlocking)
            .map_err(|error| self.error("cuStreamCreate", error))?;
        let lane = Lane { stream, fence };
        lock(&self.lanes).push(lane);
        Ok(lane)
    }

    /// Waits for a stream and forgets it.
    pub fn close_lane(&self, lane: Lane) -> Result<()> {
        self.bind()?;
        // SAFETY: the lane is live and its owner is giving it up.
        let waited = unsafe { stream::synchronize(lane.stream) };
        lock(&self.lanes).retain(|other| other.stream != lane.stream);
        // SAFETY: nobody can reach the lane any more.
        let destroyed = unsafe { stream::destroy(lane.stream).and(event::destroy(lane.fence)) };
        waited
            .and(destroyed)
            .map_err(|error| self.error("cuStreamDestroy", error))
    }

    /// Makes `waiting` wait for what all streams have been given so far.
    pub fn wait_for_all(&self, waiting: CUstream) -> Result<()> {
        // The lock keeps the streams live, and each fence from being recorded for someone else
        // before it is waited for.
        for lane in lock(&self.lanes).iter() {
            // SAFETY: all three are live objects of the current context.
            let queued = unsafe {
                event::record(lane.fence, lane.stream).and(stream::wait_event(
                    waiting,
                    lane.fence,
                    CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT,
                ))
            };
            queued.map_err(|error| self.error("cuStreamWaitEvent", error))?;
        }
        Ok(())
    }

    /// Waits for all streams.
    pub fn finish_all(&self) -> Result<()> {
        let lanes = lock(&self.lanes);
        for lane in lanes.iter() {
            // SAFETY: the lock keeps the stream live.
            unsafe { stream::synchronize(lane.stream) }
                .map_err(|error| self.error("cuStreamSynchronize", error))?;
        }
        Ok(())
    }

    /// Gives back to the driver what the pool holds: memory that was given up may still wait for the work that uses
    /// it, or be held in pieces.
    pub fn trim(&self) -> Result<()> {
        self.bind()?;
        self.finish_all()?;
        let Some(Pool { pool, free, .. }) = self.pool else {
            return Ok(());
        };
        // SAFETY: the stream and the pool are live.
        unsafe { stream::synchronize(free).and_then(|()| mem_pool::trim_to(pool, 0)) }
            .map_err(|error| self.error("trimming the memory pool", error))
    }

    fn attribute(&self, attribute: Attribute) -> Result<i32> {
        // SAFETY: the device is one that the driver gave.
        unsafe { device::get_attribute(self.device, attribute) }
            .map_err(|error| self.error("cuDeviceGetAttribute", error))
    }

    /// The most bytes of shared memory that a block can have, if its kernel asks for more than is usual.
    pub fn max_shared(&self) -> Result<u32> {
        let most =
            self.attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        Ok(u32::try_from(most).unwrap_or(0))
    }

    fn open_pool(&self) -> Result<Option<Pool>> {
        let supported = self.attribute(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
        if !matches!(supported, Ok(1)) {
            return Ok(None); // drivers before 11.2 do not know the attribute
        }
        let told = |error| self.error("setting up the memory pool", error);
        let properties = CUmemPoolProps {
            allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            handleTypes: CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
            location: CUmemLocation {
                type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                id: self.device,
            },
            win32SecurityAttributes: std::ptr::null_mut(),
            maxSize: 0,
            usage: 0,
            reserved: [0; 54],
        };
        // A pool of our own: others in the process may rely on the settings of the default one.
        // SAFETY: the properties are those of device memory that is not shared with processes.
        let pool = unsafe { mem_pool::create(&properties) }.map_err(told)?;
        // Keep what is freed; and rather grow than make an allocation wait for a release.
        let (mut keep, mut no) = (u64::MAX, 0i32);
        // SAFETY: the attributes are a `u64` and an `int`.
        unsafe {
            let threshold = PoolAttribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
            mem_pool::set_attribute(pool, threshold, (&raw mut keep).cast()).map_err(told)?;
            let wait = PoolAttribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
            mem_pool::set_attribute(pool, wait, (&raw mut no).cast()).map_err(told)?;
        }
        let open = || stream::create(stream::StreamKind::NonBlocking).map_err(told);
        Ok(Some(Pool {
            pool,
            alloc: open()?,
            free: open()?,
        }))
    }
}

/// The driver's word on a failed call.
fn failure(device: &str, call: &str, error: DriverError) -> Error {
    Error::Device {
        device: device.into(),
        message: format!("{call} failed: {}", words(error)),
    }
}

impl Device {
    pub fn open(ordinal: usize) -> Result<Arc<Device>> {
        let told = |call| move |error| failure("CUDA device", call, error);
        let device = device::get(ordinal as i32).map_err(told("cuDeviceGet"))?;
        let name = device::get_name(device).map_err(told("cuDeviceGetName"))?;
        // SAFETY: the device is one that the driver gave.
        let context = unsafe { primary_ctx::retain(device) };
        let mut shared = Shared {
            context: context.map_err(told("cuDevicePrimaryCtxRetain"))?,
            name,
            device,
            pool: None,
            lanes: Mutex::default(),
        };
        shared.bind()?;
        shared.pool = shared.open_pool()?;
        let shared = Arc::new(shared);
        Ok(Arc::new(Device {
            info: describe(&shared)?,
            compiler: Compiler::new(&shared.name, capability(&shared)?),
            stream: Arc::new(Stream::new(shared.clone())?),
            shared,
        }))
    }
}

impl BackendDevice for Device {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn codegen(&self) -> Codegen<'_> {
        Codegen::Jit(&Renderer, &self.compiler)
    }

    fn load(&self, program: &Program<'_>) -> Result<Arc<dyn Any + Send + Sync>> {
        Ok(Arc::new(program::load(&self.shared, program)?))
    }

    fn alloc(&self, bytes: usize) -> Result<Arc<dyn Mem>> {
        Ok(Arc::new(Memory::new(&self.shared, bytes)?))
    }

    fn trim(&self) -> Result<()> {
        self.shared.trim()
    }

    fn stream(&self) -> Arc<dyn BackendStream> {
        self.stream.clone()
    }

    fn new_stream(&self) -> Result<Arc<dyn BackendStream>> {
        Ok(Arc::new(Stream::new(self.shared.clone())?))
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
                "multiprocessors",
                Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
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
            .chain([
                (
                    "architecture".to_string(),
                    self.compiler.arch().unwrap_or_else(|why| why),
                ),
                (
                    "memory pool".to_string(),
                    self.shared.pool.is_some().to_string(),
                ),
            ])
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
    // SAFETY: the device is one that the driver gave.
    let memory = unsafe { device::total_mem(shared.device) }
        .map_err(|error| shared.error("cuDeviceTotalMem", error))? as u64;
    Ok(DeviceInfo {
        name: shared.name.clone(),
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
            fences: true,
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
        max_buffer: memory,
        // Arguments take 4096 bytes at most; a buffer is a pointer and a length.
        max_buffers: 200,
        warp: get(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
        memory,
        unified: get(Attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED)? != 0,
        // Arguments are addresses; this is what the driver's own allocations begin at.
        alignment: 256,
        slabs: true,
    })
}
