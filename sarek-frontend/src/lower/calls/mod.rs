//! Lowers calls of functions, methods, closures and callables.

pub(super) mod associated;
pub(super) mod call;
pub(super) mod call_args;
pub(super) mod callable;
pub(super) mod callee;
pub(super) mod closure;
pub(super) mod device;
pub(super) mod instantiate;
pub(super) mod intrinsic;
pub(super) mod method;
pub(super) mod option_closures;
pub(super) mod option_result;
pub(super) mod std_functions;
