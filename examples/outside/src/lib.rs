//! Backends that stand outside of sarek's workspace, and use its public items alone.
//!
//! [`mxu`] takes the hard path: storages, a schedule, an intrinsic, a dialect and an environment of its own.
//! [`stack`] has the execution model `Custom`: it takes the IR of kernels, and runs neither text nor compiled Rust.

pub mod mxu;
pub mod stack;
