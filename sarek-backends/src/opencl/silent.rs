//! Launches without an event. `opencl3` always asks for one, which takes NVIDIA's driver longer than the launch.

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
    /// Keeps the function loaded.
    _library: Library,
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
    LAUNCH.get_or_init(load).as_ref()
}

fn load() -> Option<Launch> {
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
    let library = libraries.find_map(Result::ok)?;
    // SAFETY: the type is that of the OpenCL specification.
    let function = unsafe { library.get::<Function>(b"clEnqueueNDRangeKernel\0") }.ok()?;
    Some(Launch {
        function: *function,
        _library: library,
    })
}
