//! Blocks that overlap by four, in which all but three threads store.

use sarek::prelude::*;

#[kernel(block = 16)]
fn wrong(x: &[u32], y: &mut [u32]) {
    let t = thread_idx_x();
    let i = 12 * block_idx_x() + t;
    if t >= 2 && t < 15 && i < x.len() {
        y[i] = x[i];
    }
}

fn main() {}
