//! The backend interface, and run-time registries for backends and users.

pub mod backend;
pub mod claims;
pub mod environment;
pub mod intrinsic;
pub mod tag;
