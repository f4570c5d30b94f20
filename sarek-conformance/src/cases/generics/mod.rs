//! Kernels that are generic over types and constants.

mod arrays;
mod numbers;
mod opaque;
mod tables;

use crate::Case;

pub const CASES: &[&[Case]] = &[arrays::CASES, numbers::CASES, opaque::CASES, tables::CASES];
