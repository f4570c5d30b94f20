//! The interface of backends, and what backends and users register at run time.

pub mod backend;
pub mod claims;
pub mod environment;
pub mod intrinsic;
pub mod tag;
