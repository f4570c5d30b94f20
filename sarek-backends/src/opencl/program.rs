//! OpenCL C to programs.
//!
//! An artifact is the driver's own binary. Where a driver gives none, or refuses one that was made
//! before it changed, the program is built from its source, which comes along. So it always is on
//! PoCL, which aborts the process over some of its own binaries (an assertion in
//! `pocl_binary_get_kernels_metadata` of PoCL 3.1) and keeps a cache of its own.

use std::ffi::CString;
use std::ptr;
use std::sync::{Arc, Mutex};

use opencl3::device::CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
use opencl3::error_codes::{CL_INVALID_VALUE, cl_int};
use opencl3::kernel::{CL_KERNEL_WORK_GROUP_SIZE, create_kernel, get_kernel_work_group_info};
use opencl3::program::{
    CL_PROGRAM_BINARIES, CL_PROGRAM_BUILD_LOG, build_program, create_program_with_binary,
    create_program_with_source, get_program_build_info, get_program_info,
};
use opencl3::types::cl_program;
use sarek_ir::Kernel;
use sarek_ir::write::{Dialect, OpenCl, Slot, Source, Variant};
use sarek_runtime::backend::{self, Artifact};
use sarek_runtime::{Error, Result};

use super::Object;
use super::device::Shared;
use crate::jit::{self, Binary};

/// A kernel ready to launch.
pub(super) struct Program {
    /// Setting arguments and queueing the launch that takes them is done under the lock.
    pub kernel: Mutex<Object>,
    pub slots: Vec<Slot>,
}

/// Kernels to OpenCL C.
pub(super) struct Renderer;

impl backend::Renderer for Renderer {
    fn target(&self) -> &'static str {
        OpenCl.name()
    }

    fn render(&self, kernel: &Kernel, variant: &Variant) -> Result<Source> {
        jit::render_with(&OpenCl, kernel, variant)
    }
}

/// The driver's compiler.
pub(super) struct Compiler {
    shared: Arc<Shared>,
    options: CString,
}

impl Compiler {
    pub fn new(shared: Arc<Shared>) -> Compiler {
        let rounded =
            shared.id.single_fp_config().unwrap_or(0) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT != 0;
        let options = if rounded {
            c"-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt"
        } else {
            c"-cl-std=CL1.2"
        };
        Compiler {
            shared,
            options: options.into(),
        }
    }

    pub fn options(&self) -> &str {
        self.options.to_str().unwrap_or_default()
    }

    fn build(&self, program: &Object) -> Result<(), cl_int> {
        let devices = [self.shared.id.id()];
        build_program(program.raw, &devices, &self.options, None, ptr::null_mut())
    }

    /// Builds from source; the second is what the compiler said.
    fn build_source(&self, kernel: &str, source: &Source) -> Result<(Object, String)> {
        let program = create_program_with_source(self.shared.context(), &[&source.text])
            .map_err(|code| self.shared.error("clCreateProgramWithSource", code))?;
        let program = Object::program(program);
        let built = self.build(&program);
        let log = self.log(program.raw);
        match built {
            Ok(()) => Ok((program, log)),
            Err(code) => Err(Error::Compile {
                kernel: kernel.into(),
                target: OpenCl.name().into(),
                log: match log.is_empty() {
                    true => self.shared.error("clBuildProgram", code).to_string(),
                    false => log,
                },
                source_text: source.text.clone(),
            }),
        }
    }

    /// Builds from an artifact's binary, if there is one that the driver takes.
    fn build_binary(&self, binary: &[u8]) -> Option<Object> {
        if binary.is_empty() {
            return None;
        }
        let devices = [self.shared.id.id()];
        // SAFETY: the device belongs to the context.
        let program =
            unsafe { create_program_with_binary(self.shared.context(), &devices, &[binary]) };
        let program = Object::program(program.ok()?);
        self.build(&program).ok()?;
        Some(program)
    }

    fn log(&self, program: cl_program) -> String {
        let log = get_program_build_info(program, self.shared.id.id(), CL_PROGRAM_BUILD_LOG);
        log.map_or_else(
            |_| String::new(),
            |log| String::from(log).trim().to_string(),
        )
    }
}

impl backend::Compiler for Compiler {
    fn fingerprint(&self) -> String {
        let id = self.shared.id;
        let told = |fact: opencl3::Result<String>| fact.unwrap_or_default();
        format!(
            "opencl {} {} {} {} {}",
            told(id.vendor()),
            self.shared.name,
            told(id.version()),
            told(id.driver_version()),
            self.options()
        )
    }

    fn compile(&self, kernel: &str, source: &Source) -> Result<Artifact> {
        let (program, log) = self.build_source(kernel, source)?;
        if self.shared.is_pocl() {
            return Ok(Artifact { bytes: Arc::new([]), log });
        }
        let binaries: Vec<Vec<u8>> =
            get_program_info(program.raw, CL_PROGRAM_BINARIES).map_or(vec![], Into::into);
        let bytes = binaries.into_iter().next();
        Ok(Artifact {
            bytes: bytes.unwrap_or_default().into(),
            log,
        })
    }
}

/// Makes a program launchable.
pub(super) fn load(
    shared: &Shared,
    compiler: &Compiler,
    program: &backend::Program<'_>,
) -> Result<Program> {
    let binary = Binary::of(&shared.name, program)?;
    let program = match compiler.build_binary(&binary.artifact.bytes) {
        Some(program) => program,
        None => compiler.build_source(binary.kernel, binary.source)?.0,
    };
    let entry = CString::new(binary.source.entry.as_str())
        .map_err(|_| shared.error("clCreateKernel", CL_INVALID_VALUE))?;
    let kernel =
        create_kernel(program.raw, &entry).map_err(|code| shared.error("clCreateKernel", code))?;
    let kernel = Object::kernel(kernel);
    let most = get_kernel_work_group_info(kernel.raw, shared.id.id(), CL_KERNEL_WORK_GROUP_SIZE)
        .map_err(|code| shared.error("clGetKernelWorkGroupInfo", code))?;
    binary.check_block(&shared.name, most.into())?;
    Ok(Program {
        kernel: Mutex::new(kernel),
        slots: binary.source.slots.clone(),
    })
}
