//! An OpenCL device and its context.

use std::any::Any;
use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;

use opencl3::command_queue::{CL_QUEUE_PROFILING_ENABLE, create_command_queue};
use opencl3::context::Context;
use opencl3::device::{
    CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU, CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, CL_FP_DENORM,
    CL_FP_INF_NAN, CL_FP_ROUND_TO_NEAREST, Device as Id,
};
use opencl3::error_codes::{ClError, cl_int};
use opencl3::types::cl_context;
use sarek_runtime::backend::{
    BackendDevice, BackendStream, Codegen, DeviceInfo, Features, Mem, Program,
};
use sarek_runtime::tag::{DeviceKind, StorageKind, Tag};
use sarek_runtime::{Error, Result};

use super::Object;
use super::memory::Memory;
use super::program::{self, Compiler, Renderer};
use super::stream::Stream;
use crate::jit;

/// An OpenCL device.
pub(super) struct Device {
    pub shared: Arc<Shared>,
    info: DeviceInfo,
    compiler: Compiler,
    stream: Arc<Stream>,
    /// The queue on which new buffers are touched, for drivers that allocate only at the first use.
    placing: Option<Stream>,
}

/// The part of a device that its memory, streams and programs share.
pub(super) struct Shared {
    pub id: Id,
    pub name: String,
    /// Offsets of sub-buffers must be multiples of this many bytes.
    pub alignment: usize,
    /// True if the driver is PoCL.
    pub is_pocl: bool,
    /// True if the driver is NVIDIA's. Once a kernel has failed there, each call fails.
    pub is_nvidia: bool,
    /// Never released: a device lives until the process ends, and opencl3 panics if a driver that is already unloaded
    /// fails to release.
    context: ManuallyDrop<Context>,
}

impl Shared {
    pub fn context(&self) -> cl_context {
        self.context.get()
    }

    /// The error for a failed call of the driver.
    pub fn error(&self, call: &str, code: cl_int) -> Error {
        Error::Device {
            device: self.name.clone(),
            message: format!("{call} failed with {} ({code})", ClError(code)),
        }
    }
}

impl Device {
    pub fn open(id: Id) -> Result<Arc<Device>> {
        let name = id.name().unwrap_or_else(|_| "OpenCL device".into());
        let context = Context::from_device(&id).map_err(|error| Error::Device {
            device: name.clone(),
            message: format!("clCreateContext failed with {error} ({})", error.0),
        })?;
        let version = id.version().unwrap_or_default();
        let shared = Arc::new(Shared {
            id,
            is_pocl: version.contains("PoCL"),
            is_nvidia: version.contains("CUDA"),
            alignment: id.mem_base_addr_align().unwrap_or(1024) as usize / 8,
            name: name.trim().to_string(),
            context: ManuallyDrop::new(context),
        });
        let info = describe(&shared).map_err(|ClError(code)| {
            let call = "clGetDeviceInfo";
            shared.error(call, code)
        })?;
        let software = info.kind == DeviceKind::software();
        Ok(Arc::new(Device {
            info,
            compiler: Compiler::new(shared.clone()),
            stream: Arc::new(new_queue(&shared)?),
            placing: (!software).then(|| new_queue(&shared)).transpose()?,
            shared,
        }))
    }
}

impl Device {
    fn buffer(&self, bytes: usize, on_host: bool) -> Result<Arc<dyn Mem>> {
        // NVIDIA's driver creates buffers of any size, and fails when they are used.
        if bytes as u64 > self.info.max_buffer {
            let device = self.shared.name.clone();
            return Err(Error::OutOfMemory { device, bytes });
        }
        let memory = Memory::new(&self.shared, bytes, on_host)?;
        if let (Some(queue), false) = (&self.placing, on_host) {
            memory.place(queue)?;
        }
        Ok(Arc::new(memory))
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
        Ok(Arc::new(program::load(
            &self.shared,
            &self.compiler,
            program,
        )?))
    }

    fn alloc(&self, bytes: usize) -> Result<Arc<dyn Mem>> {
        self.buffer(bytes, false)
    }

    fn alloc_in(&self, bytes: usize, storage: &Tag<StorageKind>) -> Result<Arc<dyn Mem>> {
        let in_place = self.info.unified && *storage == StorageKind::zero_copy();
        match *storage == StorageKind::pinned() || in_place {
            true => self.buffer(bytes, true),
            false => Err(jit::no_storage(&self.shared.name, storage)),
        }
    }

    unsafe fn import_host(&self, at: NonNull<u8>, bytes: usize) -> Result<Option<Arc<dyn Mem>>> {
        if !self.info.unified || bytes as u64 > self.info.max_buffer {
            return Ok(None);
        }
        // SAFETY: the caller's promise.
        let memory = unsafe { Memory::in_place(&self.shared, at, bytes) };
        Ok(memory.map(|memory| Arc::new(memory) as Arc<dyn Mem>))
    }

