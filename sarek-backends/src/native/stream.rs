use sarek_runtime::backend::{Args, BackendStream, Launch, Slice};
use sarek_runtime::claims::Schedule;
use sarek_runtime::host::RawFault;
use sarek_runtime::{Error, Result};

use super::memory::HostMemory;
use super::program::{self, Compiled, Stop};

/// The only queue. Every call is synchronous.
pub struct HostStream;

// SAFETY: every call finishes its work before it returns.
unsafe impl BackendStream for HostStream {
    unsafe fn copy_in(&self, dst: &Slice, src: &[u8]) -> Result<()> {
        memory(dst)?.lock()[dst.offset..][..src.len()].copy_from_slice(src);
        Ok(())
    }

    unsafe fn copy_out(&self, src: &Slice, dst: &mut [u8]) -> Result<()> {
        dst.copy_from_slice(&memory(src)?.lock()[src.offset..][..dst.len()]);
        Ok(())
    }

    unsafe fn launch(&self, launch: &Launch<'_>) -> Result<Option<RawFault>> {
        let compiled = launch.program.downcast_ref::<Compiled>();
        let (Some(compiled), Args::Host { args, checked }) = (compiled, &launch.args) else {
            return Err(foreign("program"));
        };
        let Some(schedule) = Schedule::of(launch.schedule) else {
            return Err(foreign("schedule"));
        };
        // SAFETY: the runtime passes arguments that match the kernel, borrowed for this call, and `checked` according
        // to its proof of the launch.
        match unsafe { program::run(compiled.0, args, &launch.space, *checked, schedule) } {
            Ok(()) => Ok(None),
            Err(Stop::Fault(fault)) => Ok(Some(fault)),
            Err(Stop::Panic(message)) => Err(Error::panicked(launch.kernel, message)),
            Err(Stop::Stack(error)) => Err(Error::Launch {
                kernel: launch.kernel.to_owned(),
                problem: format!(
                    "cannot start a thread with a stack for its local arrays: {error}"
                ),
            }),
        }
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}

fn memory(slice: &Slice) -> Result<&HostMemory> {
    let any: &dyn std::any::Any = &*slice.mem;
    any.downcast_ref::<HostMemory>()
        .ok_or_else(|| foreign("memory"))
}

fn foreign(what: &str) -> Error {
    Error::Unsupported {
        backend: "native".into(),
        what: format!("{what} of another backend"),
    }
}
