//! Control flow, scopes, and the order of evaluation.

mod branches;
mod evaluation;
mod forms;
mod guards;
mod labels;
mod loops;
mod ranges;
mod returns;
mod scopes;
mod short_circuit;
mod steps;
mod unroll;

use crate::Case;

pub const CASES: &[&[Case]] = &[
    branches::CASES,
    loops::CASES,
    ranges::CASES,
    steps::CASES,
    labels::CASES,
    forms::CASES,
    guards::CASES,
    returns::CASES,
    scopes::CASES,
    evaluation::CASES,
    short_circuit::CASES,
    unroll::CASES,
];
