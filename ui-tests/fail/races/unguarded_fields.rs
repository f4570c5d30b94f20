//! A structure of arrays, without a guard on the number of items.

use sarek::prelude::*;

#[kernel]
fn wrong(n: usize, state: &mut [u32]) {
    let i = global_idx_x();
    state[i] = 1;
    state[n + i] = 2;
}

fn main() {}
