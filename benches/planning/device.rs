//! A device like a large GPU whose launches do nothing, so that a launch costs what the host does for it. NVRTC compiles its
//! texts if it is there.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use sarek::Result;
use sarek::backend::{
    Artifact, Backend, BackendDevice, BackendStream, Codegen, Compiler, DeviceInfo, Features,
    Launch, Mem, Parts, Program, RawFault, Renderer, Slice,
};
use sarek::ir::Kernel;
use sarek::ir::write::{self, Cuda, Source, Variant};
use sarek::tag::DeviceKind;
use sarek_backends::cuda::nvrtc;

pub const NAME: &str = "idle";

/// The architecture that NVRTC compiles for.
pub const ARCHITECTURE: &str = "sm_90";

/// The nanoseconds that NVRTC took so far.
static COMPILING: AtomicU64 = AtomicU64::new(0);

/// True if NVRTC compiles the texts.
pub static COMPILES: OnceLock<bool> = OnceLock::new();

/// The time that NVRTC took so far.
pub fn compiling() -> Duration {
    Duration::from_nanos(COMPILING.load(Ordering::Relaxed))
}

struct Idle;

#[linkme::distributed_slice(sarek::registry::LINKED)]
static LINKED: fn() -> Vec<Arc<dyn Backend>> = || vec![Arc::new(Idle)];

impl Backend for Idle {
    fn name(&self) -> &'static str {
        NAME
    }

    fn count(&self) -> Result<usize, String> {
        Ok(1)
    }

    fn open(&self, _ordinal: usize) -> Result<Arc<dyn BackendDevice>> {
        Ok(Arc::new(Gpu(DeviceInfo {
            name: "idle GPU".into(),
            kind: DeviceKind::gpu(),
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
                ..Features::default()
            },
            max_block: [1024, 1024, 64],
            max_block_threads: 1024,
            max_grid: [u32::MAX >> 1, 65535, 65535],
            max_shared: 227 << 10,
            warp: 32,
            subgroup: 32,
            compute_units: 132,
            memory: 80 << 30,
            slabs: true,
            ..DeviceInfo::default()
        })))
    }

    fn priority(&self) -> i32 {
        1
    }
}

struct Text;

// SAFETY: this is the framework's writer.
unsafe impl Renderer for Text {
    fn target(&self) -> &'static str {
        "cuda"
    }

    fn render(&self, kernel: &Kernel, variant: &Variant) -> Result<Source> {
        write::render(kernel, &Cuda, variant).map_err(|lacking| sarek::Error::Unsupported {
            backend: NAME.into(),
            what: lacking.to_string(),
        })
    }
}

// SAFETY: artifacts are never run.
unsafe impl Compiler for Text {
    fn fingerprint(&self) -> String {
        NAME.into()
    }

    fn keeps_artifacts(&self) -> bool {
        false
    }

    unsafe fn compile(&self, kernel: &str, source: &Source, _parts: &Parts) -> Result<Artifact> {
        if COMPILES.get() != Some(&true) {
            return Ok(Artifact::new(source.text.as_bytes()));
        }
        let begun = Instant::now();
        let artifact = nvrtc::compile(kernel, &source.text, ARCHITECTURE);
        let took = begun.elapsed().as_nanos() as u64;
        COMPILING.fetch_add(took, Ordering::Relaxed);
        artifact
    }
}

struct Gpu(DeviceInfo);

// SAFETY: no kernel runs, and no memory is accessed.
unsafe impl BackendDevice for Gpu {
    fn info(&self) -> &DeviceInfo {
        &self.0
    }

    fn codegen(&self) -> Codegen<'_> {
        Codegen::Jit(&Text, &Text)
    }

    unsafe fn load(&self, _program: &Program<'_>) -> Result<Arc<dyn Any + Send + Sync>> {
        Ok(Arc::new(()))
    }

    fn alloc(&self, bytes: usize) -> Result<Arc<dyn Mem>> {
        Ok(Arc::new(Memory(bytes)))
    }

    fn stream(&self) -> Arc<dyn BackendStream> {
        Arc::new(Queue)
    }
}

struct Memory(usize);

// SAFETY: there are no bytes to access.
unsafe impl Mem for Memory {
    fn len(&self) -> usize {
        self.0
    }
}

struct Queue;

// SAFETY: each operation is complete before its call returns.
unsafe impl BackendStream for Queue {
    unsafe fn copy_in(&self, _dst: &Slice, _src: &[u8]) -> Result<()> {
        Ok(())
    }

    unsafe fn copy_out(&self, _src: &Slice, dst: &mut [u8]) -> Result<()> {
        dst.fill(0);
        Ok(())
    }

    unsafe fn launch(&self, _launch: &Launch<'_>) -> Result<Option<RawFault>> {
        Ok(None)
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}
