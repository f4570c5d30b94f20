//! Row and column by one width, put together by another.

use sarek::prelude::*;

#[kernel]
fn wrong(w: usize, y: &mut [u32]) {
    let i = global_idx_x();
    let (row, col) = (i / (w + 1), i % (w + 1));
    y[row * w + col] = 1;
}

fn main() {}
