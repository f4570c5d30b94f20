//! Vectors, devices, launches, and the interface that a backend implements.

mod atomic;
pub mod backend;
mod device;
pub mod direct;
mod error;
mod fault;
mod function;
mod kernel;
mod launch;
#[doc(hidden)]
pub mod layout;
mod number;
mod packed;
mod sync;
#[cfg(test)]
mod testing;
mod types;
mod vector;

pub use atomic::{Atomic, AtomicElement, AtomicInteger};
pub use device::{Device, Event, Stream, registry};
pub use error::{Error, Fault, FaultKind, Result};
pub use function::DeviceFn;
pub use kernel::{Kernel, KernelDef, ScalarArg};
#[doc(hidden)]
pub use kernel::{native, no_fallback};
#[cfg(feature = "reference")]
#[doc(hidden)]
pub use launch::called;
pub use launch::{Arg, Dims, FixedBlock, FreeBlock, Grid, IntoDims, Launch, Ready};
pub use number::{Float, Int, Num, Scalar};
#[doc(hidden)]
pub use packed::Packed;
pub use packed::{
    Swizzle2, Swizzle3, Swizzle4, f32x2, f32x3, f32x4, f64x2, f64x3, f64x4, i32x2, i32x3, i32x4,
    u32x2, u32x3, u32x4,
};
pub use types::{Element, KernelType};
pub use vector::Vector;
