//! `#[device]` functions.

mod arrays;
mod closures;
mod faults;
mod inferred;
mod methods;
mod nested;
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
    inferred::CASES,
    methods::CASES,
    nested::CASES,
    recursion::CASES,
    faults::CASES,
];
