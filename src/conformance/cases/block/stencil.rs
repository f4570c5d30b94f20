//! Three neighbours, through a tile with a halo.

use super::{in_blocks, small};
use crate::conformance::Case;
use crate::conformance::check::{Check, expect, poisoned};
use crate::prelude::*;

pub const CASES: &[Case] = &[Case::new("block/stencil", &[], stencil)];

#[kernel]
fn stencil_kernel(x: &[f32], y: &mut [f32]) {
    let tile = shared_slice::<f32>(block_dim_x() + 2);
    let t = thread_idx_x();
    let i = global_idx_x();
    let after = (block_idx_x() + 1) * block_dim_x();
    tile[t + 1] = if i < x.len() { x[i] } else { 0.0 };
    if t == 0 {
        tile[0] = if i > 0 { x[i - 1] } else { 0.0 };
        tile[block_dim_x() + 1] = if after < x.len() { x[after] } else { 0.0 };
    }
    barrier();
    if i < y.len() && i < x.len() {
        y[i] = tile[t] + 2.0 * tile[t + 1] - tile[t + 2];
    }
}

fn stencil(device: &Device) -> Check {
    in_blocks(device, |n, grid, block| {
        let x = small(n as u64, n);
        let at = |i: usize| x.get(i).copied().unwrap_or(0.0);
        let one = |i: usize| at(i.wrapping_sub(1)) + 2.0 * at(i) - at(i + 1);
        let due: Vec<f32> = (0..n).map(one).collect();
        let mut y = poisoned(n);
        stencil_kernel(&Vector::from_slice(&x), &mut y)
            .grid(grid)
            .block(block)
            .run_on(device)?;
        expect(&format!("{n} in blocks of {block}"), &y, &due)
    })
}
