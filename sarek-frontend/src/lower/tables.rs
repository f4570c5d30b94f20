//! The names that kernels support, for tests of their meaning.

use sarek_ir::{ArgType, Builtin, Intrinsic, Scalar, SubgroupOp};

use super::{checked, composed, expressed, floats};
use crate::parse::StdCall;

/// The methods of a scalar type, with the types of their arguments.
pub fn methods(on: Scalar) -> Vec<(&'static str, Vec<Scalar>)> {
    let of_devices = Intrinsic::ALL.iter().filter(|i| {
        let stands = Intrinsic::method(i.name(), on) == Some(**i);
        stands && !i.is_from_bits() && !(on.is_half() && i.is_elementary())
    });
    let of_devices = of_devices.map(|i| {
        let takes = i.args().iter().map(|arg| match arg {
            ArgType::Same => on,
            ArgType::Fixed(scalar) => *scalar,
        });
        (i.name(), takes.collect())
    });
    let others = composed::names_on(on)
        .filter(|name| !on.is_half() || ["is_sign_positive", "is_normal"].contains(name));
    let others = others.map(|name| {
        let takes = checked::takes(name)
            .or_else(|| expressed::takes(name))
            .or_else(|| floats::takes(name));
        let takes = match takes {
            Some(takes) => takes.types(on),
            None => vec![on; composed::arity(name)],
        };
        (name, takes)
    });
    of_devices.chain(others).collect()
}

/// The façade's functions without arguments (ids and barriers), and the subgroup functions, with
/// true for those that take a lane.
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
