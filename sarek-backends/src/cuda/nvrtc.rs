//! NVRTC, NVIDIA's compiler as a library. It needs neither a device nor the driver.
//!
//! The library is searched for in this order:
//! 1. at the path in the environment variable `SAREK_NVRTC`: a file, or a folder that contains it. If it is set,
//!    nothing else is tried;
//! 2. by its names, in the system's search path (`LD_LIBRARY_PATH` included);
//! 3. in `$CUDA_PATH`, `$CUDA_HOME`, `/usr/local/cuda*` and `/opt/cuda`.

use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::ptr;
use std::sync::OnceLock;

use libloading::Library;
use sarek_runtime::backend::Artifact;
use sarek_runtime::{Error, Result, settings};

use super::image;
use super::library::{self, Wanted, toolkits};

/// Compiles CUDA C for an architecture: `sm_90` gives a cubin, `compute_90` PTX, with the final zero byte that the
/// driver expects.
///
/// # Errors
/// [`Error::NoBackend`] without NVRTC, [`Error::Compile`] if it rejects the text.
pub fn compile(kernel: &str, text: &str, arch: &str) -> Result<Artifact> {
    compile_with(kernel, text, arch, &[])
}

/// As [`compile`], with additional options.
pub fn compile_with(kernel: &str, text: &str, arch: &str, options: &[String]) -> Result<Artifact> {
    compile_source(kernel, text, arch, options, &BTreeMap::new())
}

/// As [`compile_with`], with headers that the text may include by their names. They are not read from disk.
pub fn compile_source(
    kernel: &str,
    text: &str,
    arch: &str,
    options: &[String],
    headers: &BTreeMap<String, String>,
) -> Result<Artifact> {
    let nvrtc = nvrtc().map_err(|reason| Error::NoBackend {
        backend: "cuda".into(),
        reason,
    })?;
    nvrtc
        .compile(text, arch, options, headers)
        .map_err(|log| Error::Compile {
            kernel: kernel.into(),
            places: vec![],
            target: "cuda".into(),
            log,
            source_text: text.into(),
        })
}

/// The version of NVRTC, major and minor, or the reason why it cannot be used.
pub fn version() -> Result<(i32, i32), String> {
    let nvrtc = nvrtc()?;
    let (mut major, mut minor) = (0, 0);
    // SAFETY: both are valid to write.
    let code = unsafe { (nvrtc.api.version)(&mut major, &mut minor) };
    nvrtc.check("nvrtcVersion", code).map(|()| (major, minor))
}

/// The options of every compilation. By default, division and square root are correctly rounded, denormals are kept,
/// and multiplications and additions are contracted to FMA.
pub(super) const OPTIONS: &str = "--std=c++17";

/// Fails with the reason if NVRTC is absent. Does not load libraries that are found by path.
pub(super) fn present() -> Result<(), String> {
    if let Some(setting) = settings::path("SAREK_NVRTC").map(PathBuf::from) {
        let found = setting.is_file() || setting.is_dir() && !WANTED.files_in(&setting).is_empty();
        return if found { Ok(()) } else { version().map(|_| ()) };
    }
    let search = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let folders = std::env::split_paths(&search).chain(toolkits());
    match folders
        .into_iter()
        .any(|folder| !WANTED.files_in(&folder).is_empty())
    {
        true => Ok(()),
        false => version().map(|_| ()),
    }
}

/// The target architecture for a device of this compute capability: the device's own. If the device is newer than
/// NVRTC, it is the newest one that NVRTC knows, whose code the driver translates.
pub(super) fn arch(major: i32, minor: i32) -> Result<String, String> {
    let supported = nvrtc()?.supported()?;
    choose_arch(major * 10 + minor, &supported)
}

fn choose_arch(device: i32, supported: &[i32]) -> Result<String, String> {
    match supported.iter().filter(|arch| **arch <= device).max() {
        Some(arch) if *arch == device => Ok(format!("sm_{arch}")),
        Some(arch) => Ok(format!("compute_{arch}")),
        None => Err(format!(
            "this NVRTC does not compile for compute capability {}.{}: install an older one, and \
             set SAREK_NVRTC to its path",
            device / 10,
            device % 10
        )),
    }
}

