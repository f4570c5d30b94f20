//! Resolves names: paths, constants, generic parameters, and the audits by which rustc confirms each recognized name.

pub(super) mod method_audit;
pub(super) mod name_audit;
pub(super) mod parameter;
pub(super) mod path;
pub(super) mod suggest;
