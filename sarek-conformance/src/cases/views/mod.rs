//! Strided views of vectors.

mod arguments;
mod elements;
mod faults;
mod tiles;

use crate::Case;

pub const CASES: &[&[Case]] = &[
    elements::CASES,
    tiles::CASES,
    faults::CASES,
    arguments::CASES,
];

/// Shapes, some of them odd.
const SHAPES: [(usize, usize); 6] = [(1, 1), (3, 5), (16, 16), (33, 17), (1, 70), (40, 1)];
