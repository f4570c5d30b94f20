//! The native backend: kernels are compiled Rust, run in place on host memory by a thread pool.

mod deep;
mod device;
mod memory;
mod pool;
mod program;
mod stream;

use std::sync::Arc;

use sarek_runtime::Result;
use sarek_runtime::backend::{Backend, BackendDevice};

use device::Processor;

/// The backend `native`, with one device.
pub struct Native;

impl Backend for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn count(&self) -> Result<usize, String> {
        Ok(1)
    }

    fn open(&self, _ordinal: usize) -> Result<Arc<dyn BackendDevice>> {
        Ok(Arc::new(Processor::new()))
    }

    fn priority(&self) -> i32 {
        50
    }
}
