//! A wgpu device and how its errors are caught.
//!
//! wgpu reports errors to scopes, which belong to a thread, or else to a handler whose default is
//! to panic. Every call here that can fail runs in [`Shared::checked`]; what still arrives outside
//! of a scope, and the loss of the device, is kept and told by the next call.

use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use sarek_runtime::backend::{
    BackendDevice, BackendStream, Codegen, DeviceInfo, Features, Mem, Program,
};
use sarek_runtime::tag::DeviceKind;
use sarek_runtime::{Error, Result, cache};
use wgpu::{Adapter, DeviceDescriptor, DeviceType, ErrorFilter, Limits, PollStatus, PollType};
use wgpu::{PipelineCache, PipelineCacheDescriptor, Queue, SubmissionIndex};

use super::memory::Memory;
use super::program::{self, Compiler, Renderer};
use super::stream::Stream;
use crate::jit::lock;

/// A device.
pub(super) struct Device {
    shared: Arc<Shared>,
    info: DeviceInfo,
    adapter: wgpu::AdapterInfo,
    renderer: Renderer,
    compiler: Compiler,
    stream: Arc<Stream>,
}

/// What everything that belongs to a device needs of it.
pub(super) struct Shared {
    pub name: String,
    pub device: wgpu::Device,
    pub queue: Queue,
    pub limits: Limits,
    /// What the driver has made of kernels, where it lets that be kept.
    pub pipelines: Option<Pipelines>,
    lost: Arc<OnceLock<String>>,
    stray: Arc<Mutex<Option<String>>>,
}

/// The driver's cache of pipelines, kept on disk.
pub(super) struct Pipelines {
    pub cache: PipelineCache,
    key: String,
    /// Bytes that are on disk.
    saved: AtomicUsize,
}

impl Pipelines {
    fn open(device: &wgpu::Device, facts: &wgpu::AdapterInfo) -> Option<Pipelines> {
        if !device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            return None;
        }
        let adapter = wgpu::util::pipeline_cache_key(facts)?;
        let key = format!("{adapter} {} {}", facts.driver, facts.driver_info);
        // SAFETY: it is read.
        let data = unsafe { cache::global() }.get(&key);
        // SAFETY: the data come from `get_data`, and the checksum says that they are as they were written; should the
        // driver have changed all the same, wgpu begins anew.
        let cache = unsafe {
            device.create_pipeline_cache(&PipelineCacheDescriptor {
                label: None,
                data: data.as_deref(),
                fallback: true,
            })
        };
        let saved = AtomicUsize::new(data.map_or(0, |data| data.len()));
        Some(Pipelines { cache, key, saved })
    }

    /// Keeps what is new.
    pub fn save(&self) {
        if let Some(data) = self.cache.get_data()
            && self.saved.swap(data.len(), Ordering::Relaxed) != data.len()
        {
            // SAFETY: the key names the adapter and its driver, whose data these are.
            unsafe { cache::global() }.put(&self.key, &data);
        }
    }
}

