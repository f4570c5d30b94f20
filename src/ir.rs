//! The representation of kernels that backends get.
//!
//! A [`Kernel`] prints in a textual form: `println!("{}", saxpy::ir())`. A backend for a language
//! that drivers compile has a [`write::Dialect`], or derives one by [`write::Derived`]. The crate
//! `sarek-ir` has the whole of it, for backends that translate each node themselves.

pub use sarek_ir::{
    Access, AtomicOp, Axis, BinaryOp, DivideOp, Intrinsic, Kernel, Param, ParamId, ParamKind,
    Scalar, Scope, SubgroupOp, UnaryOp, Value,
};
pub use sarek_ir::{interp, operators, write};
