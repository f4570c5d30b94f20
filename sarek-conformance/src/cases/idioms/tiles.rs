//! Shared arrays in which threads by one id use rows and columns, and named constants as rows and columns.

use super::blocks::{in_each_block, of_each_block};
use super::in_place;
use crate::Case;
use crate::check::Check;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("idioms/linear_tile_transposed", &[], linear),
    Case::new("idioms/linear_tile_by_bits", &[], bits),
    Case::new("idioms/tree_by_mask", &[], mask),
    Case::new("idioms/offset_subtracted", &[], offset),
    Case::new("idioms/constant_rows_of_tiles", &[], tiles),
    Case::new("idioms/first_row_of_a_block", &[], first_row),
];

/// An 8 × 8 tile by one id.
#[kernel(block = 64)]
fn linear_kernel(y: &mut [u32]) {
    let s = shared_array::<u32, 64>();
    let t = thread_idx_x();
    s[(t % 8) * 8 + t / 8] = y[global_idx_x()];
    barrier();
    y[global_idx_x()] = s[t];
}

fn transposed(y: &mut [u32]) {
    let old = y.to_vec();
    (0..64).for_each(|t| y[t % 8 * 8 + t / 8] = old[t]);
}

fn linear(device: &Device) -> Check {
    in_each_block(
        |y, blocks| linear_kernel(y).grid(blocks).run_on(device),
        transposed,
    )
}

#[kernel(block = 64)]
fn bits_kernel(y: &mut [u32]) {
    let s = shared_array::<u32, 64>();
    let t = thread_idx_x();
    let (row, col) = (t >> 3, t & 7);
    s[col << 3 | row] = y[global_idx_x()];
    barrier();
    y[global_idx_x()] = s[t];
}

fn bits(device: &Device) -> Check {
    in_each_block(
        |y, blocks| bits_kernel(y).grid(blocks).run_on(device),
        transposed,
    )
}

/// A tree whose threads are those with low bits of 0.
#[kernel(block = 64)]
fn mask_kernel(x: &[u32], y: &mut [u32]) {
    let s = shared_array::<u32, 64>();
    let (t, i) = (thread_idx_x(), global_idx_x());
    s[t] = if i < x.len() { x[i] } else { 0 };
    let mut apart = 1;
    while apart < 64 {
        barrier();
        if t & (2 * apart - 1) == 0 {
            s[t] += s[t + apart];
        }
        apart *= 2;
    }
    barrier();
    if t == 0 {
        y[block_idx_x()] = s[0];
    }
}

fn mask(device: &Device) -> Check {
    of_each_block(
        |x, y, blocks| mask_kernel(x, y).grid(blocks).run_on(device),
        |x| x.iter().sum(),
    )
}

/// Two halves of an array, each begun at an offset that is subtracted from the other one.
#[kernel(block = 64)]
fn offset_kernel(y: &mut [u32]) {
    let s = shared_array::<u32, 128>();
    let t = thread_idx_x();
    s[t] = y[global_idx_x()];
    let mut from = 0;
    let mut far = 1;
    while far < 64 {
        barrier();
        let to = 64 - from;
        s[to + t] = s[from + t] + if t >= far { s[from + t - far] } else { 0 };
        from = to;
        far *= 2;
    }
    barrier();
    y[global_idx_x()] = s[from + t];
}

fn offset(device: &Device) -> Check {
    in_each_block(
        |y, blocks| offset_kernel(y).grid(blocks).run_on(device),
        |y| (1..64).for_each(|i| y[i] += y[i - 1]),
    )
}

const HEIGHT: usize = 4;
const WIDTH: usize = 16;

/// Tiles one after the other, each in rows.
#[kernel(block = (16, 4))]
fn tiles_kernel(y: &mut [u32]) {
    let (row, col) = (thread_idx_y(), thread_idx_x());
    let at = (block_idx_x() * HEIGHT + row) * WIDTH + col;
    y[at] += (row * 100 + col) as u32;
}

fn tiles(device: &Device) -> Check {
    in_each_block(
        |y, blocks| tiles_kernel(y).grid((blocks, 1)).run_on(device),
        |y| (0..64).for_each(|t| y[t] += (t / WIDTH * 100 + t % WIDTH) as u32),
    )
}

/// Only the threads of the first row store, and the block has several rows.
#[kernel(block = (8, 4))]
fn first_row_kernel(y: &mut [u32]) {
    let (c, r) = (thread_idx_x(), thread_idx_y());
    if r == 0 && c < 4 {
        y[4 * block_idx_x() + c] += c as u32;
    }
}

fn first_row(device: &Device) -> Check {
    for blocks in [1, 3] {
        let run = |y: &mut Vector<u32>| first_row_kernel(y).grid((blocks, 1)).run_on(device);
        in_place("first row", 4 * blocks, run, |y| {
            (0..4 * blocks).for_each(|i| y[i] += i as u32 % 4);
        })?;
    }
    Ok(())
}
