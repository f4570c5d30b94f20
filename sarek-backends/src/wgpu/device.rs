//! A wgpu device, and the capture of its errors.
//!
//! wgpu reports errors to scopes, which belong to a thread. Outside a scope, it calls a handler, which panics by
//! default. Every call here that can fail runs in [`Shared::checked`]. Errors that still arrive outside a scope, and
//! the loss of the device, are stored and reported by the next call.

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

use super::launches::Launches;
use super::memory::Memory;
use super::program::{self, Compiler, Renderer};
use super::stream::Stream;
use crate::jit::lock;

/// A wgpu device.
pub(super) struct Device {
    shared: Arc<Shared>,
    info: DeviceInfo,
    instance: wgpu::Instance,
    adapter: Adapter,
    facts: wgpu::AdapterInfo,
    renderer: Renderer,
    compiler: Compiler,
    stream: Arc<Stream>,
}

/// The part of a device that its memory, streams and programs share.
pub(super) struct Shared {
    pub name: String,
    pub device: wgpu::Device,
    pub queue: Queue,
    pub limits: Limits,
    pub launches: Launches,
    /// The driver's compiled kernels, if it supports a cache.
    pub pipelines: Option<Pipelines>,
    lost: Arc<OnceLock<String>>,
    stray: Arc<Mutex<Option<String>>>,
}

/// The driver's pipeline cache, kept on disk.
pub(super) struct Pipelines {
    pub cache: PipelineCache,
    key: String,
    /// The number of bytes on disk.
    saved: AtomicUsize,
}

impl Pipelines {
    fn open(device: &wgpu::Device, facts: &wgpu::AdapterInfo) -> Option<Pipelines> {
        if !device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            return None;
        }
        let adapter = wgpu::util::pipeline_cache_key(facts)?;
        let key = format!("{adapter} {} {}", facts.driver, facts.driver_info);
        // SAFETY: the data are only read.
        let data = unsafe { cache::global() }.get(&key);
        // SAFETY: the data come from `get_data`, and the checksum proves that they are unchanged. If the driver has
        // changed nevertheless, wgpu starts with an empty cache.
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

