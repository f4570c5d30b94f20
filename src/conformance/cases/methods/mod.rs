//! Every numeric method on every type that has it.

mod bits;
mod checked;
mod clamp;
mod elementary;
mod elementary_pairs;
mod float_exact;
mod float_pairs;
mod integers;
mod logarithms;
mod mul_add;
mod multiples;
mod pow;
mod rotations;
mod saturating;
mod signed;
mod sizes;
mod wrapping;

use crate::conformance::Case;

pub const CASES: &[&[Case]] = &[
    bits::CASES,
    multiples::CASES,
    rotations::CASES,
    checked::CASES,
    integers::CASES,
    logarithms::CASES,
    wrapping::CASES,
    saturating::CASES,
    signed::CASES,
    sizes::CASES,
    clamp::CASES,
    pow::CASES,
    float_exact::CASES,
    float_pairs::CASES,
    mul_add::CASES,
    elementary::CASES,
    elementary_pairs::CASES,
];
