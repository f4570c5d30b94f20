//! The host side of Sarek: vectors, devices, launches, and the interface that backends implement.

pub mod cache;
pub mod context;
mod device;
mod error;
mod fault;
pub mod foreign;
pub mod graph;
pub mod host;
mod kernel;
mod launch;
mod output;
mod plugin;
pub mod settings;
mod simd;
mod sync;
#[cfg(test)]
mod testing;
mod types;
mod vector;

pub use device::{
    Clock, Device, Event, MemoryUse, Profile, Properties, Stream, Work, WorkKind, registry,
};
pub use error::{Error, Fault, FaultKind, Result};
pub use graph::{Graph, Recording};
pub use kernel::{
    DeviceFn, FunctionFacts, Kernel, KernelDef, NativePrelude, ParameterSet, ScalarArg,
};
#[doc(hidden)]
pub use kernel::{NativeOperand, leaf, links, native, no_fallback};
#[cfg(feature = "reference")]
#[doc(hidden)]
pub use launch::called;
pub use launch::{
    Arg, Code, Dims, FixedBlock, FreeBlock, Grid, IntoDims, Launch, Ready, Shaped, Specialized,
};
#[doc(hidden)]
pub use output::{reset_output, set_output};
pub use plugin::{backend, claims, environment, intrinsic, tag};
#[doc(hidden)]
pub use simd::Packed;
pub use simd::{
    Swizzle2, Swizzle3, Swizzle4, f32x2, f32x3, f32x4, f64x2, f64x3, f64x4, i32x2, i32x3, i32x4,
    u32x2, u32x3, u32x4,
};
pub use sync::Passing;
#[doc(hidden)]
pub use types::layout;
pub use types::number::Scalar;
pub use types::{
    Atomic, AtomicElement, AtomicInteger, Constant, Element, Float, Int, KernelType, Num,
};
#[doc(hidden)]
pub use types::{Means, named};
pub use vector::{
    Lent, Part, PartMut, Parts, ReadBack, Reading, Vector, VectorView, VectorViewMut,
};
