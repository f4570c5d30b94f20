//! An operator on an array is reported once.
use sarek::prelude::*;

#[kernel]
fn wrong(y: &mut [u32]) {
    let i = global_idx_x();
    let a = [0u32; 4];
    y[i] = a + 1;
    y[i] = a / 2;
    y[i] = a << 1;
    if a == 1 {
        y[i] = 2;
    }
}

fn main() {}
