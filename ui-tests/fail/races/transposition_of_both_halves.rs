//! The threads on both sides of the diagonal swap the same elements.

use sarek::prelude::*;

#[kernel]
fn wrong(n: usize, a: &mut [u32]) {
    let (col, row) = (global_idx_x(), global_idx_y());
    if col < n && row < n {
        a.swap(row * n + col, col * n + row);
    }
}

fn main() {}
