//! Helpers that expansions call to build links, so that the code is not repeated in each of them.

use sarek_ir::link::{Function, Links};
use sarek_ir::print::HostPrinter;
use sarek_ir::{Prelude, TypeInfo, Value};

/// The items that a kernel or function refers to, except functions: see the fields of [`Links`].
pub type Given<const C: usize, const T: usize, const P: usize, const R: usize> = (
    [Vec<Value>; C],
    [TypeInfo; T],
    [Prelude; P],
    [HostPrinter; R],
);

/// Builds the links of a kernel or function.
pub fn links<const C: usize, const T: usize, const P: usize, const R: usize, const F: usize>(
    (constants, types, preludes, printers): Given<C, T, P, R>,
    functions: [Function; F],
) -> Links {
    Links {
        constants: constants.into(),
        types: types.into(),
        functions: functions.into(),
        preludes: preludes.into(),
        printers: printers.into(),
    }
}

/// The leaves of a constant that is one scalar.
pub fn leaf(value: Value) -> Vec<Value> {
    vec![value]
}
