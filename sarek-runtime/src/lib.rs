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
pub use types::{Element, KernelType};
pub use vector::{Vector, VectorView, VectorViewMut};
