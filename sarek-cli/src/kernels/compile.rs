//! Compiles texts without a device: CUDA C by NVRTC, OpenCL C by an OpenCL driver, WGSL by naga.

use std::sync::Arc;

use naga::back::spv;
use naga::front::wgsl;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use sarek::backend::{Backend, BackendDevice, Codegen, Parts};
use sarek::ir::write::Source;
use sarek_backends::cuda::nvrtc;
use sarek_backends::opencl::OpenCl;

use super::Text;
use crate::error::{Error, Result};

/// The result of compiling a text.
pub enum Compiled {
    /// It compiles.
    Yes,
    /// The compiler's errors.
    No(String),
    /// The reason why there is no compiler.
    Unavailable(String),
}

/// The compilers of this machine.
pub struct Compilers {
    arch: String,
    opencl: std::result::Result<Arc<dyn BackendDevice>, String>,
}

impl Compilers {
    /// Finds the compilers that the targets need. `arch` is what CUDA C is compiled for.
    pub fn new(targets: &[&str], arch: &str) -> Compilers {
        let opencl = match targets.contains(&"opencl") {
            false => Err("not asked for".to_owned()),
            true => {
                let backend = OpenCl::new();
                backend
                    .count()
                    .and_then(|_| backend.open(0).map_err(|error| error.to_string()))
            }
        };
        Compilers {
            arch: arch.to_owned(),
            opencl,
        }
    }

    /// Compiles a text.
    pub fn compile(&self, text: &Text) -> Compiled {
        match &*text.target {
            "cuda" => self.cuda(text),
            "opencl" => self.opencl(text),
            "wgsl" => match module(&text.text) {
                Ok(_) => Compiled::Yes,
                Err(log) => Compiled::No(log),
            },
            other => Compiled::Unavailable(format!("there is no compiler for {other}")),
        }
    }

    fn cuda(&self, text: &Text) -> Compiled {
        match nvrtc::compile(&text.entry, &text.marked, &self.arch) {
            Ok(_) => Compiled::Yes,
            Err(sarek::Error::Compile { log, .. }) => Compiled::No(log),
            Err(error) => Compiled::Unavailable(error.to_string()),
        }
    }

    fn opencl(&self, text: &Text) -> Compiled {
        let device = match &self.opencl {
            Ok(device) => device,
            Err(reason) => return Compiled::Unavailable(reason.clone()),
        };
        let Codegen::Jit(_, compiler) = device.codegen() else {
            return Compiled::Unavailable("the OpenCL device compiles no text".into());
        };
        let source = Source {
            text: text.marked.clone(),
            entry: text.entry.clone(),
            ..Source::default()
        };
        // SAFETY: there are no options; the text is not loaded.
        match unsafe { compiler.compile(&text.entry, &source, &Parts::default()) } {
            Ok(_) => Compiled::Yes,
            Err(sarek::Error::Compile { log, .. }) => Compiled::No(log),
            Err(error) => Compiled::No(error.to_string()),
        }
    }
}

/// The PTX of a text in CUDA C.
pub fn ptx(text: &Text, arch: &str) -> Result<String> {
    let artifact = nvrtc::compile(&text.entry, &text.marked, arch)?;
    let text = String::from_utf8_lossy(&artifact.bytes);
    Ok(text.trim_end_matches('\0').to_owned())
}

/// The SPIR-V of a text in WGSL, with blocks of one thread unless the kernel fixes them.
pub fn spirv(text: &Text) -> Result<Vec<u8>> {
    let wrong = |what: String| Error::Answer {
        what,
        help: "emit the text by `--target wgsl`, and report this".into(),
    };
    let (module, info) = module(&text.text).map_err(wrong)?;
    let constants = naga::back::PipelineConstants::default();
    let overridden =
        naga::back::pipeline_constants::process_overrides(&module, &info, None, &constants);
    let (module, info) = overridden.map_err(|error| wrong(error.to_string()))?;
    let words = spv::write_vec(&module, &info, &spv::Options::default(), None);
    let words = words.map_err(|error| wrong(error.to_string()))?;
    Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect())
}

fn module(text: &str) -> std::result::Result<(naga::Module, ModuleInfo), String> {
    let module = wgsl::parse_str(text).map_err(|error| error.emit_to_string(text))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .map_err(|error| error.emit_to_string(text))?;
    Ok((module, info))
}
