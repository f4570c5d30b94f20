//! Faults: the error names the place, the bad access touches nothing, and the device goes
//! on working.

mod arrays;
mod division;
mod index;
mod others;
mod panics;
pub mod report;

use crate::Case;
pub use report::fault_of;

pub const CASES: &[&[Case]] = &[
    index::CASES,
    arrays::CASES,
    division::CASES,
    others::CASES,
    panics::CASES,
];
