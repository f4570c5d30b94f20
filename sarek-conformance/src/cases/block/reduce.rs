//! Tree reductions in each block: sums, maxima and dot products.

use super::{in_blocks, small};
use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use crate::input::Random;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("block/reduce_sum", &[], sum),
    Case::new("block/reduce_max", &[], max),
    Case::new("block/reduce_dot", &[], dot),
];

#[kernel]
fn sum_kernel(x: &[u32], out: &mut [u32]) {
    let tile = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    let i = global_idx_x();
    tile[t] = if i < x.len() { x[i] } else { 0 };
    barrier();
    let mut n = block_dim_x();
    while n > 1 {
        let half = (n + 1) / 2;
        if t < half && t + half < n {
            tile[t] = tile[t].wrapping_add(tile[t + half]);
        }
        barrier();
        n = half;
    }
    if t == 0 {
        out[block_idx_x()] = tile[0];
    }
}

#[kernel]
fn max_kernel(x: &[i32], out: &mut [i32]) {
    let tile = shared_slice::<i32>(block_dim_x());
    let t = thread_idx_x();
    let i = global_idx_x();
    tile[t] = if i < x.len() { x[i] } else { i32::MIN };
    barrier();
    let mut n = block_dim_x();
    while n > 1 {
        let half = (n + 1) / 2;
        if t < half && t + half < n {
            tile[t] = tile[t].max(tile[t + half]);
        }
        n = half;
        barrier();
    }
    if t == 0 {
        out[block_idx_x()] = tile[0];
    }
}

#[kernel]
fn dot_kernel(x: &[f32], y: &[f32], out: &mut [f32]) {
    let tile = shared_array::<f32, 1024>();
    let t = thread_idx_x();
    let i = global_idx_x();
    superstep! {
        let own = if i < x.len() { x[i] * y[i] } else { 0.0 };
        tile[t] = own;
    }
    let mut n = block_dim_x();
    while n > 1 {
        let half = (n + 1) / 2;
        superstep! {
            if t < half && t + half < n {
                tile[t] += tile[t + half];
            }
        }
        n = half;
    }
    if t == 0 {
        out[block_idx_x()] = tile[0];
    }
}

fn sum(device: &Device) -> Check {
    in_blocks(device, |n, grid, block| {
        let x: Vec<u32> = Random::new(n as u64).values(n);
        let each = x
            .chunks(block)
            .map(|c| c.iter().fold(0, |a: u32, b| a.wrapping_add(*b)));
        let expected: Vec<u32> = each.collect();
        let mut out = sentinel_filled(grid);
        sum_kernel(&Vector::from_vec(x), &mut out)
            .grid(grid)
            .block(block)
            .run_on(device)?;
        expect(&format!("{n} in blocks of {block}"), &out, &expected)
    })
}

fn max(device: &Device) -> Check {
    in_blocks(device, |n, grid, block| {
        let x: Vec<i32> = Random::new(n as u64).values(n);
        let each = x
            .chunks(block)
            .map(|c| c.iter().copied().max().unwrap_or(i32::MIN));
        let expected: Vec<i32> = each.collect();
        let mut out = sentinel_filled(grid);
        max_kernel(&Vector::from_vec(x), &mut out)
            .grid(grid)
            .block(block)
            .run_on(device)?;
        expect(&format!("{n} in blocks of {block}"), &out, &expected)
    })
}

fn dot(device: &Device) -> Check {
    in_blocks(device, |n, grid, block| {
        let (x, y) = (small(n as u64, n), small(n as u64 + 1, n));
        let products: Vec<f32> = x.iter().zip(&y).map(|(a, b)| a * b).collect();
        let expected: Vec<f32> = products
            .chunks(block)
            .map(|c| c.iter().fold(0.0, |sum, p| sum + p))
            .collect();
        let mut out = sentinel_filled(grid);
        dot_kernel(&Vector::from_vec(x), &Vector::from_vec(y), &mut out)
            .grid(grid)
            .block(block)
            .run_on(device)?;
        expect(&format!("{n} in blocks of {block}"), &out, &expected)
    })
}
