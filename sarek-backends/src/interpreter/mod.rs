//! The interpreter: executes the IR on the host, one thread of the launch after the other, with all checks.
//!
//! It is available on every machine, slow, and the reference semantics of kernels ([`sarek_ir::interp`]). Threads run
//! in order, x fastest within a block, and blocks in order, so that the reported fault is deterministic. Integers wrap
//! silently. For a native block it runs the fallback.
//!
//! `SAREK_SANITIZE` in the environment makes it a sanitizer ([`sarek_runtime::settings`]).

mod device;
mod memory;
mod program;
mod stream;

use std::sync::Arc;

use sarek_runtime::backend::{Backend, BackendDevice};
use sarek_runtime::{Error, Result};

pub use device::Interpreter;

/// The name by which users select it.
pub const NAME: &str = "interpreter";

/// The backend, with one device.
#[derive(Clone, Copy, Debug, Default)]
pub struct InterpreterBackend;

impl Backend for InterpreterBackend {
    fn name(&self) -> &'static str {
        NAME
    }

    fn count(&self) -> Result<usize, String> {
        Ok(1)
    }

    fn open(&self, ordinal: usize) -> Result<Arc<dyn BackendDevice>> {
        if ordinal > 0 {
            return Err(Error::NoBackend {
                backend: NAME.into(),
                reason: format!("it has one device, so there is no device {ordinal}"),
            });
        }
        Ok(Arc::new(Interpreter::new()))
    }

    fn priority(&self) -> i32 {
        10
    }
}

#[cfg(test)]
mod tests;
