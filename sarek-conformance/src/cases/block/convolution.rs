//! One-dimensional convolution with a mask of any odd length. All threads of the block load a tile with a halo.

use super::{in_blocks, small};
use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[Case::new("block/convolution", &[], convolution)];

/// Length of the tile: the largest block and a halo of the same size.
const TILE: usize = 2048;

#[kernel]
fn convolution_kernel(x: &[f32], mask: &[f32], y: &mut [f32]) {
    let tile = shared_array::<f32, TILE>();
    let radius = mask.len() / 2;
    let first = block_idx_x() * block_dim_x();
    let mut at = thread_idx_x();
    while at < block_dim_x() + 2 * radius {
        let i = first + at;
        tile[at] = if i >= radius && i - radius < x.len() {
            x[i - radius]
        } else {
            0.0
        };
        at += block_dim_x();
    }
    barrier();
    let mut sum = 0.0;
    for k in 0..mask.len() {
        sum += mask[k] * tile[thread_idx_x() + k];
    }
    let i = global_idx_x();
    if i < x.len() && i < y.len() {
        y[i] = sum;
    }
}

fn convolution(device: &Device) -> Check {
    for length in [1, 5, 33] {
        let radius = length / 2;
        let mask = small(length as u64, length);
        in_blocks(device, |n, grid, block| {
            let x = small(n as u64, n);
            let at = |i: usize| i.checked_sub(radius).and_then(|i| x.get(i)).unwrap_or(&0.0);
            let one = |i: usize| mask.iter().enumerate().map(|(k, m)| m * at(i + k)).sum();
            let expected: Vec<f32> = (0..n).map(one).collect();
            let mut y = sentinel_filled(n);
            let (x, mask) = (Vector::from_slice(&x), Vector::from_slice(&mask));
            convolution_kernel(&x, &mask, &mut y)
                .grid(grid)
                .block(block)
                .run_on(device)?;
            let what = format!("{n} in blocks of {block}, a mask of {length}");
            expect(&what, &y, &expected)
        })?;
    }
    Ok(())
}
