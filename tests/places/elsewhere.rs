//! Functions that kernels of another file call.

use sarek::prelude::*;

/// The element at `i`, at line 8 and column 5.
#[device]
pub fn element(x: &[i32], i: usize) -> i32 {
    x[i]
}

/// Overflows at line 14, if `width` is large.
#[device]
pub fn wide(i: i32, width: i32) -> i32 {
    i * width
}
