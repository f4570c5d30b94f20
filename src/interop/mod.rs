//! Other libraries: conversions of their types, and native driver handles.
//!
//! The modules of drivers have handles of this library's devices, streams and vectors, and make
//! vectors of existing device memory. Each exports the driver crate whose types it uses.
//!
//! The other modules, and the parts without a module, are behind features that are not defaults:
//!
//! | Feature | Contents |
//! |---|---|
//! | `arrow` | [`arrow`]: primitive arrays |
//! | `bytemuck` | [`bytemuck`]: casts; `Pod` for `f32x4` and its kin |
//! | `dlpack` | [`dlpack`]: tensors of Python's array libraries and others |
//! | `glam` | [`glam`]: vectors, matrices and quaternions in kernels |
//! | `image` | [`image`]: images as channels or pixels |
//! | `mint` | vectors, points, matrices and quaternions in kernels; `From` between vectors and points and `f32x4` and its kin |
//! | `nalgebra` | [`nalgebra`]: vectors, matrices and quaternions in kernels |
//! | `ndarray` | [`ndarray`]: arrays and views |
//! | `num-complex` | [`num_complex`]: complex numbers in kernels |
//! | `rayon` | `Vector::par_iter`, `Vector::par_iter_mut`, and collecting into a vector in parallel |
//! | `serde` | `Serialize` and `Deserialize` for [`Vector`](crate::Vector), `f32x4` and its kin |

#[cfg(feature = "glam")]
pub mod glam;
#[cfg(feature = "nalgebra")]
pub mod nalgebra;
#[cfg(feature = "num-complex")]
pub mod num_complex;

#[cfg(feature = "arrow")]
pub use sarek_runtime::interop::arrow;
#[cfg(feature = "bytemuck")]
pub use sarek_runtime::interop::bytemuck;
#[cfg(feature = "dlpack")]
pub use sarek_runtime::interop::dlpack;
#[cfg(feature = "image")]
pub use sarek_runtime::interop::image;
#[cfg(feature = "ndarray")]
pub use sarek_runtime::interop::ndarray;

/// The CUDA handles of devices, streams and vectors, and import of CUDA memory.
#[cfg(feature = "cuda")]
pub mod cuda {
    #[doc(no_inline)]
    pub use sarek_backends::cuda::interop::cudarc;
    pub use sarek_backends::cuda::interop::{context, from_slice, import, pointer, stream};
    #[cfg(feature = "dlpack")]
    pub use sarek_backends::cuda::tensor::{from_tensor, to_tensor};
}

/// The OpenCL objects of devices, streams and vectors, and import of OpenCL buffers.
#[cfg(feature = "opencl")]
pub mod opencl {
    #[doc(no_inline)]
    pub use sarek_backends::opencl::interop::opencl3;
    pub use sarek_backends::opencl::interop::{buffer, context, device_id, import, queue};
}

/// The `wgpu` objects of devices and vectors, and import of `wgpu` buffers.
#[cfg(feature = "wgpu")]
pub mod wgpu {
    #[doc(no_inline)]
    pub use sarek_backends::wgpu::interop::wgpu;
    pub use sarek_backends::wgpu::interop::{
        bind, buffer, device_and_queue, import, instance_and_adapter,
    };
}