    fn stream(&self) -> Arc<dyn BackendStream> {
        self.stream.clone()
    }

    fn new_stream(&self) -> Result<Arc<dyn BackendStream>> {
        Ok(Arc::new(new_queue(&self.shared)?))
    }

    fn debug_info(&self) -> BTreeMap<String, String> {
        let id = self.shared.id;
        let facts = [
            ("vendor", id.vendor()),
            ("version", id.version()),
            ("driver", id.driver_version()),
            ("clock MHz", id.max_clock_frequency().map(|n| n.to_string())),
            ("local memory", id.local_mem_size().map(|n| n.to_string())),
            ("extensions", id.extensions()),
        ];
        facts
            .into_iter()
            .filter_map(|(key, fact)| Some((key.to_string(), fact.ok()?.trim().to_string())))
            .chain([(
                "build options".to_string(),
                self.compiler.options().to_string(),
            )])
            .collect()
    }
}

fn new_queue(shared: &Arc<Shared>) -> Result<Stream> {
    // SAFETY: the device belongs to the context.
    let queue = unsafe {
        create_command_queue(shared.context(), shared.id.id(), CL_QUEUE_PROFILING_ENABLE)
    };
    let queue = queue.map_err(|code| shared.error("clCreateCommandQueue", code))?;
    Ok(Stream::new(shared.clone(), Object::queue(queue)))
}

fn describe(shared: &Shared) -> opencl3::Result<DeviceInfo> {
    let id = shared.id;
    let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let threads = clamp(id.max_work_group_size()?);
    let sizes = id.max_work_item_sizes()?;
    let block = |axis| threads.min(sizes.get(axis).copied().map_or(1, clamp));
    let max_block = [block(0), block(1), block(2)];
    // OpenCL has no query for the maximum number of work-groups, nor do most drivers. These are the smallest limits in
    // use. The global size must fit the device's `size_t`.
    let groups = match id.address_bits()? {
        64 => i32::MAX as u32,
        _ => i32::MAX as u32 / max_block[0].max(1),
    };
    let extensions = id.extensions()?;
    let full = id.profile()? == "FULL_PROFILE";
    let software = id.dev_type()? & CL_DEVICE_TYPE_CPU != 0;
    let f64 = id.double_fp_config().unwrap_or(0) != 0;
    Ok(DeviceInfo {
        name: shared.name.clone(),
        kind: match software {
            true => DeviceKind::software(),
            false => DeviceKind::gpu(),
        },
        priority: software.then_some(40),
        host_memory: false,
        features: Features {
            f64,
            f64_math: f64,
            i64: full || extensions.contains("cles_khr_int64"),
            storage8: true,
            storage16: true,
            f16: true,
            atomics64: ["cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"]
                .iter()
                .all(|name| extensions.contains(name)),
            // OpenCL C 1.2 has none.
            subgroups: false,
            shaped_subgroups: false,
            fences: true,
            strided: true,
            strict: is_strict(&id),
        },
        max_block,
        max_block_threads: threads,
        max_grid: [groups, 65535, 65535],
        max_shared: id.local_mem_size()?,
        max_private: if software { 64 << 10 } else { 496 << 10 },
        // Processors keep the arrays of a whole block on the stack of one thread. That is mostly 8 MiB, and 2 MiB where
        // the system sets no limit.
        max_private_block: if software { 1 << 20 } else { u64::MAX },
        max_buffer: id.max_mem_alloc_size()?,
        // A buffer argument comes with a 64-bit length.
        max_buffers: clamp(id.max_parameter_size()? / 16),
        warp: warp(&id)?,
        subgroup: 0,
        compute_units: id.max_compute_units()?,
        memory: id.global_mem_size()?,
        unified: id.host_unified_memory().unwrap_or(false),
        alignment: shared.alignment,
        // A part of a buffer needs a sub-buffer object for each launch.
        slabs: false,
        words: false,
    })
}

/// True if `f32` arithmetic follows IEEE 754: with subnormal numbers, and rounded to nearest, division and square root
/// included. Devices with `f64` do so there.
fn is_strict(id: &Id) -> bool {
    let all =
        CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
    id.single_fp_config().unwrap_or(0) & all == all
}

/// The width of the hardware's lockstep groups, if a driver reports it: by two vendors' extensions, then by OpenCL 3.0.
fn warp(id: &Id) -> opencl3::Result<u32> {
    if id.dev_type()? & CL_DEVICE_TYPE_GPU == 0 {
        return Ok(1);
    }
    let extensions = id.extensions()?;
    let told = if extensions.contains("cl_nv_device_attribute_query") {
        id.wrap_size_nv().ok()
    } else if extensions.contains("cl_amd_device_attribute_query") {
        id.wavefront_width_amd().ok()
    } else {
        let multiple = id.preferred_work_group_size_multiple().ok();
        multiple.and_then(|n| u32::try_from(n).ok())
    };
    Ok(told.unwrap_or(1).max(1))
}
