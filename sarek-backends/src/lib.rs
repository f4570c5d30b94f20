//! The built-in backends of sarek, with one folder and one cargo feature each.
//!
//! Every folder has the same files: `mod` finds the driver and lists devices, `device` describes a device and creates
//! its objects, `memory` holds allocations, `stream` queues work, and `program` renders, compiles and loads kernels.
//! `reference` is one file: the device that tests compare with, which calls the user's own function.
//!
//! The backends only use interfaces that are open to other crates: the traits of [`sarek_runtime::backend`], and
//! [`sarek_runtime::registry::LINKED`].

use std::sync::Arc;

use sarek_runtime::backend::Backend;

#[cfg(feature = "cuda")]
pub mod cuda;
#[cfg(feature = "interpreter")]
pub mod interpreter;
#[cfg(any(feature = "cuda", feature = "opencl", feature = "wgpu"))]
mod jit;
#[cfg(feature = "native")]
pub mod native;
#[cfg(feature = "opencl")]
pub mod opencl;
#[cfg(feature = "reference")]
pub mod reference;
#[cfg(all(test, any(feature = "cuda", feature = "wgpu")))]
#[path = "../tests/devices/require.rs"]
mod require;
#[cfg(feature = "wgpu")]
pub mod wgpu;

/// The backends in this build.
pub fn builtin() -> Vec<Arc<dyn Backend>> {
    vec![
        #[cfg(feature = "cuda")]
        Arc::new(cuda::Cuda::new()),
        #[cfg(feature = "opencl")]
        Arc::new(opencl::OpenCl::new()),
        #[cfg(feature = "wgpu")]
        Arc::new(wgpu::Wgpu::new()),
        #[cfg(feature = "native")]
        Arc::new(native::Native),
        #[cfg(feature = "interpreter")]
        Arc::new(interpreter::InterpreterBackend),
    ]
}

#[linkme::distributed_slice(sarek_runtime::registry::LINKED)]
static BUILTIN: fn() -> Vec<Arc<dyn Backend>> = builtin;
