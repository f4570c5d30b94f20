//! Kernels that are generic over types and constants.

mod numbers;
mod opaque;

use crate::conformance::Case;

pub const CASES: &[&[Case]] = &[numbers::CASES, opaque::CASES];
