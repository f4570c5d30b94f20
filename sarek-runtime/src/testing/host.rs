//! A host backend that calls compiled bodies on the launching thread.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::host::{Direct, RawFault};
use crate::plugin::backend::*;
use crate::{Error, Result};

pub(crate) struct HostBackend {
    pub(crate) name: &'static str,
    pub(crate) priority: i32,
    pub(crate) opened: AtomicUsize,
}

impl HostBackend {
    pub(crate) fn new(name: &'static str, priority: i32) -> Arc<HostBackend> {
        Arc::new(HostBackend {
            name,
            priority,
            opened: AtomicUsize::new(0),
        })
    }
}

impl Backend for HostBackend {
    fn name(&self) -> &'static str {
        self.name
    }

    fn count(&self) -> Result<usize, String> {
        Ok(1)
    }

    fn open(&self, _ordinal: usize) -> Result<Arc<dyn BackendDevice>> {
        self.opened.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::new(HostDevice {
            info: info("host", true),
        }))
    }

    fn priority(&self) -> i32 {
        self.priority
    }
}

pub(crate) fn info(name: &str, host_memory: bool) -> DeviceInfo {
    DeviceInfo {
        name: name.to_owned(),
        host_memory,
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
        max_block: [1024; 3],
        max_block_threads: 1024,
        max_buffer: 1 << 40,
        max_buffers: 30,
        subgroup: 32,
        ..DeviceInfo::default()
    }
}

struct HostDevice {
    info: DeviceInfo,
}

// SAFETY: bodies are called on the arguments of a launch and nothing else; it allocates no memory.
unsafe impl BackendDevice for HostDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn codegen(&self) -> Codegen<'_> {
        Codegen::Direct
    }

    unsafe fn load(&self, program: &Program<'_>) -> Result<Arc<dyn Any + Send + Sync>> {
        match program {
            Program::Direct(direct) => Ok(Arc::new(*direct)),
            Program::Ir(_) | Program::Binary { .. } => panic!("not a compiled body"),
        }
    }

    fn alloc(&self, _bytes: usize) -> Result<Arc<dyn Mem>> {
        panic!("a host device is asked for memory");
    }

    fn stream(&self) -> Arc<dyn BackendStream> {
        Arc::new(HostStream)
    }
}

struct HostStream;

// SAFETY: the work has ended when a call returns, and there are no copies.
unsafe impl BackendStream for HostStream {
    unsafe fn copy_in(&self, _dst: &Slice, _src: &[u8]) -> Result<()> {
        panic!("a copy to a host device");
    }

    unsafe fn copy_out(&self, _src: &Slice, _dst: &mut [u8]) -> Result<()> {
        panic!("a copy from a host device");
    }

    unsafe fn launch(&self, launch: &Launch<'_>) -> Result<Option<RawFault>> {
        let Some(direct) = launch.program.downcast_ref::<Direct>() else {
            panic!("another backend's program");
        };
        let Args::Host { args, checked } = launch.args else {
            panic!("device arguments on the host");
        };
        if launch.kernel == "broken" {
            return Err(Error::Device {
                device: "host".into(),
                message: "it broke".into(),
            });
        }
        // SAFETY: the framework has checked the arguments against the kernel.
        let result =
            unsafe { (direct.run)(args, &launch.space, 0..launch.space.blocks(), checked) };
        Ok(result.err())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}
