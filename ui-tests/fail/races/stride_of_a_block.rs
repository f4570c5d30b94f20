//! Several blocks, whose threads go on by the width of one block.

use sarek::prelude::*;

#[kernel]
fn wrong(y: &mut [u32]) {
    let mut i = global_idx_x();
    while i < y.len() {
        y[i] += 1;
        i += block_dim_x();
    }
}

fn main() {}