type Program = *mut c_void;
type SizeOf = unsafe extern "C" fn(Program, *mut usize) -> c_int;
type BytesOf = unsafe extern "C" fn(Program, *mut c_char) -> c_int;

/// The library's functions, as declared in nvrtc.h.
struct Api {
    version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int,
    count_archs: unsafe extern "C" fn(*mut c_int) -> c_int,
    archs: unsafe extern "C" fn(*mut c_int) -> c_int,
    create: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> c_int,
    destroy: unsafe extern "C" fn(*mut Program) -> c_int,
    compile: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int,
    log_size: SizeOf,
    log: BytesOf,
    cubin_size: SizeOf,
    cubin: BytesOf,
    ptx_size: SizeOf,
    ptx: BytesOf,
}

struct Nvrtc {
    api: Api,
    /// Keeps the library loaded while its functions are in use.
    _library: Library,
}

/// The library, loaded once.
fn nvrtc() -> Result<&'static Nvrtc, String> {
    static NVRTC: OnceLock<Result<Nvrtc, String>> = OnceLock::new();
    NVRTC.get_or_init(load).as_ref().map_err(Clone::clone)
}

fn load() -> Result<Nvrtc, String> {
    let library = WANTED.find(settings::path("SAREK_NVRTC").map(PathBuf::from), &[])?;
    // SAFETY: the types are those that nvrtc.h declares, and the library stays loaded.
    let api = unsafe {
        Api {
            version: symbol(&library, "nvrtcVersion")?,
            count_archs: symbol(&library, "nvrtcGetNumSupportedArchs")?,
            archs: symbol(&library, "nvrtcGetSupportedArchs")?,
            create: symbol(&library, "nvrtcCreateProgram")?,
            destroy: symbol(&library, "nvrtcDestroyProgram")?,
            compile: symbol(&library, "nvrtcCompileProgram")?,
            log_size: symbol(&library, "nvrtcGetProgramLogSize")?,
            log: symbol(&library, "nvrtcGetProgramLog")?,
            cubin_size: symbol(&library, "nvrtcGetCUBINSize")?,
            cubin: symbol(&library, "nvrtcGetCUBIN")?,
            ptx_size: symbol(&library, "nvrtcGetPTXSize")?,
            ptx: symbol(&library, "nvrtcGetPTX")?,
        }
    };
    Ok(Nvrtc {
        api,
        _library: library,
    })
}

const WANTED: Wanted = Wanted {
    variable: "SAREK_NVRTC",
    stem: "libnvrtc",
    names,
    absent: "NVRTC, the CUDA compiler library, was not found: set SAREK_NVRTC to its path, or install it with the \
             CUDA toolkit or from PyPI (nvidia-cuda-nvrtc-cu12)",
};

/// Looks up a function of the library.
///
/// # Safety
/// `F` is the type of the function of this name.
unsafe fn symbol<F: Copy>(library: &Library, name: &str) -> Result<F, String> {
    // SAFETY: the caller's.
    let found = unsafe { library::symbol(library, name) };
    found.ok_or_else(|| format!("this NVRTC is too old: it has no function {name}"))
}

/// The names of the library: those that cudarc knows, and newer ones.
fn names() -> Vec<String> {
    let mut names = cudarc::get_lib_name_candidates("nvrtc");
    names.extend(["libnvrtc.so.13", "nvrtc64_130_0.dll"].map(String::from));
    names
}

impl Nvrtc {
    fn check(&self, call: &str, code: c_int) -> Result<(), String> {
        match code {
            0 => Ok(()),
            code => Err(format!("{call} failed with code {code}")),
        }
    }

    /// The architectures that NVRTC supports, as `10 * major + minor`.
    fn supported(&self) -> Result<Vec<i32>, String> {
        let mut count = 0;
        // SAFETY: `count` is valid to write.
        let code = unsafe { (self.api.count_archs)(&mut count) };
        self.check("nvrtcGetNumSupportedArchs", code)?;
        let mut archs = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: the function writes as many as it reported.
        let code = unsafe { (self.api.archs)(archs.as_mut_ptr()) };
        self.check("nvrtcGetSupportedArchs", code).map(|()| archs)
    }

