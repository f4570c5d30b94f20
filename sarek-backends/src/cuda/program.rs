//! Compiles CUDA C to modules.
//!
//! An artifact is a cubin for the device's own architecture or, on a device newer than NVRTC, PTX.

use std::ffi::CString;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::Arc;

use cudarc::driver::result::{DriverError, function, module};
use cudarc::driver::sys::{CUfunction, CUfunction_attribute, CUmodule, CUresult};
use sarek_ir::Kernel;
use sarek_ir::write::{Cuda, Dialect, Slot, SlotKind, Source, Variant};
use sarek_runtime::backend::{self, Artifact, Parts};
use sarek_runtime::tag::{Language, Tag};
use sarek_runtime::{Error, Result};

use super::device::Shared;
use super::{flags, foreign, image, link, nvrtc};
use crate::jit::linked::Linked;
use crate::jit::{self, Binary};

/// Renders kernels as CUDA C.
pub(super) struct Renderer;

// SAFETY: it is the framework's own writer.
unsafe impl backend::Renderer for Renderer {
    fn target(&self) -> &'static str {
        Cuda.name()
    }

    fn render(&self, kernel: &Kernel, variant: &Variant) -> Result<Source> {
        jit::render_with(&Cuda, kernel, variant)
    }

    fn has_line_markers(&self) -> bool {
        true
    }
}

/// NVRTC for the architecture of a device. It is loaded at the first compilation.
pub(super) struct Compiler {
    name: String,
    capability: (i32, i32),
}

impl Compiler {
    pub fn new(device: &str, capability: (i32, i32)) -> Compiler {
        Compiler {
            name: device.into(),
            capability,
        }
    }

    /// The architecture that NVRTC compiles for, or the reason why it cannot compile.
    pub fn arch(&self) -> Result<String, String> {
        let (major, minor) = self.capability;
        nvrtc::arch(major, minor)
    }
}

// SAFETY: NVRTC compiles the text; harmless flags only change floats, messages or speed.
unsafe impl backend::Compiler for Compiler {
    fn fingerprint(&self) -> String {
        // Code for an architecture is valid whichever NVRTC compiled it, so the cache key omits its version:
        // asking for it would load NVRTC. `load` tells PTX from a cubin.
        let (major, minor) = self.capability;
        format!("cuda {major}.{minor} {}", nvrtc::OPTIONS)
    }

    fn is_harmless_flag(&self, flag: &str) -> bool {
        flags::is_harmless(flag)
    }

    unsafe fn compile(&self, kernel: &str, source: &Source, parts: &Parts) -> Result<Artifact> {
        self.artifact(kernel, Cuda.name(), source, parts)
    }

    /// A text for each thread that compiles.
    fn joined(&self, kernels: usize) -> usize {
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        kernels.min(threads)
    }

    /// NVRTC can compile on several threads at once.
    unsafe fn compile_batch(
        &self,
        sources: &[Option<(&str, &Source)>],
        parts: &Parts,
    ) -> Vec<Option<Result<Artifact>>> {
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        let chunk = sources.len().div_ceil(threads).max(1);
        // SAFETY: the caller's promise.
        let one = |(kernel, source)| unsafe { self.compile(kernel, source, parts) };
        std::thread::scope(|scope| {
            let chunks: Vec<_> = sources
                .chunks(chunk)
                .map(|chunk| {
                    let compile = move || -> Vec<_> { chunk.iter().map(|s| s.map(one)).collect() };
                    scope.spawn(compile)
                })
                .collect();
            let outcomes = chunks.into_iter().map(|chunk| chunk.join());
            outcomes
                .flat_map(|outcomes| outcomes.unwrap_or_else(|panic| resume_unwind(panic)))
                .collect()
        })
    }

    fn languages(&self) -> Vec<Tag<Language>> {
        vec![Language::ptx()]
    }

    unsafe fn compile_foreign(
        &self,
        kernel: &str,
        language: &Tag<Language>,
        source: &Source,
        parts: &Parts,
    ) -> Result<Artifact> {
        if *language != Language::ptx() {
            // SAFETY: the caller's promise.
            return unsafe { self.compile(kernel, source, parts) };
        }
        if !Linked::all(kernel, Cuda.name(), source, parts)?.is_empty() {
            return self.artifact(kernel, language.name(), source, parts);
        }
        // The driver compiles the text when it loads it.
        let image = [source.text.as_bytes(), b"\0"].concat();
        let entries = image::entries(&image);
        Ok(Artifact::new(image).with_entries(entries))
    }
}

