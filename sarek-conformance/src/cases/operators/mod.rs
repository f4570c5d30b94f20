//! Every operator on every type that has it.

mod bitwise;
mod compare;
mod compound;
mod divide;
mod float;
mod integer;
mod logic;
mod precedence;
mod shift;
mod usize_;

use crate::Case;

pub const CASES: &[&[Case]] = &[
    integer::CASES,
    divide::CASES,
    bitwise::CASES,
    shift::CASES,
    compare::CASES,
    logic::CASES,
    float::CASES,
    compound::CASES,
    precedence::CASES,
    usize_::CASES,
];
