//! The reference device, which runs kernels as rustc compiles them.
//!
//! None of sarek's lowering, passes and writers is involved, so this device is the oracle to which
//! tests compare every other device. It runs one thread after another on the calling thread. Where
//! other devices report a fault, the function panics. The fault then has the panic's message and, from
//! a panic hook, its source location.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use sarek_runtime::backend::{
    Args, Backend, BackendDevice, BackendStream, Codegen, DeviceInfo, Features, Launch, Mem,
    Program, Slice,
};
use sarek_runtime::host::{Direct, RawFault, SUBGROUP, note_panics, place_of, stack};
use sarek_runtime::{Device, Error, Result, registry};

const NAME: &str = "reference";

/// Returns the reference device. Its backend is registered at the first call, and has the lowest
/// priority.
pub fn reference() -> Result<Device> {
    note_panics();
    match registry::register(Arc::new(Reference)) {
        Ok(()) | Err(Error::DuplicateBackend(_)) => Device::of(NAME),
        Err(error) => Err(error),
    }
}

struct Reference;

impl Backend for Reference {
    fn name(&self) -> &'static str {
        NAME
    }

    fn count(&self) -> Result<usize, String> {
        Ok(1)
    }

    fn open(&self, _ordinal: usize) -> Result<Arc<dyn BackendDevice>> {
        Ok(Arc::new(Rustc {
            info: DeviceInfo {
                name: "the user's function".into(),
                host_memory: true,
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
                    strict: true,
                },
                unified: true,
                subgroup: SUBGROUP as u32,
                max_private: stack::MOST,
                max_private_block: stack::MOST_OF_BLOCK,
                ..DeviceInfo::default()
            },
        }))
    }

    fn priority(&self) -> i32 {
        i32::MIN
    }
}

struct Rustc {
    info: DeviceInfo,
}

// SAFETY: bodies access only the arguments of a launch, and the device allocates no memory.
unsafe impl BackendDevice for Rustc {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn codegen(&self) -> Codegen<'_> {
        Codegen::Direct
    }

    unsafe fn load(&self, program: &Program<'_>) -> Result<Arc<dyn Any + Send + Sync>> {
        match program {
            Program::Direct(direct) => Ok(Arc::new(*direct)),
            Program::Ir(_) | Program::Binary { .. } => {
                Err(unsupported("programs other than compiled bodies"))
            }
        }
    }

    fn alloc(&self, _bytes: usize) -> Result<Arc<dyn Mem>> {
        Err(unsupported("memory of its own"))
    }

    fn stream(&self) -> Arc<dyn BackendStream> {
        Arc::new(Calls)
    }
}

/// A stream whose work is done before each call returns.
struct Calls;

// SAFETY: work is finished when a call returns, and there are no copies.
unsafe impl BackendStream for Calls {
    unsafe fn copy_in(&self, _dst: &Slice, _src: &[u8]) -> Result<()> {
        Err(unsupported("memory of its own"))
    }

    unsafe fn copy_out(&self, _src: &Slice, _dst: &mut [u8]) -> Result<()> {
        Err(unsupported("memory of its own"))
    }

    unsafe fn launch(&self, launch: &Launch<'_>) -> Result<Option<RawFault>> {
        let direct = launch.program.downcast_ref::<Direct>();
        let (Some(direct), Args::Host { args, .. }) = (direct, &launch.args) else {
            return Err(unsupported("programs of another backend"));
        };
        // SAFETY: the runtime passes arguments that match the kernel, borrowed for this call.
        let run = || unsafe { (direct.reference)(args, &launch.space) };
        // After a panic the runtime marks the written vectors as failed.
        let caught = || {
            catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
                let (panic, place) = place_of(panic);
                (panic_text(&*panic).to_owned(), place)
            })
        };
        let ran = match direct.reference_stack() {
            None => caught(),
            Some(size) => std::thread::scope(|scope| {
                let failed = |message| Err((message, None));
                match stack::spawn(scope, size, caught) {
                    Ok(thread) => thread
                        .join()
                        .unwrap_or_else(|panic| failed(panic_text(&*panic).to_owned())),
                    Err(error) => failed(error.to_string()),
                }
            }),
        };
        match ran {
            Ok(()) => Ok(None),
            Err((message, Some(place))) => Err(place.into_error(launch.kernel, message)),
            Err((message, None)) => Err(Error::panicked(launch.kernel, message)),
        }
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}

/// The message of a panic.
pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a value that is no text")
}

fn unsupported(what: &str) -> Error {
    Error::Unsupported {
        backend: NAME.into(),
        what: what.into(),
    }
}
