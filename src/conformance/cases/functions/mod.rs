//! `#[device]` functions.

mod faults;
mod methods;
mod recursion;
mod slices;
mod values;

use crate::conformance::Case;

pub const CASES: &[&[Case]] = &[
    values::CASES,
    slices::CASES,
    methods::CASES,
    recursion::CASES,
    faults::CASES,
];
