//! Every numeric method on every type that has it.

mod bits;
mod bounded;
mod carries;
mod checked;
mod clamp;
mod elementary;
mod elementary_pairs;
mod float_exact;
mod float_pairs;
mod float_rest;
mod integers;
mod logarithms;
mod mixed_signs;
mod mul_add;
mod multiples;
mod neighbours;
mod pow;
mod powers;
mod rotations;
mod saturating;
mod signed;
mod signed_diff;
mod sizes;
mod wrapping;

use crate::Case;

pub const CASES: &[&[Case]] = &[
    bits::CASES,
    multiples::CASES,
    rotations::CASES,
    checked::CASES,
    carries::CASES,
    integers::CASES,
    powers::CASES,
    bounded::CASES,
    mixed_signs::CASES,
    logarithms::CASES,
    wrapping::CASES,
    saturating::CASES,
    signed::CASES,
    signed_diff::CASES,
    sizes::CASES,
    clamp::CASES,
    pow::CASES,
    float_exact::CASES,
    float_pairs::CASES,
    float_rest::CASES,
    mul_add::CASES,
    neighbours::CASES,
    elementary::CASES,
    elementary_pairs::CASES,
];
