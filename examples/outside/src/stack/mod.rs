//! `stack`: a simulated processor with a stack, and with the execution model `Custom`.
//!
//! It has a machine code of its own (`code.rs`). Kernels reach it as IR, which it translates by itself (`translate.rs`); there is no text, no
//! dialect and no compiler. It has neither blocks nor shared memory, so kernels that use these are refused.

mod code;
mod machine;
mod translate;

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sarek::backend::{
    Arg, Args, Backend, BackendDevice, BackendStream, Codegen, Custom, DeviceInfo, Features,
    Launch, Mem, Origin, Program, RawFault, Slice,
};
use sarek::tag::DeviceKind;
use sarek::{Error, Result, registry};

use machine::{Input, Machine};
use translate::Translate;

const NAME: &str = "stack";

/// Registers the backend.
///
/// # Errors
/// An error if it is registered already.
pub fn register() -> Result<()> {
    registry::register(Arc::new(Stack))
}

struct Stack;

impl Backend for Stack {
    fn name(&self) -> &'static str {
        NAME
    }

    fn count(&self) -> Result<usize, String> {
        Ok(1)
    }

    fn open(&self, _ordinal: usize) -> Result<Arc<dyn BackendDevice>> {
        let features = Features {
            f64: true,
            i64: true,
            storage8: true,
            storage16: true,
            ..Features::default()
        };
        Ok(Arc::new(Processor {
            info: DeviceInfo {
                name: "simulated stack machine".into(),
                kind: DeviceKind::software(),
                features,
                max_block: [1024; 3],
                max_block_threads: 1024,
                max_grid: [u32::MAX; 3],
                memory: 1 << 30,
                max_buffer: 1 << 30,
                ..DeviceInfo::default()
            },
            custom: Custom::new(Translate),
        }))
    }

    fn priority(&self) -> i32 {
        1
    }
}

struct Processor {
    info: DeviceInfo,
    custom: Custom,
}

// SAFETY: each allocation is a vector of its own, and the machine checks each access to it.
unsafe impl BackendDevice for Processor {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn codegen(&self) -> Codegen<'_> {
        Codegen::Custom(&self.custom)
    }

    unsafe fn load(&self, program: &Program<'_>) -> Result<Arc<dyn Any + Send + Sync>> {
        match program {
            Program::Binary {
                artifact,
                origin: Origin::Rendered(kernel),
                ..
            } => {
                let program = code::decode(&artifact.bytes).ok_or_else(|| foreign("program"))?;
                let params = kernel.params.iter().map(|param| param.kind).collect();
                Ok(Arc::new(Machine::new(program, params)))
            }
            Program::Binary { .. } | Program::Direct(_) | Program::Ir(_) => Err(foreign("program")),
        }
    }

    fn alloc(&self, bytes: usize) -> Result<Arc<dyn Mem>> {
        Ok(Arc::new(Memory(Mutex::new(vec![0; bytes]), bytes)))
    }

    fn stream(&self) -> Arc<dyn BackendStream> {
        Arc::new(Queue)
    }
}

struct Memory(Mutex<Vec<u8>>, usize);

// SAFETY: the length is that of the bytes which it owns.
unsafe impl Mem for Memory {
    fn len(&self) -> usize {
        self.1
    }
}

fn bytes(slice: &Slice) -> Result<MutexGuard<'_, Vec<u8>>> {
    let memory: &dyn Any = &*slice.mem;
    let memory: &Memory = memory.downcast_ref().ok_or_else(|| foreign("memory"))?;
    Ok(memory.0.lock().unwrap_or_else(PoisonError::into_inner))
}

fn foreign(what: &str) -> Error {
    Error::Device {
        device: NAME.into(),
        message: format!("was given another backend's {what}"),
    }
}

struct Queue;

// SAFETY: each operation is complete before its call returns.
unsafe impl BackendStream for Queue {
    unsafe fn copy_in(&self, dst: &Slice, src: &[u8]) -> Result<()> {
        bytes(dst)?[dst.offset..][..src.len()].copy_from_slice(src);
        Ok(())
    }

    unsafe fn copy_out(&self, src: &Slice, dst: &mut [u8]) -> Result<()> {
        dst.copy_from_slice(&bytes(src)?[src.offset..][..dst.len()]);
        Ok(())
    }

    unsafe fn launch(&self, launch: &Launch<'_>) -> Result<Option<RawFault>> {
        let machine: Option<&Machine> = launch.program.downcast_ref();
        let (Some(machine), Args::Device(args)) = (machine, &launch.args) else {
            return Err(foreign("launch"));
        };
        let mut inputs = Vec::new();
        for arg in *args {
            inputs.push(match arg {
                Arg::Buffer(slice) => Input::Memory(slice),
                Arg::Scalar(scalar) => Input::Scalar(scalar.as_bytes()),
                Arg::Shared { .. } => return Err(foreign("arguments")),
            });
        }
        machine.run(&inputs, launch.space.extent)
    }

    fn sync(&self) -> Result<()> {
        Ok(()) // all work is already done
    }
}
