use std::any::Any;
use std::sync::Arc;

use sarek_runtime::backend::{
    BackendDevice, BackendStream, Codegen, DeviceInfo, Features, Mem, Program,
};
use sarek_runtime::host::SUBGROUP;
use sarek_runtime::tag::DeviceKind;
use sarek_runtime::{Error, Result};

use super::NAME;
use super::memory::Memory;
use super::program::Interpreted;
use super::stream::Stream;

/// The interpreter's only device.
pub struct Interpreter {
    info: DeviceInfo,
    stream: Arc<Stream>,
}

impl Interpreter {
    pub(super) fn new() -> Interpreter {
        let features = Features {
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
            strided: false,
            // x87 registers round twice.
            strict: cfg!(any(not(target_arch = "x86"), target_feature = "sse2")),
        };
        Interpreter {
            info: DeviceInfo {
                name: "IR interpreter".into(),
                kind: DeviceKind::cpu(),
                host_memory: true,
                features,
                max_block: [1024; 3],
                max_block_threads: 1024,
                unified: true,
                subgroup: SUBGROUP as u32,
                // A value takes 16 bytes, regardless of its type.
                max_private: 16 << 20,
                max_private_block: 64 << 20,
                ..DeviceInfo::default()
            },
            stream: Arc::new(Stream),
        }
    }
}

// SAFETY: the interpreter performs all checks of a kernel; memory is a vector of its own.
unsafe impl BackendDevice for Interpreter {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn codegen(&self) -> Codegen<'_> {
        Codegen::Interpret
    }

    unsafe fn load(&self, program: &Program<'_>) -> Result<Arc<dyn Any + Send + Sync>> {
        match program {
            Program::Ir(kernel) => Ok(Arc::new(Interpreted::new(Arc::clone(kernel))?)),
            Program::Direct(_) | Program::Binary { .. } => Err(Error::Unsupported {
                backend: NAME.into(),
                what: "programs other than IR".into(),
            }),
        }
    }

    fn alloc(&self, bytes: usize) -> Result<Arc<dyn Mem>> {
        Ok(Arc::new(Memory::new(bytes)?))
    }

    fn stream(&self) -> Arc<dyn BackendStream> {
        self.stream.clone()
    }
}
