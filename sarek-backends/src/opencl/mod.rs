//! OpenCL 1.2 and later: GPUs of every vendor, and CPUs through drivers such as PoCL.
//!
//! The library is loaded when devices are first requested. Without it, or without a driver, [`Backend::count`] reports
//! the reason. The devices of all platforms are listed in the platforms' order. CPU devices have priority 40, below
//! native Rust on the same processor.

mod device;
mod fill;
mod flags;
mod foreign;
pub mod interop;
mod link;
mod memory;
mod pocl;
mod program;
mod silent;
mod stream;

use std::ffi::c_void;
use std::sync::{Arc, OnceLock};

use opencl3::device::{CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CUSTOM, Device as Id};
use opencl3::error_codes::{CL_DEVICE_NOT_FOUND, CL_PLATFORM_NOT_FOUND_KHR, ClError};
use opencl3::error_codes::{DLOPEN_RUNTIME_LOAD_FAILED, cl_int};
use opencl3::platform::{Platform, get_platforms};
use opencl3::types::{cl_command_queue, cl_event, cl_kernel, cl_mem, cl_program};
use opencl3::{command_queue, event, kernel, memory as mem, program as prog};
use sarek_runtime::backend::{Backend, BackendDevice, is_forked};
use sarek_runtime::{Error, Result};

/// The OpenCL backend.
#[derive(Default)]
pub struct OpenCl {
    found: OnceLock<Result<Vec<Id>, String>>,
}

impl OpenCl {
    /// Creates the backend without loading anything.
    pub fn new() -> OpenCl {
        OpenCl::default()
    }

    fn found(&self) -> Result<&[Id], String> {
        self.found
            .get_or_init(find)
            .as_deref()
            .map_err(Clone::clone)
    }
}

impl Backend for OpenCl {
    fn name(&self) -> &'static str {
        "opencl"
    }

    fn count(&self) -> Result<usize, String> {
        Ok(self.found()?.len())
    }

    fn open(&self, ordinal: usize) -> Result<Arc<dyn BackendDevice>> {
        let none = |reason| Error::NoBackend {
            backend: "opencl".into(),
            reason,
        };
        let found = self.found().map_err(none)?;
        let id = found
            .get(ordinal)
            .ok_or_else(|| none(format!("it has no device {ordinal}")))?;
        Ok(device::Device::open(*id)?)
    }

    fn priority(&self) -> i32 {
        90
    }
}

/// The usable devices of all platforms, or the reason why there are none.
fn find() -> Result<Vec<Id>, String> {
    let platforms = get_platforms().map_err(|ClError(code)| match code {
        DLOPEN_RUNTIME_LOAD_FAILED => "the OpenCL library (libOpenCL.so.1) is not installed".into(),
        CL_PLATFORM_NOT_FOUND_KHR => "no OpenCL driver is installed".to_string(),
        code => format!("the OpenCL library failed: {}", ClError(code)),
    })?;
    let mut usable = vec![];
    let mut refused = vec![];
    for platform in platforms {
        match platform.get_devices(CL_DEVICE_TYPE_ALL) {
            Ok(ids) => {
                for id in ids.into_iter().map(Id::new) {
                    match refusal(&id) {
                        None => usable.push(id),
                        Some(reason) => refused.push(reason),
                    }
                }
            }
            Err(ClError(CL_DEVICE_NOT_FOUND)) => {}
            Err(error) => refused.push(format!("{}: {error}", platform_name(&platform))),
        }
    }
    match (usable.is_empty(), refused.is_empty()) {
        (false, _) => Ok(usable),
        (true, false) => Err(refused.join("; ")),
        (true, true) => Err("the OpenCL drivers have no device".into()),
    }
}

/// The reason why a device cannot run kernels, if there is one.
fn refusal(id: &Id) -> Option<String> {
    let reason = if id.dev_type().unwrap_or(0) & CL_DEVICE_TYPE_CUSTOM != 0 {
        "it runs built-in kernels only"
    } else if !id.available().unwrap_or(false) {
        "it is not available"
    } else if !id.compiler_available().unwrap_or(false) {
        "its driver has no compiler"
    } else if version(id) < (1, 2) {
        "its OpenCL is older than 1.2"
    } else {
        return None;
    };
    let name = id.name().unwrap_or_else(|_| "an OpenCL device".into());
    Some(format!("{name}: {reason}"))
}

/// The version in a device's version string, `OpenCL <major>.<minor> <vendor-specific>`.
fn version(id: &Id) -> (u32, u32) {
    parse_version(&id.version().unwrap_or_default()).unwrap_or((0, 0))
}

fn parse_version(text: &str) -> Option<(u32, u32)> {
    let number = text.strip_prefix("OpenCL ")?.split(' ').next()?;
    let (major, minor) = number.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn platform_name(platform: &Platform) -> String {
    platform
        .name()
        .unwrap_or_else(|_| "an OpenCL platform".into())
}

/// A reference to an OpenCL object, released on drop.
///
/// The driver keeps an object alive while a queued command uses it, so a reference may be dropped at any time.
struct Object {
    raw: *mut c_void,
    release: unsafe fn(*mut c_void) -> Result<(), cl_int>,
}

// SAFETY: OpenCL objects may be used from any thread, except in `clSetKernelArg`, for which `program::Program` has a
// lock.
unsafe impl Send for Object {}
// SAFETY: as above.
unsafe impl Sync for Object {}

impl Object {
    fn queue(raw: cl_command_queue) -> Object {
        let release = command_queue::release_command_queue;
        Object { raw, release }
    }

    fn memory(raw: cl_mem) -> Object {
        let release = mem::release_mem_object;
        Object { raw, release }
    }

    fn program(raw: cl_program) -> Object {
        let release = prog::release_program;
        Object { raw, release }
    }

    fn kernel(raw: cl_kernel) -> Object {
        let release = kernel::release_kernel;
        Object { raw, release }
    }

    fn event(raw: cl_event) -> Object {
        let release = event::release_event;
        Object { raw, release }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if is_forked() {
            return; // it is the parent's
        }
        // SAFETY: `raw` is a live object of the kind that `release` takes, and this reference to it ends here. A
        // failure means that the driver has lost the object already.
        let _ = unsafe { (self.release)(self.raw) };
    }
}

#[cfg(test)]
mod tests {
    use super::parse_version;

    #[test]
    fn versions_are_read() {
        assert_eq!(parse_version("OpenCL 1.2 CUDA"), Some((1, 2)));
        assert_eq!(
            parse_version("OpenCL 3.0 PoCL HSTR: cpu-x86_64"),
            Some((3, 0))
        );
        assert_eq!(parse_version("OpenGL 4.6"), None);
        assert_eq!(parse_version(""), None);
    }
}
