//! The constant is smaller than the block is wide.

use sarek::prelude::*;

const WIDTH: usize = 31;

#[kernel(block = 32)]
fn wrong(y: &mut [u32]) {
    y[WIDTH * block_idx_x() + thread_idx_x()] = 1;
}

fn main() {}
