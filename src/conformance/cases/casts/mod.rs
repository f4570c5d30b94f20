//! `as` between all pairs of types, and chains of it.

mod chains;
mod from_bool;
mod pairs;
mod usize_;

use crate::conformance::Case;

pub const CASES: &[&[Case]] = &[pairs::CASES, chains::CASES, from_bool::CASES, usize_::CASES];
