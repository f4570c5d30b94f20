//! Both threads of a pair move its elements.

use sarek::prelude::*;

#[kernel]
fn wrong(y: &mut [u32]) {
    let i = global_idx_x();
    if i < y.len() {
        let other = y.len() - 1 - i;
        let kept = y[other];
        y[other] = y[i];
        y[i] = kept;
    }
}

fn main() {}
