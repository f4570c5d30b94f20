//! Functions of the driver that `opencl3` calls in another way: launches without an event, since one takes NVIDIA's
//! driver longer than the launch, and linking with a log.

use std::ffi::c_void;
use std::ptr;
use std::sync::OnceLock;

use libloading::Library;
use opencl3::error_codes::{CL_SUCCESS, cl_int};
use opencl3::types::{cl_command_queue, cl_event, cl_kernel, cl_uint};

type Function = unsafe extern "system" fn(
    cl_command_queue,
    cl_kernel,
    cl_uint,
    *const usize,
    *const usize,
    *const usize,
    cl_uint,
    *const cl_event,
    *mut c_void,
) -> cl_int;

/// `clEnqueueNDRangeKernel` of the loader.
pub(super) struct Launch {
    function: Function,
}

impl Launch {
    /// Queues a launch over three dimensions, and yields a null event.
    ///
    /// # Safety
    /// As for `clEnqueueNDRangeKernel`: the handles are live, all arguments are set, and both sizes have three elements.
    pub unsafe fn call(
        &self,
        queue: cl_command_queue,
        kernel: cl_kernel,
        [global, local]: [*const usize; 2],
    ) -> Result<cl_event, cl_int> {
        // SAFETY: the caller's promise; the list of events is empty, and null asks for no event.
        let code = unsafe {
            let (offset, waits) = (ptr::null(), ptr::null());
            (self.function)(
                queue,
                kernel,
                3,
                offset,
                global,
                local,
                0,
                waits,
                ptr::null_mut(),
            )
        };
        match code {
            CL_SUCCESS => Ok(ptr::null_mut()),
            code => Err(code),
        }
    }
}

/// The function, from the library that `opencl3` loads; `None` if it is not found there.
pub(super) fn launch() -> Option<&'static Launch> {
    static LAUNCH: OnceLock<Option<Launch>> = OnceLock::new();
    // SAFETY: the type is that of the OpenCL specification.
    let find = || unsafe { function("clEnqueueNDRangeKernel") };
    let launch = LAUNCH.get_or_init(|| find().map(|function| Launch { function }));
    launch.as_ref()
}

/// A function of the library that `opencl3` loads.
///
/// # Safety
/// `F` is the type of the function of this name.
pub(super) unsafe fn function<F: Copy>(name: &str) -> Option<F> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    let library = LIBRARY.get_or_init(load).as_ref()?;
    // SAFETY: the caller's. The library stays loaded.
    let function = unsafe { library.get::<F>(name) };
    function.ok().map(|function| *function)
}

fn load() -> Option<Library> {
    let default = match std::env::consts::OS {
        "windows" => "OpenCL.dll",
        "macos" => "/System/Library/Frameworks/OpenCL.framework/OpenCL",
        _ => "libOpenCL.so.1",
    };
    let set = std::env::var("OPENCL_DYLIB_PATH").unwrap_or_default();
    let names = set.split(';').filter(|name| !name.is_empty());
    // SAFETY: the loader is in the process already; loading it again runs no code.
    let mut libraries = names
        .chain([default])
        .map(|name| unsafe { Library::new(name) });
    libraries.find_map(Result::ok)
}