    /// Saves the cache to disk if it has grown.
    pub fn save(&self) {
        if let Some(data) = self.cache.get_data()
            && self.saved.swap(data.len(), Ordering::Relaxed) != data.len()
        {
            // SAFETY: the key names the adapter and driver that the data belong to.
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

    /// Fails in the destructor of a thread-local variable, once wgpu's own thread-locals are destroyed: wgpu would
    /// panic without them, while it holds locks.
    pub fn check_thread(&self) -> Result<()> {
        if !SEEN.replace(true) {
            // Initializes wgpu's thread-locals first, so that they are destroyed last.
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
        self.check_thread()?;
        let (value, error) = self.scoped(work);
        match error {
            Some(error) => Err(self.error(format!("{call} failed: {error}"))),
            None => self.alive().map(|()| value),
        }
    }

    /// Makes the next call fail with this message.
    pub fn report_later(&self, message: String) {
        lock(&self.stray).get_or_insert(message);
    }

    /// Fails if the device is lost, or has an unreported error.
    pub fn alive(&self) -> Result<()> {
        self.state().map_err(|why| self.error(why))
    }

    /// Like [`Shared::alive`], but returns only the reason.
    pub fn state(&self) -> std::result::Result<(), String> {
        if let Some(reason) = self.lost.get() {
            return Err(format!("the device was lost: {reason}"));
        }
        lock(&self.stray).take().map_or(Ok(()), Err)
    }

    /// Makes wgpu process finished work, after waiting for the submission `wait`, if any.
    pub fn poll(&self, wait: Option<SubmissionIndex>) -> Result<PollStatus> {
        self.check_thread()?;
        self.alive()?;
        let poll = match wait {
            None => PollType::Poll,
            index => PollType::Wait {
                submission_index: index,
                timeout: None,
            },
        };
        // wgpu panics here if the device is lost meanwhile.
        let polled = catch_unwind(AssertUnwindSafe(|| self.device.poll(poll)));
        self.alive()?;
        match polled {
            Ok(Ok(status)) => Ok(status),
            Ok(Err(error)) => Err(self.error(format!("waiting failed: {error}"))),
            Err(_) => Err(self.error("the device was lost while the program waited for it")),
        }
    }

    /// The maximum size of a buffer in bytes.
    pub fn max_buffer(&self) -> u64 {
        let limits = &self.limits;
        limits
            .max_buffer_size
            .min(limits.max_storage_buffer_binding_size)
    }
}

/// A marker that is destroyed with the other thread-locals of its thread.
struct Here;

impl Drop for Here {
    fn drop(&mut self) {}
}

thread_local! {
    /// True if this thread has used wgpu.
    static SEEN: Cell<bool> = const { Cell::new(false) };

    /// Initialized right after wgpu's thread-locals, and so destroyed right before them.
    static HERE: Here = const { Here };
}

/// True if this thread is destroying its thread-locals, so that wgpu's are gone or may be.
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
    .union(wgpu::Features::PIPELINE_CACHE)
    .union(wgpu::Features::IMMEDIATES);

impl Device {
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Submits all queued work.
    pub fn flush(&self) -> Result<()> {
        self.stream.flush().map(|_| ())
    }

    /// The instance and the adapter that the device is of.
    pub fn origin(&self) -> (&wgpu::Instance, &Adapter) {
        (&self.instance, &self.adapter)
    }

    pub fn open(instance: &wgpu::Instance, adapter: &Adapter) -> Result<Arc<Device>> {
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
            launches: Launches::default(),
            lost: Arc::default(),
            stray: Arc::default(),
        });
        shared.listen();
        Ok(Arc::new(Device {
            info: describe(&shared, &facts),
            renderer: Renderer {
                ends_loops: is_software(&facts),
                immediates: match shared
                    .device
                    .features()
                    .contains(wgpu::Features::IMMEDIATES)
                {
                    true => shared.limits.max_immediate_size,
                    false => 0,
                },
            },
            compiler: Compiler::new(shared.clone(), &facts),
            stream: Arc::new(Stream::new(shared.clone())),
            instance: instance.clone(),
            adapter: adapter.clone(),
            facts,
            shared,
        }))
    }
}

impl Shared {
    /// Installs a handler that stores the errors over which wgpu would panic.
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

// SAFETY: memory, programs and streams are wgpu's own, and wgpu supplies the description.
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
        let facts = &self.facts;
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

/// True for Mesa's software device, which leaves a thread's loops after 65535 iterations, counted over all of them.
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
            storage8: true,
            storage16: true,
            f16: features.contains(wgpu::Features::SHADER_F16),
            atomics64: features.contains(wgpu::Features::SHADER_INT64_ATOMIC_ALL_OPS),
            subgroups: features.contains(wgpu::Features::SUBGROUP),
            // WGSL defines subgroup ids only for one-dimensional blocks.
            shaped_subgroups: false,
            // WGSL orders memory at barriers only.
            fences: false,
            // The device would end the grid-stride loop early, too.
            strided: !software,
            // WGSL allows inexact division, and fused multiply-add.
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
        // WGSL's guarantee for a function's variables. Mesa's software device takes seconds to compile arrays of 2 KiB,
        // and minutes for 6 KiB.
        max_private: if software { 4 << 10 } else { 8 << 10 },
        max_private_block: u64::MAX,
        max_buffer: shared.max_buffer(),
        // Excludes the buffers of the fault record and of the scalars.
        max_buffers: (limits.max_storage_buffers_per_shader_stage - 1)
            .min(limits.max_bindings_per_bind_group.saturating_sub(2)),
        warp: match features.contains(wgpu::Features::SUBGROUP) {
            true => facts.subgroup_max_size,
            false => 1,
        },
        subgroup: match features.contains(wgpu::Features::SUBGROUP) {
            true if facts.subgroup_min_size == facts.subgroup_max_size => facts.subgroup_max_size,
            true | false => 0,
        },
        // WebGPU has no such query.
        compute_units: 0,
        memory: 0,
        unified: matches!(
            facts.device_type,
            DeviceType::Cpu | DeviceType::IntegratedGpu
        ),
        alignment: limits.min_storage_buffer_offset_alignment as usize,
        // WebGPU binds no buffer for reading and writing at once.
        slabs: false,
        words: true,
    }
}
