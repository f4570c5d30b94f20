//! One Rust function, every processor.
//!
//! [`#[kernel]`](kernel) turns an ordinary Rust function into a data-parallel kernel. On the CPU the
//! kernel runs as compiled, multi-threaded, vectorised Rust. On the machine's accelerators it runs as
//! CUDA C, OpenCL C or WGSL.
//!
//! ```
//! use sarek::prelude::*;
//!
//! #[kernel]
//! fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
//!     let i = global_idx_x();
//!     if i < y.len() {
//!         y[i] = a * x[i] + y[i];
//!     }
//! }
//!
//! fn main() -> sarek::Result<()> {
//!     let n = 1 << 10;
//!     let x = Vector::from_vec(vec![1.0f32; n]);
//!     let mut y = Vector::from_vec(vec![2.0f32; n]);
//!     saxpy(3.0, &x, &mut y).over(n).run()?;
//!     assert_eq!(y.to_vec()?[0], 5.0);
//!     Ok(())
//! }
//! ```

// Links the crate, which registers the built-in backends.
extern crate sarek_backends as _;

pub mod prelude;
pub mod testing;

pub use half::{self, bf16, f16};
pub use sarek_ir as ir;
pub use sarek_macros::{KernelType, device, kernel, kernel_test, native, superstep};
#[doc(hidden)]
pub use sarek_runtime::CalledKernel;
pub use sarek_runtime::host::collective::*;
pub use sarek_runtime::host::ids::*;
pub use sarek_runtime::host::view::{View, View2, View3, ViewMut, ViewMut2, ViewMut3};
pub use sarek_runtime::host::{Number, Shared};
pub use sarek_runtime::{
    Atomic, AtomicElement, AtomicInteger, Clock, Code, Constant, Device, DeviceFn, Dims, Element,
    Error, Event, EventFuture, Fault, FaultKind, FixedBlock, Float, FreeBlock, FunctionFacts,
    Graph, Grid, Int, IntoDims, Kernel, KernelType, Launch, Lent, MemoryUse, NativeOperand,
    NativePrelude, Num, ParameterSet, Part, PartMut, Parts, Profile, Properties, ReadBack, Reading,
    Ready, Recording, Result, Scalar, ScalarArg, Shaped, Specialized, Stream, Swizzle2, Swizzle3,
    Swizzle4, Vector, VectorView, VectorViewMut, Work, WorkKind, backend, cache, claims, context,
    environment, foreign, graph, include_text, intrinsic, register_intrinsic, registry,
    reset_output, set_output, settings, tag,
};
#[doc(hidden)]
pub use sarek_runtime::{Means, named};
pub use sarek_runtime::{
    f32x2, f32x3, f32x4, f64x2, f64x3, f64x4, i32x2, i32x3, i32x4, u32x2, u32x3, u32x4,
};

/// The user documentation. Its programs are compiled and run as documentation tests.
#[cfg(doctest)]
mod pages {
    macro_rules! pages {
        ($($page:ident $file:literal)*) => {
            $(#[doc = include_str!($file)] pub struct $page;)*
        };
    }

    pages! {
        Readme "../README.md"
        Backends "../docs/backends.md"
        Foreign "../docs/foreign.md"
        Functions "../docs/functions.md"
        Methods "../docs/methods.md"
        Output "../docs/output.md"
        Overflow "../docs/overflow.md"
        Races "../docs/races.md"
        Runtime "../docs/runtime.md"
        Safety "../docs/safety.md"
        Strict "../docs/strict.md"
        TestingKernels "../docs/testing-kernels.md"
    }
}

/// The macros to which `println!` and `print!` in a kernel expand; not for users.
#[doc(hidden)]
pub mod output {
    pub use sarek_runtime::{__print as print, __println as println};
}

/// Interoperability with driver libraries: their handles of sarek's devices, streams and vectors, and
/// vectors made from their device memory.
///
/// Each module exports the driver crate whose types it uses.
pub mod interop {
    #[cfg(feature = "cuda")]
    pub use sarek_backends::cuda::interop as cuda;
    #[cfg(feature = "opencl")]
    pub use sarek_backends::opencl::interop as opencl;
    #[cfg(feature = "wgpu")]
    pub use sarek_backends::wgpu::interop as wgpu;
}

/// Items that expansions of [`kernel`] use; not for users.
#[doc(hidden)]
pub mod __private {
    pub use sarek_ir as ir;
    pub use sarek_macros::fitting;
    pub use sarek_runtime::{
        __unmarked as unmarked, Arg, FixedBlock, FreeBlock, KernelDef, host, layout, leaf, links,
        native, no_fallback,
    };

    /// The macros and traits that kernels know, under names that identify the error when rustc
    /// reports a mismatch.
    pub mod known {
        pub use core::panic as SRK0316_core_panic;
        pub use sarek_macros::{native as SRK0316_native, superstep as SRK0316_superstep};
        pub use sarek_runtime::{Float as SRK0316_Float, Int as SRK0316_Int, Num as SRK0316_Num};
        pub use std::{
            assert as SRK0316_assert, assert_eq as SRK0316_assert_eq,
            assert_ne as SRK0316_assert_ne, debug_assert as SRK0316_debug_assert,
            debug_assert_eq as SRK0316_debug_assert_eq, debug_assert_ne as SRK0316_debug_assert_ne,
            matches as SRK0316_matches, panic as SRK0316_panic, print as SRK0316_print,
            println as SRK0316_println, todo as SRK0316_todo,
            unimplemented as SRK0316_unimplemented, unreachable as SRK0316_unreachable,
        };
    }
}
