//! `#[device]` functions.

mod arrays;
mod borrowed_rows;
mod borrowed_values;
mod callable_arguments;
mod closures;
mod collective;
mod composites;
mod faults;
mod generics;
mod inferred;
mod inferred_receivers;
mod left_loops;
mod local_arrays;
mod matched;
mod methods;
mod named;
mod nested;
mod reborrowed;
mod recursion;
mod slices;
mod traits;
mod try_operator;
mod uniform_offsets;
mod values;

use crate::Case;

pub const CASES: &[&[Case]] = &[
    uniform_offsets::CASES,
    arrays::CASES,
    closures::CASES,
    generics::CASES,
    callable_arguments::CASES,
    composites::CASES,
    reborrowed::CASES,
    try_operator::CASES,
    traits::CASES,
    inferred_receivers::CASES,
    values::CASES,
    slices::CASES,
    collective::CASES,
    local_arrays::CASES,
    inferred::CASES,
    left_loops::CASES,
    borrowed_rows::CASES,
    borrowed_values::CASES,
    matched::CASES,
    methods::CASES,
    named::CASES,
    nested::CASES,
    recursion::CASES,
    faults::CASES,
];
