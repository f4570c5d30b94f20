use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use sarek_runtime::backend::{Args, BackendStream, Launch, Slice};
use sarek_runtime::host::{RawFault, panic_message};
use sarek_runtime::{Error, Result, settings};

use super::NAME;
use super::memory::Memory;
use super::program::Interpreted;

/// The only stream. Every call is synchronous.
pub(super) struct Stream;

fn range(slice: &Slice) -> Range<usize> {
    slice.offset..slice.offset + slice.len
}

// SAFETY: every call finishes its work before it returns.
unsafe impl BackendStream for Stream {
    unsafe fn copy_in(&self, dst: &Slice, src: &[u8]) -> Result<()> {
        Memory::of(dst)?.bytes()[range(dst)].copy_from_slice(src);
        Ok(())
    }

    unsafe fn copy_out(&self, src: &Slice, dst: &mut [u8]) -> Result<()> {
        dst.copy_from_slice(&Memory::of(src)?.bytes()[range(src)]);
        Ok(())
    }

    unsafe fn launch(&self, launch: &Launch<'_>) -> Result<Option<RawFault>> {
        let problem = |problem: &str| Error::Launch {
            kernel: launch.kernel.into(),
            problem: problem.into(),
        };
        let program: &dyn Any = launch.program;
        let program: &Interpreted = program
            .downcast_ref()
            .ok_or_else(|| problem(&format!("the program was not loaded by the {NAME}")))?;
        match launch.args {
            Args::Host { args, checked: _ } => {
                // A host function of an intrinsic may panic.
                let run = || program.run(args, &launch.space, settings::sanitize());
                catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
                    Err(Error::panicked(launch.kernel, panic_message(&*payload)))
                })
            }
            Args::Device(_) => Err(problem(&format!("the {NAME} takes host arguments"))),
        }
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    unsafe fn zero(&self, dst: &Slice) -> Result<()> {
        Memory::of(dst)?.bytes()[range(dst)].fill(0);
        Ok(())
    }

    unsafe fn copy(&self, dst: &Slice, src: &Slice) -> Result<bool> {
        // Locks one memory at a time, since both may be the same.
        let bytes = Memory::of(src)?.bytes()[range(src)].to_vec();
        // SAFETY: the caller's promise.
        unsafe { self.copy_in(dst, &bytes) }?;
        Ok(true)
    }
}
