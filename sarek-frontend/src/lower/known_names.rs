//! The names that kernels know, for tests of what they mean. Numeric methods are in [`sarek_ir::numeric`].

use sarek_ir::{Builtin, SubgroupOp};

use crate::parse::StdCall;

/// The façade's functions that take nothing, ids and barriers, and those of subgroups, with whether they take a lane.
pub fn functions() -> (Vec<&'static str>, Vec<(&'static str, bool)>) {
    let ids = Builtin::ALL.iter().map(|(name, _)| *name);
    let waits = ["barrier", "block_fence", "device_fence"];
    let of_subgroups = SubgroupOp::ALL.iter();
    let of_subgroups = of_subgroups.map(|(name, op)| (*name, op.takes_lane()));
    (ids.chain(waits).collect(), of_subgroups.collect())
}

/// The supported macros: those of the standard library, `matches!` and the façade's own.
pub fn macros() -> Vec<&'static str> {
    let own = ["matches", "native", "superstep"];
    StdCall::names().chain(own).collect()
}
