//! Barriers under uniform conditions: all threads of a block agree on them, although they come from variables and loops.
#![deny(warnings)]

use sarek::prelude::*;

#[kernel(block = 32)]
fn guarded(steps: u32, limits: &[u32], out: &mut [u32]) {
    let tile = shared_array::<u32, 32>();
    let t = thread_idx_x();
    let mut left = steps;
    let bound = limits[block_idx_x()];
    tile[t] = 1;
    if bound > 2 && steps != 0 {
        barrier();
    }
    while left > 0 {
        barrier();
        if left % 2 == 0 {
            barrier();
        }
        left -= 1;
    }
    out[global_idx_x()] = tile[t] + left;
}

fn main() -> sarek::Result<()> {
    let limits = Vector::from_vec(vec![1, 5]);
    let mut out = Vector::zeros(64);
    guarded(3, &limits, &mut out).grid(2).run()?;
    assert_eq!(out.to_vec()?, [1; 64]);
    Ok(())
}
