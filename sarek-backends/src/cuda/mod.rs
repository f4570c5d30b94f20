//! CUDA through its driver, with NVRTC as compiler.
//!
//! Both libraries are loaded when devices are first requested. cudarc panics if the driver's library is absent, so its
//! presence is tested before any call. NVRTC is loaded here, see [`nvrtc`].
//!
//! All objects belong to a device's primary context, which is made current on each calling thread. Streams do not
//! synchronize with the legacy default stream.

mod board;
mod copying;
mod device;
mod flags;
mod foreign;
mod graph;
mod image;
pub mod interop;
mod library;
mod link;
mod memory;
mod nvjitlink;
pub mod nvrtc;
mod peer;
mod program;
mod staging;
mod stream;
mod team;
#[cfg(feature = "dlpack")]
pub mod tensor;
#[doc(hidden)]
pub mod transfer;

/// The primitives of [`board`]; its model in `tests/models.rs` substitutes others.
mod sync {
    pub use std::hint::spin_loop;
    pub use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    pub use std::thread::yield_now;
}

use std::sync::{Arc, OnceLock};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{CUresult, is_culib_present};
use sarek_runtime::backend::{Backend, BackendDevice};
use sarek_runtime::{Error, Result};

/// The CUDA backend.
#[derive(Default)]
pub struct Cuda {
    found: OnceLock<Result<usize, String>>,
}

impl Cuda {
    /// Creates the backend without loading anything.
    pub fn new() -> Cuda {
        Cuda::default()
    }
}

impl Backend for Cuda {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn count(&self) -> Result<usize, String> {
        self.found.get_or_init(find).clone()
    }

    fn open(&self, ordinal: usize) -> Result<Arc<dyn BackendDevice>> {
        let none = |reason| Error::NoBackend {
            backend: "cuda".into(),
            reason,
        };
        match self.count().map_err(none)? {
            count if ordinal < count => Ok(device::Device::open(ordinal)?),
            _ => Err(none(format!("it has no device {ordinal}"))),
        }
    }

    fn priority(&self) -> i32 {
        100
    }
}

/// The number of devices, or the reason why there are none.
fn find() -> Result<usize, String> {
    // SAFETY: loads the driver's library, as every program that uses CUDA does.
    if !unsafe { is_culib_present() } {
        return Err("the CUDA driver (libcuda.so.1) is not installed".into());
    }
    result::init().map_err(|error| match error.0 {
        CUresult::CUDA_ERROR_NO_DEVICE => "the CUDA driver finds no device".into(),
        _ => format!("the CUDA driver does not start: {}", words(error)),
    })?;
    let count = result::device::get_count().map_err(words)?;
    nvrtc::present()?;
    match usize::try_from(count) {
        Ok(count) if count > 0 => Ok(count),
        Ok(_) | Err(_) => Err("the CUDA driver finds no device".into()),
    }
}

/// The driver's name and description of an error.
fn words(error: DriverError) -> String {
    match error.error_string() {
        Ok(text) => format!("{} ({:?})", text.to_string_lossy(), error.0),
        Err(_) => format!("{:?}", error.0),
    }
}
