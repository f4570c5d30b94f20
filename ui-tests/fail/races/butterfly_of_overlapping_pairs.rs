//! The factor 2 is missing, so that pairs overlap.

use sarek::prelude::*;

#[kernel(requires(half > 0))]
fn wrong(half: usize, x: &mut [i32]) {
    let i = global_idx_x();
    let at = i / half * half + i % half;
    if at + half < x.len() {
        x[at] += x[at + half];
    }
}

fn main() {}
