//! A tiled product of matrices.

use super::small;
use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[Case::new("block/matmul", &[], matmul)];

const TILE: usize = 8;

#[kernel(block = (8, 8))]
fn matmul_kernel(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    let ta = shared_array::<[f32; TILE], TILE>();
    let tb = shared_array::<[f32; TILE], TILE>();
    let tx = thread_idx_x();
    let ty = thread_idx_y();
    let col = global_idx_x();
    let row = global_idx_y();
    let mut sum = 0.0;
    let mut first = 0;
    while first < n {
        ta[ty][tx] = if row < n && first + tx < n {
            a[row * n + first + tx]
        } else {
            0.0
        };
        tb[ty][tx] = if col < n && first + ty < n {
            b[(first + ty) * n + col]
        } else {
            0.0
        };
        barrier();
        for k in 0..TILE {
            sum += ta[ty][k] * tb[k][tx];
        }
        barrier();
        first += TILE;
    }
    if row < n && col < n {
        c[row * n + col] = sum;
    }
}

fn matmul(device: &Device) -> Check {
    for n in [1, 8, 9, 33] {
        let (a, b) = (small(1, n * n), small(2, n * n));
        let at = |i: usize| (0..n).map(|k| a[i / n * n + k] * b[k * n + i % n]).sum();
        let expected: Vec<f32> = (0..n * n).map(at).collect();
        let mut c = sentinel_filled(n * n);
        let grid = n.div_ceil(TILE);
        matmul_kernel(n, &Vector::from_slice(&a), &Vector::from_slice(&b), &mut c)
            .grid((grid, grid))
            .run_on(device)?;
        expect(&format!("{n} x {n}"), &c, &expected)?;
    }
    Ok(())
}
