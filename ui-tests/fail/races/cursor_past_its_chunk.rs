//! Two elements for each thread, of which three are written.

use sarek::prelude::*;

#[kernel]
fn wrong(y: &mut [u32]) {
    let mut at = 2 * global_idx_x();
    let mut left = 3;
    while left > 0 {
        y[at] = left;
        at += 1;
        left -= 1;
    }
}

fn main() {}
