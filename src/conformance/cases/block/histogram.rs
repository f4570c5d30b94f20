//! A histogram of each block in shared atomics, added to one of the launch in global ones.

use super::in_blocks;
use crate::conformance::Case;
use crate::conformance::check::{Check, ensure};
use crate::conformance::input::Random;
use crate::prelude::*;

pub const CASES: &[Case] = &[Case::new("block/histogram", &[], histogram)];

const BINS: usize = 37;

#[kernel]
fn histogram_kernel(x: &[u32], bins: &[Atomic<u32>]) {
    let own = shared_array::<Atomic<u32>, BINS>();
    let t = thread_idx_x();
    let i = global_idx_x();
    let mut bin = t;
    while bin < own.len() {
        own[bin].store(0);
        bin += block_dim_x();
    }
    barrier();
    if i < x.len() {
        own[x[i] as usize % BINS].fetch_add(1);
    }
    barrier();
    let mut bin = t;
    while bin < own.len() {
        bins[bin].fetch_add(own[bin].load());
        bin += block_dim_x();
    }
}

fn histogram(device: &Device) -> Check {
    in_blocks(device, |n, grid, block| {
        let x: Vec<u32> = Random::new(n as u64).values(n);
        let mut due = vec![5; BINS];
        x.iter().for_each(|v| due[*v as usize % BINS] += 1);
        let mut bins = Vector::filled(BINS, 5);
        histogram_kernel(&Vector::from_vec(x), &mut bins)
            .grid(grid)
            .block(block)
            .run_on(device)?;
        let got = bins.to_vec()?;
        ensure(got == due, || {
            format!("{n} in blocks of {block}: {got:?} instead of {due:?}")
        })
    })
}
