//! A chunk whose range includes the first element of the next chunk.

use sarek::prelude::*;

#[kernel]
fn wrong(per: usize, y: &mut [u32]) {
    let first = per * global_idx_x();
    for at in first..=first + per {
        y[at] = 1;
    }
}

fn main() {}
