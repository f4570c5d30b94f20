//! Vectors, devices, launches, and the interface that a backend implements.

pub mod backend;
pub mod direct;
mod error;
mod kernel;

pub use error::{Error, Fault, FaultKind, Result};
pub use kernel::{Element, Kernel, KernelDef, ScalarArg};
