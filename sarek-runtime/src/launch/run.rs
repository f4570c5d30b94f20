//! Queuing a launch on a stream.

use std::sync::Arc;

use super::arg::Operands;
use super::space::physical_grid;
use super::{Call, Ready, eligible};
use crate::backend::{self, Args, Codegen, Program};
use crate::device::{Pending, Stream};
use crate::direct::{DirectArg, IndexSpace};
use crate::fault::Sites;
use crate::{Error, Result};

impl Ready<'_> {
    /// Queues the launch; the outcome if it is not known yet.
    pub(super) fn queue(&mut self, stream: &Stream) -> Result<Option<Pending>> {
        self.check()?;
        let device = stream.device();
        eligible::check(device, &self.call)?;
        if self.shape.is_empty() {
            return Ok(None);
        }
        let info = device.info();
        let host = match device.raw().codegen() {
            Codegen::Direct | Codegen::Interpret => true,
            Codegen::Jit(..) => false,
        };
        let space = self
            .shape
            .space(self.call.kernel.block(), info, host)
            .map_err(|problem| self.call.malformed(problem))?;
        if host {
            self.call.run_on_host(stream, &space, true)?;
            return Ok(None);
        }
        Ok(None)
    }
}

impl Call<'_> {
    /// Runs the compiled body, or the interpreter, on host memory.
    fn run_on_host(&mut self, stream: &Stream, space: &IndexSpace, checked: bool) -> Result<()> {
        let kernel = self.kernel.clone();
        let program = stream.device().programs().bodies.get(kernel.id, || {
            stream
                .device()
                .raw()
                .load(&match stream.device().raw().codegen() {
                    Codegen::Direct => Program::Direct(kernel.def.direct),
                    Codegen::Interpret | Codegen::Jit(..) => Program::Ir(kernel.kernel.clone()),
                })
        })?;
        let lens: Arc<[u64]> = self.args.iter().map(|a| a.len()).collect();
        let args = self.host_args()?;
        let launched = stream.queue().raw.launch(&backend::Launch {
            program: &*program,
            kernel: kernel.name(),
            space: *space,
            grid: physical_grid(space.grid, [u32::MAX; 3])
                .ok_or_else(|| self.malformed("its grid is too large".to_owned()))?,
            args: Args::Host {
                args: &args,
                checked,
            },
        });
        let failed = match launched {
            Ok(None) => return Ok(()),
            Ok(Some(raw)) => Sites {
                kernel: kernel.kernel.clone(),
                lens,
            }
            .describe(&raw),
            Err(error) => error,
        };
        self.fail(&failed);
        Err(failed)
    }

    fn host_args(&mut self) -> Result<Vec<DirectArg>> {
        let arg = |arg: &mut super::Arg<'_>| {
            let len = arg.len() as usize;
            Ok(match &mut arg.0 {
                Operands::Scalar(value) => DirectArg::Scalar(*value),
                Operands::Read(vector) => DirectArg::Slice {
                    ptr: vector.on_host()?.cast_mut(),
                    len,
                    mutable: false,
                },
                Operands::Write(vector) => DirectArg::Slice {
                    ptr: vector.on_host_mut()?,
                    len,
                    mutable: true,
                },
            })
        };
        self.args.iter_mut().map(arg).collect()
    }

    /// The launch stopped half way: what it writes is lost.
    fn fail(&mut self, error: &Error) {
        for arg in &mut self.args {
            if let Some(vector) = arg.written() {
                vector.fail(error.clone());
            }
        }
    }
}
