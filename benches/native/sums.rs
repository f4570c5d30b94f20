//! Kernels of sums and prefix sums, as written for GPUs.

use sarek::prelude::*;

use crate::common::block::BLOCK;

/// The number of blocks of a sum of all elements.
pub const PARTS: usize = 128;

/// The parts of a dot product: each block adds products a grid apart, then by a tree.
#[kernel(block = 256)]
pub fn dot(a: &[f32], b: &[f32], sums: &mut [f32]) {
    let tile = shared_array::<f32, BLOCK>();
    let t = thread_idx_x();
    let mut sum = 0.0;
    let mut i = global_idx_x();
    while i < a.len() {
        sum += a[i] * b[i];
        i += grid_dim_x() * BLOCK;
    }
    tile[t] = sum;
    barrier();
    let mut half = BLOCK / 2;
    while half > 0 {
        if t < half {
            tile[t] += tile[t + half];
        }
        barrier();
        half /= 2;
    }
    if t == 0 {
        sums[block_idx_x()] = tile[0];
    }
}

/// The parts of a sum: each block adds a contiguous piece, then by a tree.
#[kernel(block = 256)]
pub fn reduce(x: &[f32], sums: &mut [f32]) {
    let tile = shared_array::<f32, BLOCK>();
    let t = thread_idx_x();
    let piece = x.len().div_ceil(grid_dim_x());
    let first = block_idx_x() * piece;
    let end = x.len().min(first + piece);
    let mut sum = 0.0;
    let mut i = first + t;
    while i < end {
        sum += x[i];
        i += BLOCK;
    }
    tile[t] = sum;
    barrier();
    let mut half = BLOCK / 2;
    while half > 0 {
        if t < half {
            tile[t] += tile[t + half];
        }
        barrier();
        half /= 2;
    }
    if t == 0 {
        sums[block_idx_x()] = tile[0];
    }
}

/// The inclusive prefix sums of each block, by Hillis and Steele between two arrays.
#[kernel(block = 256)]
pub fn scan(x: &[f32], y: &mut [f32]) {
    let from = shared_array::<f32, BLOCK>();
    let to = shared_array::<f32, BLOCK>();
    let t = thread_idx_x();
    let i = global_idx_x();
    from[t] = if i < x.len() { x[i] } else { 0.0 };
    barrier();
    let mut d = 1;
    while d < BLOCK {
        to[t] = if t >= d {
            from[t] + from[t - d]
        } else {
            from[t]
        };
        barrier();
        from[t] = to[t];
        barrier();
        d *= 2;
    }
    if i < y.len() {
        y[i] = from[t];
    }
}

/// [`scan`] in one array, with the values kept between two barriers.
#[kernel(block = 256)]
pub fn scan_in_place(x: &[f32], y: &mut [f32]) {
    let tile = shared_array::<f32, BLOCK>();
    let t = thread_idx_x();
    let i = global_idx_x();
    tile[t] = if i < x.len() { x[i] } else { 0.0 };
    barrier();
    let mut d = 1;
    while d < BLOCK {
        let mut other = 0.0;
        if t >= d {
            other = tile[t - d];
        }
        barrier();
        tile[t] += other;
        barrier();
        d *= 2;
    }
    if i < y.len() {
        y[i] = tile[t];
    }
}

/// The inclusive prefix sums of each block by Blelloch: sums up a tree, then down. 128 of 256 threads work.
#[kernel(block = 256)]
pub fn scan_by_tree(x: &[f32], y: &mut [f32]) {
    let tile = shared_array::<f32, BLOCK>();
    let t = thread_idx_x();
    let i = global_idx_x();
    let own = if i < x.len() { x[i] } else { 0.0 };
    tile[t] = own;
    barrier();
    let mut d = 1;
    while d < BLOCK {
        let at = (t + 1) * 2 * d - 1;
        if at < BLOCK {
            tile[at] += tile[at - d];
        }
        barrier();
        d *= 2;
    }
    if t == 0 {
        tile[BLOCK - 1] = 0.0;
    }
    barrier();
    let mut d = BLOCK / 2;
    while d > 0 {
        let at = (t + 1) * 2 * d - 1;
        if at < BLOCK {
            let left = tile[at - d];
            tile[at - d] = tile[at];
            tile[at] += left;
        }
        barrier();
        d /= 2;
    }
    if i < y.len() {
        y[i] = tile[t] + own;
    }
}
