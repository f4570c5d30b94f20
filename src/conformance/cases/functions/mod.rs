//! `#[device]` functions.

mod values;

use crate::conformance::Case;

pub const CASES: &[&[Case]] = &[values::CASES];
