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
//!
//! # Overview
//!
//! | Task | Items |
//! |---|---|
//! | write kernels | [`#[kernel]`](kernel) and its options, [`#[device]`](device) for the functions that they call, [`prelude`] for their imports |
//! | know the thread | [`global_idx_x`], [`thread_idx_x`], [`block_idx_x`], [`item_id`] |
//! | let threads cooperate | [`shared_array`], [`shared_slice`], [`barrier`], [`superstep!`], [`subgroup_sum`] and other operations of subgroups, [`Atomic`] |
//! | choose types | [`#[derive(KernelType)]`](derive@KernelType), [`f32x4`] and other vectors, [`f16`](struct@f16) and [`bf16`], [`View2`] and [`ViewMut2`]; the bounds [`Scalar`], [`Num`], [`Int`] and [`Float`] for generic kernels |
//! | hold data | [`Vector`], its [`VectorView`]s, [`VectorViewMut`]s and [`Part`]s; [`context`] for named vectors |
//! | launch | [`Launch`], [`Grid`] and [`Ready`], the steps of a call; [`Kernel`], the trait of all kernels |
//! | choose a device | [`Device`], [`Stream`], [`Event`]; [`registry`] for the backends, [`settings`] for environment variables |
//! | handle errors | [`Error`], [`Fault`], [`FaultKind`] |
//! | read what kernels print | [`set_output`] |
//! | measure, and keep the arrays of launches | [`instrument`] |
//! | save time | [`Graph`] replays launches, [`Profile`] measures them, [`Code`] is compiled ahead of them, [`cache`] keeps programs |
//! | test kernels | [`#[kernel_test]`](kernel_test), [`testing`], the promised [tolerances](testing::tolerance) |
//! | use a target's own language | [`native!`] in kernels, [`intrinsic`] functions, [`foreign`] kernels, [`environment`] for headers and flags |
//! | share memory with other libraries, and use their types in kernels | [`interop`] |
//! | choose storages and schedules | [`tag`] |
//! | write a backend | [`backend`], [`ir`] |
//!
//! The [book](https://github.com/sarek-rs/sarek/blob/main/book/src/SUMMARY.md) has a chapter for each of these tasks.

#![cfg_attr(docsrs, feature(doc_cfg))]

// Links the crate, which registers the built-in backends.
extern crate sarek_backends as _;
// Expansions of `#[device]` in `interop` name this crate.
extern crate self as sarek;

pub mod interop;
pub mod ir;
#[doc(hidden)]
pub mod operators;
pub mod prelude;
pub mod tag;
pub mod testing;

// The language of kernels.
pub use sarek_macros::{KernelType, device, kernel, kernel_test, native, superstep};
pub use sarek_runtime::host::collective::*;
pub use sarek_runtime::host::ids::*;
pub use sarek_runtime::host::view::{View, View2, View3, ViewMut, ViewMut2, ViewMut3};
pub use sarek_runtime::host::{Number, Shared};
pub use sarek_runtime::{
    Atomic, AtomicElement, AtomicInteger, Element, Float, Int, KernelType, NativePrelude, Num,
    Scalar, ScalarArg, Swizzle2, Swizzle3, Swizzle4,
};
pub use sarek_runtime::{
    f32x2, f32x3, f32x4, f64x2, f64x3, f64x4, i32x2, i32x3, i32x4, u32x2, u32x3, u32x4,
};

#[doc(no_inline)]
pub use half::{self, bf16, f16};

// Data, devices and launches.
pub use sarek_runtime::{
    Clock, Code, Device, Dims, Error, Event, EventFuture, Fault, FaultKind, FixedBlock, FreeBlock,
    Graph, Grid, IntoDims, Kernel, Launch, Lent, MemoryUse, Part, PartMut, Parts, Profile,
    Properties, ReadBack, Reading, Ready, Result, Shaped, Specialized, Stream, Vector, VectorView,
    VectorViewMut, Work, WorkKind, include_text, reset_output, set_output,
};
pub use sarek_runtime::{
    backend, cache, context, environment, foreign, graph, instrument, intrinsic, registry, settings,
};

// For expansions. Here rustc's messages name them without a path.
#[doc(hidden)]
pub use sarek_runtime::CalledKernel;
#[doc(hidden)]
pub use sarek_runtime::{
    Constant, Examples, FixedLayout, HasFields, Held, Means, NativeOperand, named,
};

/// The book and the README: their programs are compiled and run with the other documentation tests.
#[cfg(doctest)]
mod pages {
    macro_rules! pages {
        ($($page:ident $file:literal)*) => {
            $(#[doc = include_str!($file)] pub struct $page;)*
        };
    }

    pages! {
        Readme "../README.md"
        Backends "../book/src/backends.md"
        BackendsTable "../book/src/backends-table.md"
        CargoSarek "../book/src/cargo-sarek.md"
        Data "../book/src/data.md"
        Debugging "../book/src/debugging.md"
        Fast "../book/src/fast.md"
        Foreign "../book/src/foreign.md"
        Functions "../book/src/functions.md"
        GettingStarted "../book/src/getting-started.md"
        Introduction "../book/src/introduction.md"
        Language "../book/src/language.md"
        Methods "../book/src/methods.md"
        Numbers "../book/src/numbers.md"
        Optimizer "../book/src/optimizer.md"
        Output "../book/src/output.md"
        Overflow "../book/src/overflow.md"
        PortingCubecl "../book/src/porting/cubecl.md"
        PortingCuda "../book/src/porting/cuda.md"
        PortingCudaOxide "../book/src/porting/cuda-oxide.md"
        PortingOpencl "../book/src/porting/opencl.md"
        PortingRayon "../book/src/porting/rayon.md"
        PortingTaichi "../book/src/porting/taichi.md"
        PortingWarp "../book/src/porting/warp.md"
        PortingWgsl "../book/src/porting/wgsl.md"
        Proved "../book/src/proved.md"
        Races "../book/src/races.md"
        Runtime "../book/src/runtime.md"
        Safety "../book/src/safety.md"
        SafetyFirst "../book/src/safety-first.md"
        Strict "../book/src/strict.md"
        TenKernels "../book/src/ten-kernels.md"
        TestingKernels "../book/src/testing-kernels.md"
        Threads "../book/src/threads.md"
        Troubleshooting "../book/src/troubleshooting.md"
    }
}

/// Items that expansions of [`kernel`] use; not for users.
#[doc(hidden)]
pub mod __private {
    pub use crate::operators;
    pub use sarek_ir as ir;
    pub use sarek_macros::fitting;
    pub use sarek_runtime::{
        __collect as collect, __unmarked as unmarked, Arg, DeviceFn, FixedBlock, FixedLayout,
        FreeBlock, FunctionFacts, KernelDef, ParameterSet, collect::instance, host, layout, leaf,
        links, native, no_fallback,
    };

    /// The macros that `println!` and `print!` of a kernel become for rustc.
    pub mod output {
        pub use sarek_runtime::{__print as print, __println as println};
    }

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
