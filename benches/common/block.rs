//! The kernels with shared memory and barriers, and one that computes mostly exponentials.

use sarek::prelude::*;

use super::kernels::SOFTENING;

/// The number of rows and of columns of a tile.
pub const TILE: usize = 16;
/// The number of threads in a one-dimensional block.
pub const BLOCK: usize = 256;
/// The number of counters of a histogram.
pub const BINS: usize = 256;
/// The number of exponentials that each thread adds.
pub const TERMS: u32 = 16;

/// Like [`matmul`](super::kernels::matmul), with tiles of both factors in shared memory.
#[kernel(block = (16, 16))]
pub fn tiled_matmul(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
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

/// The sum of each block's elements, by a tree reduction.
#[kernel(block = 256)]
pub fn tree_sum(x: &[f32], sums: &mut [f32]) {
    let tile = shared_array::<f32, BLOCK>();
    let t = thread_idx_x();
    let i = global_idx_x();
    tile[t] = if i < x.len() { x[i] } else { 0.0 };
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

/// Like [`transpose`](super::kernels::transpose), through padded tiles.
#[kernel(block = (16, 16))]
pub fn tiled_transpose(width: usize, height: usize, input: &[f32], output: &mut [f32]) {
    let tile = shared_array::<[f32; 17], TILE>();
    let tx = thread_idx_x();
    let ty = thread_idx_y();
    let x = global_idx_x();
    let y = global_idx_y();
    if x < width && y < height {
        tile[ty][tx] = input[y * width + x];
    }
    barrier();
    let x = block_idx_y() * TILE + tx;
    let y = block_idx_x() * TILE + ty;
    if x < height && y < width {
        output[y * height + x] = tile[tx][ty];
    }
}

/// A histogram of the low bits. Each block counts its elements in shared memory, then adds its counts to the result. The elements of a block
/// are contiguous.
#[kernel(block = 256)]
pub fn histogram(x: &[u32], bins: &[Atomic<u32>]) {
    let own = shared_array::<Atomic<u32>, BINS>();
    let t = thread_idx_x();
    own[t].store(0);
    barrier();
    let piece = x.len().div_ceil(grid_dim_x());
    let first = block_idx_x() * piece;
    let end = x.len().min(first + piece);
    let mut i = first + t;
    while i < end {
        own[x[i] as usize % BINS].fetch_add(1);
        i += BLOCK;
    }
    barrier();
    bins[t].fetch_add(own[t].load());
}

/// Like [`histogram`], with a grid-stride loop: the elements of a thread are as far apart as there are threads.
#[kernel(block = 256)]
pub fn strided_histogram(x: &[u32], bins: &[Atomic<u32>]) {
    let own = shared_array::<Atomic<u32>, BINS>();
    let t = thread_idx_x();
    own[t].store(0);
    barrier();
    let mut i = global_idx_x();
    while i < x.len() {
        own[x[i] as usize % BINS].fetch_add(1);
        i += grid_dim_x() * BLOCK;
    }
    barrier();
    bins[t].fetch_add(own[t].load());
}

/// Like [`accelerations`](super::kernels::accelerations), with tiles of bodies in shared memory.
#[kernel(block = 256)]
pub fn tiled_accelerations(bodies: &[f32], result: &mut [f32]) {
    let tile = shared_array::<[f32; 4], BLOCK>();
    let t = thread_idx_x();
    let i = global_idx_x();
    let n = bodies.len() / 4;
    let mut x = 0.0;
    let mut y = 0.0;
    let mut z = 0.0;
    if i < n {
        x = bodies[4 * i];
        y = bodies[4 * i + 1];
        z = bodies[4 * i + 2];
    }
    let mut ax = 0.0;
    let mut ay = 0.0;
    let mut az = 0.0;
    let mut first = 0;
    while first < n {
        let j = first + t;
        if j < n {
            tile[t][0] = bodies[4 * j];
            tile[t][1] = bodies[4 * j + 1];
            tile[t][2] = bodies[4 * j + 2];
            tile[t][3] = bodies[4 * j + 3];
        }
        barrier();
        for k in 0..BLOCK.min(n - first) {
            let dx = tile[k][0] - x;
            let dy = tile[k][1] - y;
            let dz = tile[k][2] - z;
            let inverse = (dx * dx + dy * dy + dz * dz + SOFTENING).rsqrt();
            let scale = tile[k][3] * inverse * inverse * inverse;
            ax += dx * scale;
            ay += dy * scale;
            az += dz * scale;
        }
        barrier();
        first += BLOCK;
    }
    if i < n {
        result[3 * i] = ax;
        result[3 * i + 1] = ay;
        result[3 * i + 2] = az;
    }
}

/// A sum of exponentials.
#[kernel]
pub fn exp_sum(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    if i < x.len() {
        let mut sum = 0.0;
        for k in 0..TERMS {
            sum += (-x[i] * k as f32).exp();
        }
        y[i] = sum;
    }
}