impl Compiler {
    /// Compiles a text, and links it with the units of its source and with libraries.
    fn artifact(
        &self,
        kernel: &str,
        language: &str,
        source: &Source,
        parts: &Parts,
    ) -> Result<Artifact> {
        let linked = Linked::all(kernel, Cuda.name(), source, parts)?;
        let arch = self.arch().map_err(|message| Error::Device {
            device: self.name.clone(),
            message,
        })?;
        let (options, headers) = (jit::options(parts), jit::linked::headers(source, parts)?);
        let text = jit::with_headers(kernel, &source.text, parts, parts.files());
        if linked.is_empty() {
            return nvrtc::compile_source(kernel, &text, &arch, &options, &headers);
        }
        let (major, minor) = self.capability;
        let settings = link::Settings {
            arch: &arch,
            device: &format!("sm_{}", major * 10 + minor),
            options: &options,
            headers: &headers,
        };
        let main = link::Main {
            kernel,
            text: &text,
            language,
        };
        link::program(&main, &linked, &settings)
    }
}

/// A kernel ready to launch.
pub(super) struct Program {
    shared: Arc<Shared>,
    module: CUmodule,
    function: CUfunction,
    pub slots: Vec<Slot>,
}

// SAFETY: modules and functions may be used from any thread, see `Shared`.
unsafe impl Send for Program {}
// SAFETY: as above.
unsafe impl Sync for Program {}

impl Program {
    fn attribute(&self, attribute: CUfunction_attribute) -> Result<i32> {
        // SAFETY: the function belongs to a loaded module.
        let value = unsafe { function::get_function_attribute(self.function, attribute) };
        value.map_err(|error| self.shared.error("cuFuncGetAttribute", error))
    }

    /// Allows launches to give the function all the shared memory that its own arrays leave.
    fn allow_shared(&self) -> Result<()> {
        let own = self.attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        let most = self.shared.max_shared()?;
        let rest = most.saturating_sub(u32::try_from(own).unwrap_or(0));
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function belongs to a loaded module.
        let set =
            unsafe { function::set_function_attribute(self.function, attribute, rest as i32) };
        set.map_err(|error| self.shared.error("cuFuncSetAttribute", error))
    }

    /// The function, loaded while the program lives.
    pub fn function(&self) -> CUfunction {
        self.function
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Waits, since a launch may still run the code. If the device is lost, nothing is left to unload.
        if self
            .shared
            .bind()
            .and_then(|()| self.shared.finish_all())
            .is_ok()
        {
            // SAFETY: nothing runs the module's code, and no one can launch it any more.
            let _ = unsafe { module::unload(self.module) };
        }
    }
}

