//! Strided views of vectors.

mod elements;
mod faults;
mod given;
mod tiles;

use crate::Case;

pub const CASES: &[&[Case]] = &[elements::CASES, tiles::CASES, faults::CASES, given::CASES];

/// Shapes, some of them odd.
const SHAPES: [(usize, usize); 6] = [(1, 1), (3, 5), (16, 16), (33, 17), (1, 70), (40, 1)];
