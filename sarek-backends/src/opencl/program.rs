//! Compiles OpenCL C to programs.
//!
//! An artifact is the driver's own binary. The source comes along: if a driver returns no binary, or after an update
//! refuses an old one, the program is built from source. On PoCL it always is. PoCL aborts the process over some of its
//! own binaries (an assertion in `pocl_binary_get_kernels_metadata` of PoCL 3.1), and has its own cache.

use std::ffi::{CStr, CString};
use std::ptr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use opencl3::device::CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
use opencl3::error_codes::{CL_INVALID_KERNEL_NAME, CL_INVALID_VALUE, cl_int};
use opencl3::kernel::{
    CL_KERNEL_COMPILE_WORK_GROUP_SIZE, CL_KERNEL_WORK_GROUP_SIZE, create_kernel,
    get_kernel_work_group_info,
};
use opencl3::program::{
    CL_PROGRAM_BINARIES, CL_PROGRAM_BUILD_LOG, build_program, create_program_with_binary,
    create_program_with_source, get_program_build_info, get_program_info,
};
use opencl3::types::cl_program;
use sarek_ir::Kernel;
use sarek_ir::write::{Dialect, OpenCl, Slot, Source, Variant};
use sarek_runtime::backend::{self, Artifact, Parts};
use sarek_runtime::tag::{Language, Tag};
use sarek_runtime::{Error, Result};

use super::device::Shared;
use super::{Object, flags, foreign, link, pocl};
use crate::jit::linked::Linked;
use crate::jit::{self, Binary};

/// A kernel ready to launch.
pub(super) struct Program {
    /// Held while setting the arguments and queueing the launch that takes them.
    pub kernel: Mutex<Object>,
    pub slots: Vec<Slot>,
    /// True once it has been launched.
    pub has_run: AtomicBool,
}

/// Renders kernels as OpenCL C.
pub(super) struct Renderer;

// SAFETY: it is the framework's own writer.
unsafe impl backend::Renderer for Renderer {
    fn target(&self) -> &'static str {
        OpenCl.name()
    }

    fn render(&self, kernel: &Kernel, variant: &Variant) -> Result<Source> {
        jit::render_with(&OpenCl, kernel, variant)
    }

    fn has_line_markers(&self) -> bool {
        true
    }
}

/// The driver's compiler.
pub(super) struct Compiler {
    pub(super) shared: Arc<Shared>,
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

    fn build(&self, program: &Object, options: &CStr) -> Result<(), cl_int> {
        let devices = [self.shared.id.id()];
        build_program(program.raw, &devices, options, None, ptr::null_mut())
    }

    /// Builds from source. Also returns the compiler's log.
    fn build_source(
        &self,
        kernel: &str,
        source: &Source,
        parts: &Parts,
        foreign: bool,
    ) -> Result<(Object, String)> {
        let linked = Linked::all(kernel, OpenCl.name(), source, parts)?;
        let files = jit::linked::headers(source, parts)?;
        let mut text = jit::with_headers(kernel, &source.text, parts, &files);
        // The user's own text has the meaning that the driver gives it.
        if self.shared.is_pocl && !foreign {
            text = (pocl::PRELUDE.to_owned() + &text).into();
        }
        let program = self.program(&text)?;
        let own = match foreign {
            true => foreign::options(self.options(), parts),
            false => self.options().to_owned(),
        };
        let options = [&[own], jit::options(parts).as_slice()].concat();
        if !linked.is_empty() {
            let main = link::Main {
                kernel,
                source,
                text: &text,
                program,
                options: &options,
                files: &files,
            };
            return self.link(&main, &linked);
        }
        let built = self.build(&program, &self.c_options(&options)?);
        let log = self.log(program.raw);
        match built {
            Ok(()) => Ok((program, log)),
            Err(code) => {
                Err(self.rejected(kernel, &source.text, ("clBuildProgram", code, &log), &text))
            }
        }
    }

    /// The program of a text.
    pub(super) fn program(&self, text: &str) -> Result<Object> {
        // A single text: cl3 0.13 passes two of them as if a `&str` were a pointer.
        let program = create_program_with_source(self.shared.context(), &[text])
            .map_err(|code| self.shared.error("clCreateProgramWithSource", code))?;
        Ok(Object::program(program))
    }

    /// The options as one string.
    pub(super) fn c_options(&self, options: &[String]) -> Result<CString> {
        CString::new(options.join(" "))
            .map_err(|_| self.shared.error("clBuildProgram", CL_INVALID_VALUE))
    }

    /// The error of a call that rejects a text. `text` is what the driver was given for it.
    pub(super) fn rejected(
        &self,
        kernel: &str,
        own: &str,
        (call, code, log): (&str, cl_int, &str),
        text: &str,
    ) -> Error {
        let log = match log.is_empty() {
            true => self.shared.error(call, code).to_string(),
            false => jit::files::heeding_lines(log, "<kernel>", text),
        };
        jit::linked::failed(kernel, OpenCl.name(), own, log)
    }

    /// Builds from an artifact's binary, if there is one and the driver accepts it.
    fn build_binary(&self, binary: &[u8]) -> Option<Object> {
        if binary.is_empty() {
            return None;
        }
        let devices = [self.shared.id.id()];
        // SAFETY: the device belongs to the context.
        let program =
            unsafe { create_program_with_binary(self.shared.context(), &devices, &[binary]) };
        let program = Object::program(program.ok()?);
        self.build(&program, &self.options).ok()?;
        Some(program)
    }

