//! What expansions tell of constants, types and functions, made here and not by each of them.

use sarek_ir::link::{Function, Links};
use sarek_ir::print::HostPrinter;
use sarek_ir::{Prelude, TypeInfo, Value};

/// What a kernel or function names, but for functions: see the fields of [`Links`].
pub type Given<const C: usize, const T: usize, const P: usize, const R: usize> = (
    [Vec<Value>; C],
    [TypeInfo; T],
    [Prelude; P],
    [HostPrinter; R],
);

/// The links of a kernel or function.
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

/// A constant of one scalar.
pub fn leaf(value: Value) -> Vec<Value> {
    vec![value]
}