/// Loads a program for launches.
pub(super) fn load(shared: &Arc<Shared>, program: &backend::Program<'_>) -> Result<Program> {
    let binary = Binary::of(&shared.name, program)?;
    shared.bind()?;
    let image = &binary.artifact.bytes;
    let readable = image.starts_with(b"\x7fELF") || image.last() == Some(&0);
    let module = match readable {
        // SAFETY: an ELF image contains its length; PTX ends at its zero byte.
        true => unsafe { foreign::load(image) },
        false => Err((CUresult::CUDA_ERROR_INVALID_IMAGE, String::new())),
    };
    let module = module.map_err(|(code, log)| match log.is_empty() {
        true => shared.error("cuModuleLoadDataEx", DriverError(code)),
        false => Error::Compile {
            kernel: binary.kernel.into(),
            target: "ptx".into(),
            places: vec![],
            log,
            source_text: binary.source.text.clone(),
        },
    })?;
    // From here on, every return path unloads the module.
    let mut program = Program {
        shared: shared.clone(),
        module,
        function: std::ptr::null_mut(),
        slots: binary.source.slots.clone(),
    };
    binary.artifact.check_entry(Cuda.name(), binary.entry)?;
    let entry = CString::new(binary.entry)
        .map_err(|_| jit::foreign(&shared.name, "an entry point with a zero byte in its name"))?;
    // SAFETY: the module is loaded.
    program.function = match unsafe { module::get_function(module, entry) } {
        Err(DriverError(CUresult::CUDA_ERROR_NOT_FOUND)) => {
            // SAFETY: the module is loaded.
            let known = unsafe { foreign::entries(module) };
            return Err(Error::NoEntry {
                target: Cuda.name().into(),
                entry: binary.entry.to_owned(),
                known,
            });
        }
        found => found.map_err(|error| shared.error("cuModuleGetFunction", error))?,
    };
    if let Some(parameters) = binary.foreign {
        // SAFETY: the function belongs to the module, which is loaded.
        unsafe { foreign::check(binary.kernel, program.function, parameters) }?;
    }
    let most = program.attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
    let slots = &program.slots;
    if slots
        .iter()
        .any(|slot| matches!(slot.kind, SlotKind::Shared(_)))
    {
        program.allow_shared()?;
    }
    binary.check_block(&shared.name, usize::try_from(most).unwrap_or(0))?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use crate::require;

    use sarek_ir::write::SourceFile;
    use sarek_runtime::backend::Compiler as _;

    use super::*;

    /// The kernel `entry` calls the function `scale`.
    fn source() -> Source {
        let text = "#include \"factor.h\"\nextern \"C\" __device__ unsigned scale(unsigned);\n\
             extern \"C\" __global__ void entry(unsigned* v) { v[0] = scale(v[0]) + FACTOR; }";
        Source {
            text: text.into(),
            entry: "entry".into(),
            files: vec![SourceFile::header("factor.h", "cuda", "#define FACTOR 3")],
            ..Source::default()
        }
    }

    const SCALE: &str = "#include \"factor.h\"\n\
        extern \"C\" __device__ unsigned scale(unsigned x) { return FACTOR * x + SUMMAND; }";

    fn unit() -> SourceFile {
        SourceFile::unit("scale.cu", "cuda", SCALE).with_options(["-DSUMMAND=4"])
    }

    fn compile(source: &Source, parts: &Parts) -> Result<Artifact> {
        // SAFETY: the texts and options are those of these tests, and nothing is loaded.
        unsafe { Compiler::new("none", (9, 0)).compile("k", source, parts) }
    }

    fn is_skipped() -> bool {
        let linker = super::super::nvjitlink::present();
        let present = nvrtc::version().map(|_| ()).and(linker);
        let required = std::env::var_os("SAREK_REQUIRE_NVJITLINK").is_some();
        present
            .inspect_err(|why| {
                assert!(!required, "SAREK_REQUIRE_NVJITLINK is set, but: {why}");
                eprintln!("skipped, no linker: {why}");
            })
            .is_err()
    }

    #[test]
    fn headers_reach_nvrtc_by_their_names() {
        if let Err(reason) = nvrtc::version() {
            return require::skip("nvrtc", &reason);
        }
        let mut source = source();
        source.text =
            "#include \"factor.h\"\nextern \"C\" __global__ void entry(int* v) { v[0] = FACTOR; }"
                .into();
        assert_eq!(compile(&source, &Parts::new()).unwrap().entries, ["entry"]);
        source.files.clear();
        let error = compile(&source, &Parts::new()).unwrap_err();
        assert!(error.to_string().contains("factor.h"), "{error}");
    }

    #[test]
    fn texts_with_options_of_their_own_are_linked() {
        if is_skipped() {
            return;
        }
        let mut source = source();
        let unresolved = compile(
            &Source {
                files: vec![
                    source.files[0].clone(),
                    SourceFile::unit("empty.cu", "cuda", ""),
                ],
                ..source.clone()
            },
            &Parts::new(),
        );
        let unresolved = unresolved.unwrap_err();
        assert!(matches!(unresolved, Error::Compile { .. }), "{unresolved}");
        assert!(unresolved.to_string().contains("scale"), "{unresolved}");
        source.files.push(unit());
        let linked = compile(&source, &Parts::new()).unwrap();
        assert!(linked.bytes.starts_with(b"\x7fELF"));
        assert_eq!(linked.entries, ["entry"]);
        source.files[1].options.clear();
        let error = compile(&source, &Parts::new()).unwrap_err();
        assert!(error.to_string().contains("SUMMAND"), "{error}");
    }

    #[test]
    fn libraries_in_cuda_c_ptx_and_cubin_are_linked() {
        if is_skipped() {
            return;
        }
        let source = source();
        let arch = |arch: &str| {
            let options = [
                "-DSUMMAND=4",
                "-DFACTOR=3",
                "--relocatable-device-code=true",
            ];
            let text = SCALE.replace("#include \"factor.h\"", "");
            nvrtc::compile_with("scale", &text, arch, &options.map(String::from)).unwrap()
        };
        let folder = std::env::temp_dir().join(format!("sarek-libraries-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let text = SCALE.replace("SUMMAND", "4");
        for (name, bytes) in [
            ("scale.cu", text.into_bytes()),
            ("scale.ptx", arch("compute_90").bytes.to_vec()),
            ("scale.cubin", arch("sm_90").bytes.to_vec()),
        ] {
            let path = folder.join(name);
            std::fs::write(&path, bytes).unwrap();
            // SAFETY: the library has the function that the text calls.
            let parts = unsafe { Parts::new().raw_library(path.to_str().unwrap()) };
            let linked = compile(&source, &parts).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(linked.entries, ["entry"], "{name}");
        }
        for name in ["scale.txt", "scale.fatbin"] {
            let path = folder.join(name);
            std::fs::write(&path, "no code").unwrap();
            // SAFETY: it is no library.
            let parts = unsafe { Parts::new().raw_library(path.to_str().unwrap()) };
            assert!(compile(&source, &parts).is_err(), "{name}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
