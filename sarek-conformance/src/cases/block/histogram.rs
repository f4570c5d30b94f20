//! Each block counts in shared atomics, and then adds its histogram to the global one.

use super::in_blocks;
use crate::Case;
use crate::check::{Check, ensure};
use crate::input::Random;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("block/histogram", &[], histogram),
    Case::new("block/histogram_strided", &[], strided),
];

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
        let mut expected = vec![5; BINS];
        x.iter().for_each(|v| expected[*v as usize % BINS] += 1);
        let mut bins = Vector::filled(BINS, 5);
        histogram_kernel(&Vector::from_vec(x), &mut bins)
            .grid(grid)
            .block(block)
            .run_on(device)?;
        let got = bins.to_vec()?;
        ensure(got == expected, || {
            format!("{n} in blocks of {block}: {got:?} instead of {expected:?}")
        })
    })
}

/// Each thread takes elements that are a whole grid apart.
#[kernel]
fn strided_kernel(x: &[u32], bins: &[Atomic<u32>]) {
    let own = shared_array::<Atomic<u32>, BINS>();
    let t = thread_idx_x();
    for bin in (t..BINS).step_by(block_dim_x()) {
        own[bin].store(0);
    }
    barrier();
    for i in (global_idx_x()..x.len()).step_by(global_dim_x()) {
        own[x[i] as usize % BINS].fetch_add(1);
    }
    barrier();
    for bin in (t..BINS).step_by(block_dim_x()) {
        bins[bin].fetch_add(own[bin].load());
    }
}

fn strided(device: &Device) -> Check {
    in_blocks(device, |n, _, block| {
        let x: Vec<u32> = Random::new(n as u64).values(5 * n);
        let mut expected = vec![5; BINS];
        x.iter().for_each(|v| expected[*v as usize % BINS] += 1);
        let mut bins = Vector::filled(BINS, 5);
        strided_kernel(&Vector::from_vec(x), &mut bins)
            .grid(2)
            .block(block)
            .run_on(device)?;
        let got = bins.to_vec()?;
        ensure(got == expected, || {
            format!("{n} in blocks of {block}: {got:?} instead of {expected:?}")
        })
    })
}
