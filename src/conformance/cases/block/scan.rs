//! The inclusive prefix sum of each block, by Hillis and Steele, between two arrays.

use super::in_blocks;
use crate::conformance::Case;
use crate::conformance::check::{Check, expect, poisoned};
use crate::conformance::input::Random;
use crate::prelude::*;

pub const CASES: &[Case] = &[Case::new("block/scan", &[], scan)];

#[kernel]
fn scan_kernel(x: &[u32], y: &mut [u32]) {
    let from = shared_array::<u32, 1024>();
    let to = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    let i = global_idx_x();
    from[t] = if i < x.len() { x[i] } else { 0 };
    barrier();
    let mut d = 1;
    while d < block_dim_x() {
        to[t] = if t >= d {
            from[t].wrapping_add(from[t - d])
        } else {
            from[t]
        };
        barrier();
        from[t] = to[t];
        barrier();
        d *= 2;
    }
    if i < x.len() {
        y[i] = from[t];
    }
}

fn scan(device: &Device) -> Check {
    in_blocks(device, |n, grid, block| {
        let x: Vec<u32> = Random::new(n as u64).values(n);
        let mut due = vec![];
        for chunk in x.chunks(block) {
            let mut sum = 0u32;
            due.extend(chunk.iter().map(|v| {
                sum = sum.wrapping_add(*v);
                sum
            }));
        }
        let mut y = poisoned(n);
        scan_kernel(&Vector::from_vec(x), &mut y)
            .grid(grid)
            .block(block)
            .run_on(device)?;
        expect(&format!("{n} in blocks of {block}"), &y, &due)
    })
}
