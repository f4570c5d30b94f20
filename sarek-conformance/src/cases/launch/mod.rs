//! Index spaces: the threads that a launch runs, and their ids and extents.

mod empty;
mod folded;
mod guards;
mod ids;
mod preconditions;
mod refused;
mod spaces;

use crate::Case;

pub const CASES: &[&[Case]] = &[
    ids::CASES,
    spaces::CASES,
    empty::CASES,
    folded::CASES,
    guards::CASES,
    preconditions::CASES,
    refused::CASES,
];
