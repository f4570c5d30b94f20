//! `as` between all pairs of types, chains of `as`, and `From`.

mod chains;
mod from;
mod from_bool;
mod pairs;
mod usize_;

use crate::Case;

pub const CASES: &[&[Case]] = &[
    pairs::CASES,
    chains::CASES,
    from::CASES,
    from_bool::CASES,
    usize_::CASES,
];
