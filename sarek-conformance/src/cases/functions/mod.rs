//! `#[device]` functions.

mod agreed;
mod arrays;
mod closures;
mod faults;
mod generics;
mod given;
mod inferred;
mod left_loops;
mod lent_rows;
mod lent_values;
mod matched;
mod methods;
mod named;
mod nested;
mod own_arrays;
mod parts;
mod passed_on;
mod question;
mod recursion;
mod slices;
mod together;
mod traits;
mod unnamed;
mod values;

use crate::Case;

pub const CASES: &[&[Case]] = &[
    agreed::CASES,
    arrays::CASES,
    closures::CASES,
    generics::CASES,
    given::CASES,
    parts::CASES,
    passed_on::CASES,
    question::CASES,
    traits::CASES,
    unnamed::CASES,
    values::CASES,
    slices::CASES,
    together::CASES,
    own_arrays::CASES,
    inferred::CASES,
    left_loops::CASES,
    lent_rows::CASES,
    lent_values::CASES,
    matched::CASES,
    methods::CASES,
    named::CASES,
    nested::CASES,
    recursion::CASES,
    faults::CASES,
];
