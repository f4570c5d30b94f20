//! The inclusive prefix sum of each block by Hillis and Steele, between two arrays, and between two halves of one array that swap roles.

use super::in_blocks;
use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use crate::input::Random;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("block/scan", &[], scan),
    Case::new("block/scan_between_halves", &[], scan_between_halves),
];

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

#[kernel]
fn scan_between_halves_kernel(x: &[u32], y: &mut [u32]) {
    let halves = shared_array::<u32, 2048>();
    let t = thread_idx_x();
    let i = global_idx_x();
    let n = block_dim_x();
    let mut out = 0;
    halves[t] = if i < x.len() { x[i] } else { 0 };
    barrier();
    let mut d = 1;
    while d < block_dim_x() {
        out = 1 - out;
        let (to, from) = (out * n + t, (1 - out) * n + t);
        halves[to] = halves[from];
        if t >= d {
            halves[to] = halves[to].wrapping_add(halves[from - d]);
        }
        barrier();
        d *= 2;
    }
    if i < x.len() {
        y[i] = halves[out * n + t];
    }
}

fn scan(device: &Device) -> Check {
    scans(device, |x, y, grid, block| {
        scan_kernel(x, y).grid(grid).block(block).run_on(device)
    })
}

fn scan_between_halves(device: &Device) -> Check {
    scans(device, |x, y, grid, block| {
        scan_between_halves_kernel(x, y)
            .grid(grid)
            .block(block)
            .run_on(device)
    })
}

fn scans(
    device: &Device,
    run: impl Fn(&Vector<u32>, &mut Vector<u32>, usize, usize) -> sarek::Result<()>,
) -> Check {
    in_blocks(device, |n, grid, block| {
        let x: Vec<u32> = Random::new(n as u64).values(n);
        let mut expected = vec![];
        for chunk in x.chunks(block) {
            let mut sum = 0u32;
            expected.extend(chunk.iter().map(|v| {
                sum = sum.wrapping_add(*v);
                sum
            }));
        }
        let mut y = sentinel_filled(n);
        run(&Vector::from_vec(x), &mut y, grid, block)?;
        expect(&format!("{n} in blocks of {block}"), &y, &expected)
    })
}
