//! nvJitLink, NVIDIA's linker of device code as a library. It needs neither a device nor the driver.
//!
//! It is searched for like [NVRTC](super::nvrtc), with `SAREK_NVJITLINK` in the place of `SAREK_NVRTC`, and beside NVRTC.

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::OnceLock;

use libloading::Library;
use sarek_runtime::settings;

use super::library::{Wanted, symbol};

/// The name of the environment variable.
const VARIABLE: &str = "SAREK_NVJITLINK";

const WANTED: Wanted = Wanted {
    variable: VARIABLE,
    stem: "libnvJitLink",
    names,
    absent: "nvJitLink, the CUDA linker library, was not found: set SAREK_NVJITLINK to its path, or install it with \
             the CUDA toolkit or from PyPI (nvidia-nvjitlink-cu12)",
};

/// A part of a program, in one of the forms that the linker takes.
pub(super) struct Input<'a> {
    /// The name for messages.
    pub name: &'a str,
    pub form: Form,
    pub bytes: &'a [u8],
}

/// The forms that the linker takes, with their numbers in nvJitLink.h.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    Cubin = 1,
    Ptx = 2,
    LtoIr = 3,
    FatBinary = 4,
    Object = 5,
    Archive = 6,
}

impl Form {
    /// The form of compiled code in a language, or with a file name of this extension.
    pub fn of(language: &str) -> Option<Form> {
        Some(match language {
            "cubin" => Form::Cubin,
            "ptx" => Form::Ptx,
            "ltoir" => Form::LtoIr,
            "fatbin" => Form::FatBinary,
            "o" | "obj" => Form::Object,
            "a" | "lib" => Form::Archive,
            _ => return None,
        })
    }
}

/// The version of nvJitLink's interface that was found, or the reason why it cannot be used.
pub(super) fn present() -> Result<(), String> {
    library().map(|_| ())
}

/// The linker's options for an architecture such as `sm_90`.
fn options(arch: &str, inputs: &[Input<'_>]) -> Vec<String> {
    let mut options = vec![format!("-arch={arch}")];
    if inputs.iter().any(|input| input.form == Form::LtoIr) {
        options.push("-lto".into());
    }
    options
}

/// Links code for an architecture such as `sm_90`: a cubin and the linker's messages, or the linker's log.
pub(super) fn link(arch: &str, inputs: &[Input<'_>]) -> Result<(Vec<u8>, String), String> {
    let library = library()?;
    let c_string =
        |text: &str| CString::new(text).map_err(|_| "a name has a zero byte".to_string());
    let options: Result<Vec<CString>, _> =
        options(arch, inputs).iter().map(|o| c_string(o)).collect();
    let options = options?;
    let options: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
    let mut raw = ptr::null_mut();
    // SAFETY: the handle is valid to write, and the number of options is as given.
    let code = unsafe { (library.api.create)(&mut raw, options.len() as u32, options.as_ptr()) };
    // A linker that refuses its options still has a log.
    let linker = Linker { library, raw };
    linker.check("nvJitLinkCreate", code)?;
    for input in inputs {
        let name = c_string(input.name)?;
        // SAFETY: the linker is live; the bytes and the name outlive the call, which copies or reads them.
        let code = unsafe {
            (library.api.add)(
                raw,
                input.form as c_int,
                input.bytes.as_ptr().cast(),
                input.bytes.len(),
                name.as_ptr(),
            )
        };
        linker.check(input.name, code)?;
    }
    // SAFETY: the linker is live.
    let code = unsafe { (library.api.complete)(raw) };
    linker.check("nvJitLinkComplete", code)?;
    let api = &library.api;
    let cubin = linker.bytes(api.cubin_size, api.cubin);
    let cubin = cubin.ok_or("nvJitLink gave no cubin")?;
    Ok((cubin, linker.text(api.info_size, api.info)))
}

type Handle = *mut c_void;
type SizeOf = unsafe extern "C" fn(Handle, *mut usize) -> c_int;
type BytesOf = unsafe extern "C" fn(Handle, *mut c_char) -> c_int;

/// The library's functions, as declared in nvJitLink.h.
struct Api {
    create: unsafe extern "C" fn(*mut Handle, u32, *const *const c_char) -> c_int,
    destroy: unsafe extern "C" fn(*mut Handle) -> c_int,
    add: unsafe extern "C" fn(Handle, c_int, *const c_void, usize, *const c_char) -> c_int,
    complete: unsafe extern "C" fn(Handle) -> c_int,
    cubin_size: SizeOf,
    cubin: BytesOf,
    error_size: SizeOf,
    error: BytesOf,
    info_size: SizeOf,
    info: BytesOf,
}

struct Loaded {
    api: Api,
    /// Keeps the functions loaded.
    _library: Library,
}

/// The library, loaded once.
fn library() -> Result<&'static Loaded, String> {
    static LOADED: OnceLock<Result<Loaded, String>> = OnceLock::new();
    LOADED.get_or_init(load).as_ref().map_err(Clone::clone)
}

fn load() -> Result<Loaded, String> {
    let further = beside_nvrtc(settings::path("SAREK_NVRTC").map(PathBuf::from));
    let library = WANTED.find(settings::path(VARIABLE).map(PathBuf::from), &further)?;
    // SAFETY: the types are those that nvJitLink.h declares for all of these versions, and the library stays loaded.
    let api = unsafe {
        Api {
            create: function(&library, "Create")?,
            destroy: function(&library, "Destroy")?,
            add: function(&library, "AddData")?,
            complete: function(&library, "Complete")?,
            cubin_size: function(&library, "GetLinkedCubinSize")?,
            cubin: function(&library, "GetLinkedCubin")?,
            error_size: function(&library, "GetErrorLogSize")?,
            error: function(&library, "GetErrorLog")?,
            info_size: function(&library, "GetInfoLogSize")?,
            info: function(&library, "GetInfoLog")?,
        }
    };
    Ok(Loaded {
        api,
        _library: library,
    })
}

/// Looks up a function. Its name has the version of the interface, and a library has those of all earlier minor ones.
///
/// # Safety
/// `F` is the type of the function of this name.
unsafe fn function<F: Copy>(library: &Library, name: &str) -> Result<F, String> {
    let versions = ["13_0", "12_0"].map(|version| format!("__nvJitLink{name}_{version}"));
    // SAFETY: the caller's.
    let mut found = versions
        .iter()
        .filter_map(|name| unsafe { symbol(library, name) });
    let found = found.next();
    found.ok_or_else(|| {
        format!(
            "this nvJitLink is neither version 12 nor 13: it has no {}",
            versions[0]
        )
    })
}

fn names() -> Vec<String> {
    let names = [
        "libnvJitLink.so.12",
        "libnvJitLink.so.13",
        "libnvJitLink.so",
    ];
    let windows = ["nvJitLink_120_0.dll", "nvJitLink_130_0.dll"];
    names
        .iter()
        .chain(&windows)
        .map(ToString::to_string)
        .collect()
}

/// The folders where PyPI's packages have the library, if NVRTC comes from there: `nvidia/cuda_nvrtc/lib`, and
/// `nvidia/nvjitlink/lib`.
fn beside_nvrtc(nvrtc: Option<PathBuf>) -> Vec<PathBuf> {
    let Some(nvrtc) = nvrtc else {
        return vec![];
    };
    let folders = nvrtc.ancestors().take(4);
    folders
        .flat_map(|folder: &Path| [folder.to_owned(), folder.join("nvjitlink/lib")])
        .collect()
}

struct Linker<'a> {
    library: &'a Loaded,
    raw: Handle,
}