    /// The binary, or the compiler's log.
    fn compile(
        &self,
        text: &str,
        arch: &str,
        more: &[String],
        headers: &BTreeMap<String, String>,
    ) -> Result<Artifact, String> {
        let c_string = |text: String| {
            CString::new(text).map_err(|_| "the text contains a zero byte".to_string())
        };
        let texts = headers.values().cloned().map(c_string);
        let texts = texts.collect::<Result<Vec<_>, _>>()?;
        let names = headers.keys().cloned().map(c_string);
        let names = names.collect::<Result<Vec<_>, _>>()?;
        let texts: Vec<_> = texts.iter().map(|text| text.as_ptr()).collect();
        let names: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
        let text = c_string(text.into())?;
        let own = [format!("--gpu-architecture={arch}"), OPTIONS.into()];
        let options = own.into_iter().chain(more.iter().cloned()).map(c_string);
        let options = options.collect::<Result<Vec<_>, _>>()?;
        let options: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        let mut raw = ptr::null_mut();
        // SAFETY: the text, and as many headers and names as given, outlive the program.
        let code = unsafe {
            (self.api.create)(
                &mut raw,
                text.as_ptr(),
                ptr::null(),
                texts.len() as c_int,
                texts.as_ptr(),
                names.as_ptr(),
            )
        };
        self.check("nvrtcCreateProgram", code)?;
        let program = OwnedProgram { nvrtc: self, raw };
        // SAFETY: the program is live, and the number of options is as given.
        let code =
            unsafe { (self.api.compile)(program.raw, options.len() as c_int, options.as_ptr()) };
        let compiled = self.check("nvrtcCompileProgram", code);
        let log = program.bytes("the log", self.api.log_size, self.api.log);
        let log = String::from_utf8_lossy(&log.unwrap_or_default())
            .trim_end_matches(['\0', '\n'])
            .to_string();
        match compiled {
            Ok(()) => {}
            Err(code) if log.is_empty() => return Err(code),
            Err(_) => return Err(log),
        }
        let bytes = match arch.starts_with("compute_") {
            true => program.bytes("the PTX", self.api.ptx_size, self.api.ptx)?,
            false => program.bytes("the cubin", self.api.cubin_size, self.api.cubin)?,
        };
        let entries = image::entries(&bytes);
        Ok(Artifact::new(bytes).with_log(log).with_entries(entries))
    }
}

struct OwnedProgram<'a> {
    nvrtc: &'a Nvrtc,
    raw: Program,
}

impl OwnedProgram<'_> {
    fn bytes(&self, what: &str, size_of: SizeOf, bytes_of: BytesOf) -> Result<Vec<u8>, String> {
        let mut size = 0;
        // SAFETY: the program is live and `size` valid to write.
        let code = unsafe { size_of(self.raw, &mut size) };
        self.nvrtc.check(&format!("the size of {what}"), code)?;
        let mut bytes = vec![0u8; size];
        // SAFETY: the function writes as many bytes as it reported.
        let code = unsafe { bytes_of(self.raw, bytes.as_mut_ptr().cast()) };
        self.nvrtc.check(what, code).map(|()| bytes)
    }
}

impl Drop for OwnedProgram<'_> {
    fn drop(&mut self) {
        // SAFETY: the program is live and not used after this.
        unsafe { (self.nvrtc.api.destroy)(&mut self.raw) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_architecture_is_the_devices_or_the_newest_below() {
        assert_eq!(choose_arch(90, &[75, 80, 90, 100]).unwrap(), "sm_90");
        assert_eq!(choose_arch(121, &[75, 80, 90, 120]).unwrap(), "compute_120");
        assert_eq!(choose_arch(86, &[75, 80]).unwrap(), "compute_80");
        assert!(choose_arch(61, &[75, 80]).unwrap_err().contains("6.1"));
    }

    #[test]
    fn a_wrong_path_is_told_and_nothing_else_tried() {
        let folder = std::env::temp_dir().join("sarek-no-such-nvrtc");
        let error = WANTED.find(Some(folder.clone()), &[]).err().unwrap();
        assert!(
            error.contains("SAREK_NVRTC") && error.contains("sarek-no-such-nvrtc"),
            "{error}"
        );
        std::fs::create_dir_all(&folder).unwrap();
        let error = WANTED.find(Some(folder.clone()), &[]).err().unwrap();
        assert!(error.contains("the folder has no libnvrtc"), "{error}");
        std::fs::remove_dir(&folder).unwrap();
    }
}
