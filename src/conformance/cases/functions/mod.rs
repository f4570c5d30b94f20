//! `#[device]` functions.

mod arrays;
mod closures;
mod faults;
mod methods;
mod recursion;
mod slices;
mod together;
mod values;

use crate::conformance::Case;

pub const CASES: &[&[Case]] = &[
    arrays::CASES,
    closures::CASES,
    values::CASES,
    slices::CASES,
    together::CASES,
    methods::CASES,
    recursion::CASES,
    faults::CASES,
];
