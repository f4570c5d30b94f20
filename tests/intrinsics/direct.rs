//! A backend of another crate that runs compiled bodies, with public items only.

use std::any::Any;
use std::sync::Arc;

use sarek::backend::{
    Args, Backend, BackendDevice, BackendStream, Codegen, DeviceInfo, Direct, Launch, Mem, Program,
    RawFault, Slice,
};
use sarek::{Device, Error, Result, registry};

/// The device of this backend.
pub fn device() -> Result<Device> {
    match registry::register(Arc::new(OneByOne)) {
        Ok(()) | Err(Error::DuplicateBackend(_)) => Device::of("onebyone"),
        Err(error) => Err(error),
    }
}

struct OneByOne;

impl Backend for OneByOne {
    fn name(&self) -> &'static str {
        "onebyone"
    }

    fn count(&self) -> Result<usize, String> {
        Ok(1)
    }

    fn open(&self, _ordinal: usize) -> Result<Arc<dyn BackendDevice>> {
        Ok(Arc::new(Processor(DeviceInfo {
            name: "one block after the other".into(),
            host_memory: true,
            ..DeviceInfo::default()
        })))
    }

    fn priority(&self) -> i32 {
        1
    }
}

struct Processor(DeviceInfo);

fn unsupported(what: &str) -> Error {
    Error::Unsupported {
        backend: "onebyone".into(),
        what: what.into(),
    }
}

// SAFETY: bodies are called on the arguments of a launch and nothing else; it allocates no memory.
unsafe impl BackendDevice for Processor {
    fn info(&self) -> &DeviceInfo {
        &self.0
    }

    fn codegen(&self) -> Codegen<'_> {
        Codegen::Direct
    }

    unsafe fn load(&self, program: &Program<'_>) -> Result<Arc<dyn Any + Send + Sync>> {
        match program {
            Program::Direct(direct) => Ok(Arc::new(*direct)),
            Program::Ir(_) | Program::Binary { .. } => Err(unsupported("other programs")),
        }
    }

    fn alloc(&self, _bytes: usize) -> Result<Arc<dyn Mem>> {
        Err(unsupported("memory of its own"))
    }

    fn stream(&self) -> Arc<dyn BackendStream> {
        Arc::new(Queue)
    }
}

struct Queue;

// SAFETY: the work has ended when a call returns, and there are no copies.
unsafe impl BackendStream for Queue {
    unsafe fn copy_in(&self, _dst: &Slice, _src: &[u8]) -> Result<()> {
        Err(unsupported("copies"))
    }

    unsafe fn copy_out(&self, _src: &Slice, _dst: &mut [u8]) -> Result<()> {
        Err(unsupported("copies"))
    }

    unsafe fn launch(&self, launch: &Launch<'_>) -> Result<Option<RawFault>> {
        let Some(direct) = launch.program.downcast_ref::<Direct>() else {
            return Err(unsupported("programs of others"));
        };
        let Args::Host { args, checked } = launch.args else {
            return Err(unsupported("arguments in its own memory"));
        };
        let blocks = 0..launch.space.blocks();
        // SAFETY: the framework has checked the arguments against the kernel.
        let outcome = unsafe { (direct.run)(args, &launch.space, blocks, checked) };
        Ok(outcome.err())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}