impl Shared {
    /// An error of this device.
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error::Device {
            device: self.name.clone(),
            message: message.into(),
        }
    }

    /// The result of `work`, with the first error that it caused on this thread.
    pub fn scoped<T>(&self, work: impl FnOnce() -> T) -> (T, Option<wgpu::Error>) {
        let memory = self.device.push_error_scope(ErrorFilter::OutOfMemory);
        let internal = self.device.push_error_scope(ErrorFilter::Internal);
        let validation = self.device.push_error_scope(ErrorFilter::Validation);
        let value = work();
        // The futures are ready: only browsers answer later.
        let validation = pollster::block_on(validation.pop());
        let internal = pollster::block_on(internal.pop());
        let memory = pollster::block_on(memory.pop());
        (value, memory.or(internal).or(validation))
    }

    /// An error in the destructor of a thread-local variable, once wgpu's own such variables are gone: it panics without them, while
    /// it holds locks.
    pub fn here(&self) -> Result<()> {
        if !SEEN.replace(true) {
            // Makes wgpu's variables first, so that they are destroyed last.
            let poll = || self.device.poll(PollType::Poll);
            let _ = catch_unwind(AssertUnwindSafe(poll));
        }
        match thread_ends() {
            false => Ok(()),
            true => Err(Error::ThreadEnds {
                device: self.name.clone(),
            }),
        }
    }

    /// The result of `work`, or the error that it caused.
    pub fn checked<T>(&self, call: &str, work: impl FnOnce() -> T) -> Result<T> {
        self.here()?;
        let (value, error) = self.scoped(work);
        match error {
            Some(error) => Err(self.error(format!("{call} failed: {error}"))),
            None => self.alive().map(|()| value),
        }
    }

    /// Has the device been lost, or failed where nobody waited for it?
    pub fn alive(&self) -> Result<()> {
        self.state().map_err(|why| self.error(why))
    }

    /// Like [`Shared::alive`], with nothing but the reason.
    pub fn state(&self) -> std::result::Result<(), String> {
        if let Some(reason) = self.lost.get() {
            return Err(format!("the device was lost: {reason}"));
        }
        lock(&self.stray).take().map_or(Ok(()), Err)
    }

    /// Lets finished work be noticed, after waiting for a submission if one is given.
    pub fn poll(&self, wait: Option<SubmissionIndex>) -> Result<PollStatus> {
        self.here()?;
        self.alive()?;
        let poll = match wait {
            None => PollType::Poll,
            index => PollType::Wait {
                submission_index: index,
                timeout: None,
            },
        };
        // wgpu panics in here when the device is lost meanwhile.
        let polled = catch_unwind(AssertUnwindSafe(|| self.device.poll(poll)));
        self.alive()?;
        match polled {
            Ok(Ok(status)) => Ok(status),
            Ok(Err(error)) => Err(self.error(format!("waiting failed: {error}"))),
            Err(_) => Err(self.error("the device was lost while it was waited for")),
        }
    }

    /// The most bytes of one buffer.
    pub fn max_buffer(&self) -> u64 {
        let limits = &self.limits;
        limits
            .max_buffer_size
            .min(limits.max_storage_buffer_binding_size)
    }
}

/// Is there to be destroyed with the other variables of a thread.
struct Here;

impl Drop for Here {
    fn drop(&mut self) {}
}

thread_local! {
    /// Has this thread used wgpu?
    static SEEN: Cell<bool> = const { Cell::new(false) };

    /// Made right behind the variables of wgpu, and so destroyed right before them.
    static HERE: Here = const { Here };
}

/// Are the variables of this thread being destroyed, and wgpu's among those that are or may be gone?
pub(super) fn thread_ends() -> bool {
    HERE.try_with(|_| ()).is_err()
}

/// The features that kernels or their texts may use.
const USED: wgpu::Features = wgpu::Features::SHADER_F64
    .union(wgpu::Features::SHADER_INT64)
    .union(wgpu::Features::SHADER_F16)
    .union(wgpu::Features::SHADER_I16)
    .union(wgpu::Features::SHADER_INT64_ATOMIC_ALL_OPS)
    .union(wgpu::Features::SUBGROUP)
    .union(wgpu::Features::TIMESTAMP_QUERY)
    .union(wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS)
    .union(wgpu::Features::PIPELINE_CACHE);

impl Device {
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub fn open(adapter: &Adapter) -> Result<Arc<Device>> {
        let facts = adapter.get_info();
        let limits = adapter.limits();
        let request = adapter.request_device(&DeviceDescriptor {
            label: Some("sarek"),
            required_features: adapter.features() & USED,
            required_limits: limits.clone(),
            ..DeviceDescriptor::default()
        });
        let (device, queue) = pollster::block_on(request).map_err(|error| Error::Device {
            device: facts.name.clone(),
            message: error.to_string(),
        })?;
        let shared = Arc::new(Shared {
            name: facts.name.clone(),
            pipelines: Pipelines::open(&device, &facts),
            device,
            queue,
            limits,
            lost: Arc::default(),
            stray: Arc::default(),
        });
        shared.listen();
        Ok(Arc::new(Device {
            info: describe(&shared, &facts),
            renderer: Renderer {
                ends_loops: is_software(&facts),
            },
            compiler: Compiler::new(shared.clone(), &facts),
            stream: Arc::new(Stream::new(shared.clone())),
            adapter: facts,
            shared,
        }))
    }
}

impl Shared {
    /// Keeps what wgpu would panic about.
    fn listen(&self) {
        let stray = self.stray.clone();
        self.device
            .on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
                lock(&stray).get_or_insert(error.to_string());
            }));
        let lost = self.lost.clone();
        self.device.set_device_lost_callback(move |_, message| {
            lost.get_or_init(|| message);
        });
    }
}

