use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use sarek_runtime::backend::{
    BackendDevice, BackendStream, Codegen, DeviceInfo, Features, Mem, Program,
};
use sarek_runtime::host::{SUBGROUP, isa, stack};
use sarek_runtime::tag::DeviceKind;
use sarek_runtime::{Error, Result};

use super::memory::HostMemory;
use super::pool::Pool;
use super::program;
use super::stream::HostStream;

/// The processor on which this program runs.
pub struct Processor {
    info: DeviceInfo,
    stream: Arc<HostStream>,
}

impl Processor {
    /// Describes the processor without starting a thread.
    pub fn new() -> Processor {
        let threads = Pool::global().threads();
        let info = DeviceInfo {
            name: format!("{} threads, {}", threads, isa().name()),
            kind: DeviceKind::cpu(),
            host_memory: true,
            compute_units: threads as u32,
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
                strided: false,
                // x87 registers round twice.
                strict: cfg!(any(not(target_arch = "x86"), target_feature = "sse2")),
            },
            unified: true,
            subgroup: SUBGROUP as u32,
            max_private: stack::MOST,
            max_private_block: stack::MOST_OF_BLOCK,
            ..DeviceInfo::default()
        };
        let stream = Arc::new(HostStream);
        Processor { info, stream }
    }
}

// SAFETY: bodies only access the arguments of a launch; memory is a vector of its own.
unsafe impl BackendDevice for Processor {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn codegen(&self) -> Codegen<'_> {
        Codegen::Direct
    }

    unsafe fn load(&self, program: &Program<'_>) -> Result<Arc<dyn Any + Send + Sync>> {
        match program {
            Program::Direct(direct) => Ok(Arc::new(program::Compiled(*direct))),
            Program::Ir(_) | Program::Binary { .. } => Err(Error::Unsupported {
                backend: "native".into(),
                what: "programs other than compiled bodies".into(),
            }),
        }
    }

    fn alloc(&self, bytes: usize) -> Result<Arc<dyn Mem>> {
        Ok(Arc::new(HostMemory::new(bytes)?))
    }

    fn stream(&self) -> Arc<dyn BackendStream> {
        self.stream.clone()
    }

    fn debug_info(&self) -> BTreeMap<String, String> {
        let threads = Pool::global().threads().to_string();
        [
            ("threads".into(), threads),
            ("isa".into(), isa().name().into()),
        ]
        .into()
    }
}
