//! What a program with kernels imports: `use sarek::prelude::*;`.

pub use sarek_macros::{kernel, native};
pub use sarek_runtime::direct::Float;
pub use sarek_runtime::direct::ids::*;
pub use sarek_runtime::{Atomic, Device, Stream, Vector};