    pub(super) fn log(&self, program: cl_program) -> String {
        let log = get_program_build_info(program, self.shared.id.id(), CL_PROGRAM_BUILD_LOG);
        log.map_or_else(
            |_| String::new(),
            |log| String::from(log).trim().to_string(),
        )
    }
}

// SAFETY: the driver compiles the text; harmless flags only change floats, checks or speed.
unsafe impl backend::Compiler for Compiler {
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

    fn keeps_artifacts(&self) -> bool {
        !self.shared.is_pocl
    }

    fn is_harmless_flag(&self, flag: &str) -> bool {
        flags::is_harmless(flag)
    }

    unsafe fn compile(&self, kernel: &str, source: &Source, parts: &Parts) -> Result<Artifact> {
        self.artifact(kernel, source, parts, false)
    }

    /// Drivers read their own declarations for each program, which takes longer than a kernel: on PoCL 3.1, twelve
    /// kernels take 0.4 s in one text, and 3.8 s in twelve.
    fn joined(&self, _kernels: usize) -> usize {
        1
    }

    unsafe fn compile_foreign(
        &self,
        kernel: &str,
        _language: &Tag<Language>,
        source: &Source,
        parts: &Parts,
    ) -> Result<Artifact> {
        self.artifact(kernel, source, parts, true)
    }
}

impl Compiler {
    fn artifact(
        &self,
        kernel: &str,
        source: &Source,
        parts: &Parts,
        foreign: bool,
    ) -> Result<Artifact> {
        let (program, log) = self.build_source(kernel, source, parts, foreign)?;
        let binary = match self.shared.is_pocl {
            true => None,
            false => {
                let binaries = get_program_info(program.raw, CL_PROGRAM_BINARIES);
                let binaries: Vec<Vec<u8>> = binaries.map_or(vec![], Into::into);
                binaries.into_iter().next()
            }
        };
        let artifact = Artifact::new(binary.unwrap_or_default());
        Ok(artifact
            .with_log(log)
            .with_entries(foreign::entries(&program)))
    }
}

/// Loads a program for launches.
pub(super) fn load(
    shared: &Shared,
    compiler: &Compiler,
    program: &backend::Program<'_>,
) -> Result<Program> {
    let binary = Binary::of(&shared.name, program)?;
    pocl::refuse_copies(shared, &binary)?;
    let program = match compiler.build_binary(&binary.artifact.bytes) {
        Some(program) => program,
        None => {
            let (kernel, foreign) = (binary.kernel, binary.foreign.is_some());
            let built = compiler.build_source(kernel, binary.source, binary.parts, foreign);
            built?.0
        }
    };
    let mut kernel = entry(shared, &program, binary.entry)?;
    if let Some(parameters) = binary.foreign {
        foreign::check(shared, binary.kernel, &kernel, parameters)?;
    }
    let mut most = most_threads(shared, &kernel)?;
    if most < binary.threads() && binary.foreign.is_none() {
        // Without a declared block size, the driver may choose more registers than large blocks have.
        let sized = sized(binary.source, binary.block);
        let (program, _) = compiler.build_source(binary.kernel, &sized, binary.parts, false)?;
        kernel = entry(shared, &program, binary.entry)?;
        // NVIDIA's driver reports 256 even where it runs the declared size.
        most = most_threads(shared, &kernel)?.max(declared_threads(shared, &kernel));
    }
    binary.check_block(&shared.name, most)?;
    Ok(Program {
        kernel: Mutex::new(kernel),
        slots: binary.source.slots.clone(),
        has_run: AtomicBool::new(false),
    })
}

/// Takes a kernel out of a program.
fn entry(shared: &Shared, program: &Object, entry: &str) -> Result<Object> {
    let name = CString::new(entry).map_err(|_| shared.error("clCreateKernel", CL_INVALID_VALUE))?;
    match create_kernel(program.raw, &name) {
        Ok(kernel) => Ok(Object::kernel(kernel)),
        Err(CL_INVALID_KERNEL_NAME) => Err(Error::NoEntry {
            target: OpenCl.name().into(),
            entry: entry.to_owned(),
            known: foreign::entries(program),
        }),
        Err(code) => Err(shared.error("clCreateKernel", code)),
    }
}

/// The largest block in which the driver runs the kernel.
fn most_threads(shared: &Shared, kernel: &Object) -> Result<usize> {
    get_kernel_work_group_info(kernel.raw, shared.id.id(), CL_KERNEL_WORK_GROUP_SIZE)
        .map(Into::into)
        .map_err(|code| shared.error("clGetKernelWorkGroupInfo", code))
}

/// The declared block size of the kernel, in threads; 0 without one.
fn declared_threads(shared: &Shared, kernel: &Object) -> usize {
    let declared = CL_KERNEL_COMPILE_WORK_GROUP_SIZE;
    let size = get_kernel_work_group_info(kernel.raw, shared.id.id(), declared);
    size.map_or(0, |size| Vec::<usize>::from(size).iter().product())
}

/// The source with a declared block size for its kernel.
fn sized(source: &Source, [x, y, z]: [u32; 3]) -> Source {
    let size = format!("__attribute__((reqd_work_group_size({x}, {y}, {z})))");
    // Keeps the line numbers, which errors refer to.
    let text = format!("#define __kernel __kernel {size}\n#line 1\n{}", source.text);
    Source {
        text,
        ..source.clone()
    }
}
