//! Links a text with further texts and with libraries, through the driver.

use std::collections::BTreeMap;
use std::ffi::{c_char, c_void};
use std::ptr;

use opencl3::error_codes::{CL_SUCCESS, cl_int};
use opencl3::program::{compile_program, create_program_with_binary, create_program_with_il};
use opencl3::types::{cl_context, cl_device_id, cl_program, cl_uint};
use sarek_ir::write::{Dialect, OpenCl, Source};
use sarek_runtime::Result;

use super::program::Compiler;
use super::{Object, silent};
use crate::jit;
use crate::jit::linked::Linked;

/// The text to link with others.
pub(super) struct Main<'a> {
    /// The kernel, for messages.
    pub kernel: &'a str,
    pub source: &'a Source,
    /// The text that the driver gets.
    pub text: &'a str,
    pub program: Object,
    /// The options of each text.
    pub options: &'a [String],
    /// The files that texts include by name.
    pub files: &'a BTreeMap<String, String>,
}

type Link = unsafe extern "system" fn(
    cl_context,
    cl_uint,
    *const cl_device_id,
    *const c_char,
    cl_uint,
    *const cl_program,
    *const c_void,
    *mut c_void,
    *mut cl_int,
) -> cl_program;

impl Compiler {
    /// Compiles a text and the files to link with it, and links them. Also returns the drivers' logs.
    pub(super) fn link(&self, main: &Main<'_>, linked: &[Linked<'_>]) -> Result<(Object, String)> {
        let Main { kernel, source, .. } = main;
        let compiled = self.compile_part(&main.program, main.options)?;
        let mut logs = vec![self.log(main.program.raw)];
        if let Err((call, code)) = compiled {
            let failure = (call, code, &*logs[0]);
            return Err(self.rejected(kernel, &source.text, failure, main.text));
        }
        let mut programs = vec![];
        for file in linked {
            let (program, log) = self.part(main, file)?;
            programs.push(program);
            logs.push(log);
        }
        let all = [&main.program].into_iter().chain(&programs);
        let all: Vec<cl_program> = all.map(|program| program.raw).collect();
        let (program, log) = self.linked(&all).map_err(|(code, log)| {
            let failure = ("clLinkProgram", code, &*log);
            self.rejected(kernel, &source.text, failure, main.text)
        })?;
        logs.push(log);
        logs.retain(|log| !log.is_empty());
        Ok((program, logs.join("\n")))
    }

    /// Compiles a program without linking it; the outer error is one of the options.
    fn compile_part(
        &self,
        program: &Object,
        options: &[String],
    ) -> Result<Result<(), (&'static str, cl_int)>> {
        let devices = [self.shared.id.id()];
        let options = self.c_options(options)?;
        let compiled = compile_program(
            program.raw,
            &devices,
            &options,
            &[],
            &[],
            None,
            ptr::null_mut(),
        );
        Ok(compiled.map_err(|code| ("clCompileProgram", code)))
    }

    /// The compiled program of a file to link, and the driver's log.
    fn part(&self, main: &Main<'_>, file: &Linked<'_>) -> Result<(Object, String)> {
        let kernel = main.kernel;
        let refused = |call: &'static str, code: cl_int| {
            let problem = self.shared.error(call, code).to_string();
            file.error(kernel, OpenCl.name(), problem)
        };
        let (program, text) = match file.language {
            "opencl" => {
                let text = file.as_text(kernel, OpenCl.name())?;
                let text =
                    jit::files::expanded(file.name, text, main.files, jit::files::Lines::Numbered);
                (self.program(&text)?, text)
            }
            "spirv" => {
                let program = create_program_with_il(self.shared.context(), &file.contents);
                let program = program.map_err(|code| refused("clCreateProgramWithIL", code))?;
                (Object::program(program), String::new())
            }
            _ if file.is_library => {
                let devices = [self.shared.id.id()];
                let binary = [&*file.contents];
                // SAFETY: the device belongs to the context.
                let program =
                    unsafe { create_program_with_binary(self.shared.context(), &devices, &binary) };
                let program = program.map_err(|code| refused("clCreateProgramWithBinary", code))?;
                // A binary that the driver made is compiled already.
                return Ok((Object::program(program), String::new()));
            }
            other => {
                let problem = format!("the driver's linker takes no `{other}`");
                return Err(file.error(kernel, OpenCl.name(), problem));
            }
        };
        let options = [main.options, file.options].concat();
        let compiled = self.compile_part(&program, &options)?;
        let log = self.log(program.raw);
        match compiled {
            Ok(()) => Ok((program, log)),
            Err((call, code)) => {
                let own = String::from_utf8_lossy(&file.contents);
                let error = self.rejected(kernel, &own, (call, code, &log), &text);
                Err(file.located(error))
            }
        }
    }

    /// Links compiled programs; the driver's log in both cases.
    fn linked(&self, programs: &[cl_program]) -> Result<(Object, String), (cl_int, String)> {
        // SAFETY: the type is that of the OpenCL specification.
        let Some(link) = (unsafe { silent::function::<Link>("clLinkProgram") }) else {
            let log = "this OpenCL has no clLinkProgram, which came with OpenCL 1.2";
            return Err((CL_SUCCESS, log.into()));
        };
        let devices = [self.shared.id.id()];
        let mut code = CL_SUCCESS;
        // SAFETY: the context, the device and the programs are live, and their numbers are as given.
        let program = unsafe {
            link(
                self.shared.context(),
                1,
                devices.as_ptr(),
                c"".as_ptr(),
                programs.len() as cl_uint,
                programs.as_ptr(),
                ptr::null(),
                ptr::null_mut(),
                &mut code,
            )
        };
        // A program that does not link has a log all the same.
        let program = (!program.is_null()).then(|| Object::program(program));
        let log = program.as_ref().map(|program| self.log(program.raw));
        let log = log.unwrap_or_default();
        match program.filter(|_| code == CL_SUCCESS) {
            Some(program) => Ok((program, log)),
            None => Err((code, log)),
        }
    }
}
