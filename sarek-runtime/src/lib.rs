//! The host side of Sarek: vectors, devices, launches, and the interface that backends implement.

pub mod cache;
#[doc(hidden)]
pub mod collect;
pub mod context;
mod device;
#[cfg(feature = "dlpack")]
mod dlpack;
pub mod environment;
mod error;
mod fault_decode;
pub mod foreign;
pub mod graph;
pub mod host;
pub mod interop;
pub mod intrinsic;
mod kernel;
mod launch;
mod math;
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
    Clock, Device, Event, EventFuture, MemoryUse, Profile, Properties, Stream, Work, WorkKind,
    instrument, registry,
};
pub use error::{Error, Fault, FaultKind, Result};
pub use graph::{Graph, Recording};
#[doc(hidden)]
pub use host::Held;
pub use host::{DeviceFn, FunctionFacts, ParameterSet};
pub use kernel::{KernelDef, NativePrelude};
#[doc(hidden)]
pub use kernel::{leaf, links, native, no_fallback};
#[cfg(feature = "reference")]
#[doc(hidden)]
pub use launch::called;
pub use launch::{
    Arg, CalledKernel, Code, Dims, FixedBlock, FreeBlock, Grid, IntoDims, Kernel, Launch, Ready,
    Shaped, Specialized,
};
#[doc(hidden)]
pub use output::{reset_output, set_output};
pub use plugin::{backend, claims, tag};
#[doc(hidden)]
pub use simd::Packed;
pub use simd::{
    Swizzle2, Swizzle3, Swizzle4, f32x2, f32x3, f32x4, f64x2, f64x3, f64x4, i32x2, i32x3, i32x4,
    u32x2, u32x3, u32x4,
};
#[doc(hidden)]
pub use types::Examples;
#[doc(hidden)]
pub use types::layout;
pub use types::number::Scalar;
pub use types::{
    Atomic, AtomicElement, AtomicInteger, Constant, Element, Float, Int, KernelType, Num, ScalarArg,
};
#[doc(hidden)]
pub use types::{FixedLayout, HasFields, Means, NativeOperand, named};
pub use vector::{
    Lent, Part, PartMut, Parts, ReadBack, Reading, Vector, VectorView, VectorViewMut,
};
