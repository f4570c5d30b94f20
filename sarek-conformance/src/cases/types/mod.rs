//! Composite values: structs, tuples, enums, and patterns.

mod array_patterns;
mod enum_layouts;
mod enums;
mod layouts;
mod literals;
mod options;
mod patterns;
mod spheres;
mod structs;
mod tuples;

use std::fmt::Debug;

use crate::Case;
use crate::check::{Check, ensure};
use sarek::{Element, Vector};

/// The cases, by family.
pub const CASES: &[&[Case]] = &[
    structs::CASES,
    tuples::CASES,
    enums::CASES,
    enum_layouts::CASES,
    layouts::CASES,
    literals::CASES,
    options::CASES,
    patterns::CASES,
    array_patterns::CASES,
    spheres::CASES,
];

/// Numbers of threads that do not fill a block.
const COUNTS: [usize; 4] = [1, 7, 100, 259];

/// Compares a device's output with the result of the same Rust code on the host.
fn same<T: Element + PartialEq + Debug>(what: &str, got: &Vector<T>, expected: &[T]) -> Check {
    let got = got.as_slice()?;
    ensure(got.len() == expected.len(), || {
        format!("{what}: {} elements", got.len())
    })?;
    for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
        ensure(got == expected, || {
            format!("{what}: element {i} is {got:?}, and {expected:?} is expected")
        })?;
    }
    Ok(())
}
