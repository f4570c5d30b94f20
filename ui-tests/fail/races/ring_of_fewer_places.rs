//! The ring has one place less than there are threads.

use sarek::prelude::*;

#[kernel]
fn wrong(n: usize, by: usize, y: &mut [u32]) {
    let i = global_idx_x();
    if i < n {
        y[(i + by) % (n - 1)] = 1;
    }
}

fn main() {}