// SAFETY: memory, programs and streams are wgpu's, which is asked for the description.
unsafe impl BackendDevice for Device {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn codegen(&self) -> Codegen<'_> {
        Codegen::Jit(&self.renderer, &self.compiler)
    }

    unsafe fn load(&self, program: &Program<'_>) -> Result<Arc<dyn Any + Send + Sync>> {
        Ok(Arc::new(program::load(&self.shared, program)?))
    }

    fn fixes_shared(&self) -> bool {
        true
    }

    fn alloc(&self, bytes: usize) -> Result<Arc<dyn Mem>> {
        Ok(Arc::new(Memory::new(&self.shared, bytes)?))
    }

    fn stream(&self) -> Arc<dyn BackendStream> {
        self.stream.clone()
    }

    fn debug_info(&self) -> BTreeMap<String, String> {
        let facts = &self.adapter;
        BTreeMap::from([
            ("interface".into(), facts.backend.to_string()),
            ("type".into(), format!("{:?}", facts.device_type)),
            (
                "driver".into(),
                format!("{} {}", facts.driver, facts.driver_info),
            ),
            (
                "PCI ids".into(),
                format!("{:04x}:{:04x}", facts.vendor, facts.device),
            ),
            ("features".into(), self.shared.device.features().to_string()),
        ])
    }
}

/// Is it Mesa's software device, which leaves loops after 65535 iterations, all of a thread's loops together?
fn is_software(facts: &wgpu::AdapterInfo) -> bool {
    facts.device_type == DeviceType::Cpu
}

fn describe(shared: &Shared, facts: &wgpu::AdapterInfo) -> DeviceInfo {
    let limits = &shared.limits;
    let features = shared.device.features();
    let software = is_software(facts);
    DeviceInfo {
        name: shared.name.clone(),
        kind: match software {
            true => DeviceKind::software(),
            false => DeviceKind::gpu(),
        },
        priority: software.then_some(40),
        host_memory: false,
        features: Features {
            f64: features.contains(wgpu::Features::SHADER_F64),
            // WGSL has no elementary functions of f64.
            f64_math: false,
            i64: features.contains(wgpu::Features::SHADER_INT64),
            // WGSL stores no elements of 8 and 16 bits.
            storage8: false,
            storage16: false,
            f16: features.contains(wgpu::Features::SHADER_F16),
            atomics64: features.contains(wgpu::Features::SHADER_INT64_ATOMIC_ALL_OPS),
            subgroups: features.contains(wgpu::Features::SUBGROUP),
            // WGSL's ids of subgroups and of the threads in them are for blocks of one dimension.
            shaped_subgroups: false,
            // WGSL orders memory at barriers alone.
            fences: false,
            // The loop over the blocks of a thread would be one that the device ends.
            strided: !software,
            // WGSL leaves division inexact, and products and sums to be joined.
            strict: false,
        },
        max_block: [
            limits.max_compute_workgroup_size_x,
            limits.max_compute_workgroup_size_y,
            limits.max_compute_workgroup_size_z,
        ],
        max_block_threads: limits.max_compute_invocations_per_workgroup,
        max_grid: [limits.max_compute_workgroups_per_dimension; 3],
        max_shared: limits.max_compute_workgroup_storage_size.into(),
        // What WGSL promises of a function's variables. Mesa's software device compiles arrays of 2 KiB in seconds, and those of 6 KiB
        // in minutes.
        max_private: if software { 4 << 10 } else { 8 << 10 },
        max_private_block: u64::MAX,
        max_buffer: shared.max_buffer(),
        // Without those of the fault record and of the scalars.
        max_buffers: (limits.max_storage_buffers_per_shader_stage - 1)
            .min(limits.max_bindings_per_bind_group.saturating_sub(2)),
        warp: match features.contains(wgpu::Features::SUBGROUP) {
            true => facts.subgroup_max_size,
            false => 1,
        },
        // WebGPU does not tell.
        compute_units: 0,
        memory: 0,
        unified: matches!(
            facts.device_type,
            DeviceType::Cpu | DeviceType::IntegratedGpu
        ),
        alignment: limits.min_storage_buffer_offset_alignment as usize,
        // WebGPU binds no buffer for reading and writing at once.
        slabs: false,
    }
}
