//! Vectors, devices, launches, and the interface that a backend implements.

mod atomic;
pub mod backend;
pub mod cache;
pub mod claims;
pub mod context;
mod device;
pub mod direct;
pub mod environment;
mod error;
mod fault;
pub mod foreign;
mod fork;
mod function;
pub mod graph;
pub mod intrinsic;
mod kernel;
mod launch;
#[doc(hidden)]
pub mod layout;
mod links;
mod named;
mod native;
mod number;
mod output;
mod packed;
pub mod settings;
mod span;
mod sync;
pub mod tag;
#[cfg(test)]
mod testing;
mod types;
mod vector;
mod waiting;

pub use atomic::{Atomic, AtomicElement, AtomicInteger};
pub use device::{
    Clock, Device, Event, MemoryUse, Profile, Properties, Stream, Work, WorkKind, registry,
};
pub use error::{Error, Fault, FaultKind, Result};
pub use function::{DeviceFn, FunctionFacts, ParameterSet};
pub use graph::{Graph, Recording};
pub use intrinsic::register as register_intrinsic;
pub use kernel::{Kernel, KernelDef, ScalarArg};
#[cfg(feature = "reference")]
#[doc(hidden)]
pub use launch::called;
pub use launch::{
    Arg, Code, Dims, FixedBlock, FreeBlock, Grid, IntoDims, Launch, Ready, Shaped, Specialized,
};
#[doc(hidden)]
pub use links::{leaf, links};
#[doc(hidden)]
pub use named::{Means, named};
pub use native::NativePrelude;
#[doc(hidden)]
pub use native::{NativeOperand, native, no_fallback};
pub use number::{Float, Int, Num, Scalar};
#[doc(hidden)]
pub use output::{reset_output, set_output};
#[doc(hidden)]
pub use packed::Packed;
pub use packed::{
    Swizzle2, Swizzle3, Swizzle4, f32x2, f32x3, f32x4, f64x2, f64x3, f64x4, i32x2, i32x3, i32x4,
    u32x2, u32x3, u32x4,
};
pub use types::{Constant, Element, KernelType};
pub use vector::{
    Lent, Part, PartMut, Parts, ReadBack, Reading, Vector, VectorView, VectorViewMut,
};
pub use waiting::Passing;