impl Linker<'_> {
    /// The linker's log, if a call has failed.
    fn check(&self, call: &str, code: c_int) -> Result<(), String> {
        if code == 0 {
            return Ok(());
        }
        let log = match self.raw.is_null() {
            true => String::new(),
            false => self.text(self.library.api.error_size, self.library.api.error),
        };
        Err(match log.is_empty() {
            true => format!("{call}: nvJitLink failed with code {code}"),
            false => log,
        })
    }

    fn text(&self, size_of: SizeOf, bytes_of: BytesOf) -> String {
        let bytes = self.bytes(size_of, bytes_of).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        text.trim_end_matches(['\0', '\n']).to_owned()
    }

    fn bytes(&self, size_of: SizeOf, bytes_of: BytesOf) -> Option<Vec<u8>> {
        let mut size = 0;
        // SAFETY: the linker is live and `size` valid to write.
        if unsafe { size_of(self.raw, &mut size) } != 0 {
            return None;
        }
        // Version 12.9 crashes if there is nothing to copy. Room for a zero byte, which the size may leave out.
        let mut bytes = vec![0u8; size.checked_add(1).filter(|_| size > 0)?];
        // SAFETY: the function writes as many bytes as it reported.
        let code = unsafe { bytes_of(self.raw, bytes.as_mut_ptr().cast()) };
        bytes.truncate(size);
        (code == 0).then_some(bytes)
    }
}

impl Drop for Linker<'_> {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: the linker is live and not used after this.
            unsafe { (self.library.api.destroy)(&mut self.raw) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_name_the_architecture_and_link_time_optimization() {
        let input = |form| Input {
            name: "x",
            form,
            bytes: &[],
        };
        assert_eq!(options("sm_90", &[input(Form::Cubin)]), ["-arch=sm_90"]);
        let optimized = [input(Form::Ptx), input(Form::LtoIr)];
        assert_eq!(options("sm_75", &optimized), ["-arch=sm_75", "-lto"]);
    }

    #[test]
    fn it_is_found_beside_nvrtc() {
        let folder = PathBuf::from("/x/nvidia/nvjitlink/lib");
        for nvrtc in [
            "/x/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
            "/x/nvidia/cuda_nvrtc/lib",
        ] {
            assert!(
                beside_nvrtc(Some(nvrtc.into())).contains(&folder),
                "{nvrtc}"
            );
        }
        assert!(beside_nvrtc(None).is_empty());
    }

    #[test]
    fn forms_are_those_of_the_files_of_nvidias_tools() {
        let forms = ["cubin", "ptx", "ltoir", "fatbin", "o", "a"].map(Form::of);
        let numbers = forms.map(|form| form.map(|form| form as c_int));
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6].map(Some));
        assert_eq!(Form::of("cuda"), None);
    }
}
