//! A kernel that a library exports and this program never calls.
#![deny(warnings)]
#![deny(missing_docs)]

use sarek::prelude::*;

/// An exported kernel.
#[kernel]
pub fn exported(x: &[f64], flag: bool, out: &mut [i64]) {
    let i = global_idx_x();
    if flag {
        out[i] = x[i] as i64;
    }
}

#[kernel]
fn private(out: &mut [u32]) {
    let i = global_idx_x();
    out[i] = 1;
}

fn main() {}
