//! A range whose step is smaller than the number of threads.

use sarek::prelude::*;

#[kernel]
fn wrong(y: &mut [u32]) {
    for i in (global_idx_x()..y.len()).step_by(global_dim_x() / 2 + 1) {
        y[i] = 1;
    }
}

fn main() {}
