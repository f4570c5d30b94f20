//! A stencil of three neighbours, through a tile with a halo.

use super::{in_blocks, small};
use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("block/stencil", &[], stencil),
    Case::new("block/stencil_of_any_radius", &[], of_any_radius),
];

/// Distance of the farthest neighbours. The kernel's macro sees only the name of the constant, not its value.
const RADIUS: usize = 3;

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
        let expected: Vec<f32> = (0..n).map(one).collect();
        let mut y = sentinel_filled(n);
        stencil_kernel(&Vector::from_slice(&x), &mut y)
            .grid(grid)
            .block(block)
            .run_on(device)?;
        expect(&format!("{n} in blocks of {block}"), &y, &expected)
    })
}

/// Sums the neighbours up to `RADIUS` away; the first `RADIUS` threads also load both parts of the halo.
#[kernel(block = 64)]
fn of_any_radius_kernel(x: &[f32], y: &mut [f32]) {
    let tile = shared_array::<f32, { 64 + 2 * RADIUS }>();
    let (t, i) = (thread_idx_x(), global_idx_x());
    tile[t + RADIUS] = if i < x.len() { x[i] } else { 0.0 };
    if t < RADIUS {
        tile[t] = if i >= RADIUS && i - RADIUS < x.len() {
            x[i - RADIUS]
        } else {
            0.0
        };
        tile[t + 64 + RADIUS] = if i + 64 < x.len() { x[i + 64] } else { 0.0 };
    }
    barrier();
    let mut sum = 0.0;
    for k in 0..2 * RADIUS + 1 {
        sum += tile[t + k];
    }
    if i < y.len() && i < x.len() {
        y[i] = sum;
    }
}

fn of_any_radius(device: &Device) -> Check {
    for n in [1, 63, 64, 65, 200] {
        let x = small(n as u64, n);
        let sum = |i: usize| -> f32 {
            let from = i.saturating_sub(RADIUS);
            x[from..n.min(i + RADIUS + 1)].iter().sum()
        };
        let expected: Vec<f32> = (0..n).map(sum).collect();
        let mut y = sentinel_filled(n);
        of_any_radius_kernel(&Vector::from_slice(&x), &mut y)
            .grid(n.div_ceil(64))
            .run_on(device)?;
        expect(&format!("{n}"), &y, &expected)?;
    }
    Ok(())
}
