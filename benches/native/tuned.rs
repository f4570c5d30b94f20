//! Kernels that are tuned for GPUs beside plain ones of the same work, both on the native device. A ratio below 1 is what the tuning costs there.

use sarek::Ready;
use sarek::prelude::*;

use crate::common::agree::{EXACT, ROUNDED, SUMMED};
use crate::common::block::{self, BLOCK, TILE};
use crate::common::runner::Work;
use crate::common::{Fallible, kernels};
use crate::{Bench, case, random};

/// [`block::tiled_matmul`], with a block that the launch gives.
#[kernel]
fn given_block(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    let ta = shared_array::<[f32; TILE], TILE>();
    let tb = shared_array::<[f32; TILE], TILE>();
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let (col, row) = (global_idx_x(), global_idx_y());
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

/// Tiles at multiples of their size, for sizes that are such multiples.
#[kernel(block = (16, 16))]
fn stepped_tiles(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    let ta = shared_array::<[f32; TILE], TILE>();
    let tb = shared_array::<[f32; TILE], TILE>();
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let (col, row) = (global_idx_x(), global_idx_y());
    let mut sum = 0.0;
    for first in (0..n).step_by(TILE) {
        ta[ty][tx] = a[row * n + first + tx];
        tb[ty][tx] = b[(first + ty) * n + col];
        barrier();
        for k in 0..TILE {
            sum += ta[ty][k] * tb[k][tx];
        }
        barrier();
    }
    if row < n && col < n {
        c[row * n + col] = sum;
    }
}

/// Tiles of 128 × 128, with 8 × 8 elements for each thread.
#[kernel(block = (16, 16))]
unsafe fn register_tiles(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    let ta = shared_array::<[f32; 128], 8>();
    let tb = shared_array::<[f32; 128], 8>();
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let t = ty * 16 + tx;
    let (row, col) = (block_idx_y() * 128, block_idx_x() * 128);
    let mut sums = [[0.0f32; 8]; 8];
    for first in (0..n).step_by(8) {
        for part in 0..4 {
            let e = part * 256 + t;
            ta[e % 8][e / 8] = a[(row + e / 8) * n + first + e % 8];
            tb[e / 128][e % 128] = b[(first + e / 128) * n + col + e % 128];
        }
        barrier();
        for k in 0..8 {
            let mut left = [0.0f32; 8];
            let mut right = [0.0f32; 8];
            for i in 0..8 {
                left[i] = ta[k][ty * 8 + i];
                right[i] = tb[k][tx * 8 + i];
            }
            for i in 0..8 {
                for j in 0..8 {
                    sums[i][j] += left[i] * right[j];
                }
            }
        }
        barrier();
    }
    for i in 0..8 {
        for j in 0..8 {
            c[(row + ty * 8 + i) * n + col + tx * 8 + j] = sums[i][j];
        }
    }
}

/// Tiles of 8 × 8, for sizes that are multiples of it.
#[kernel(block = (8, 8))]
fn small_tiles(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    let ta = shared_array::<[f32; 8], 8>();
    let tb = shared_array::<[f32; 8], 8>();
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let (col, row) = (global_idx_x(), global_idx_y());
    let mut sum = 0.0;
    for tile in 0..n / 8 {
        ta[ty][tx] = a[row * n + tile * 8 + tx];
        tb[ty][tx] = b[(tile * 8 + ty) * n + col];
        barrier();
        for k in 0..8 {
            sum += ta[ty][k] * tb[k][tx];
        }
        barrier();
    }
    if row < n && col < n {
        c[row * n + col] = sum;
    }
}

/// [`small_tiles`], with a block that the launch gives.
#[kernel]
fn given_small_tiles(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    let ta = shared_array::<[f32; 8], 8>();
    let tb = shared_array::<[f32; 8], 8>();
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let (col, row) = (global_idx_x(), global_idx_y());
    let mut sum = 0.0;
    for tile in 0..n / 8 {
        ta[ty][tx] = a[row * n + tile * 8 + tx];
        tb[ty][tx] = b[(tile * 8 + ty) * n + col];
        barrier();
        for k in 0..8 {
            sum += ta[ty][k] * tb[k][tx];
        }
        barrier();
    }
    if row < n && col < n {
        c[row * n + col] = sum;
    }
}

/// [`kernels::jacobi`] with eight rows of a column for each thread.
#[kernel]
unsafe fn column_strips(width: usize, height: usize, old: &[f32], new: &mut [f32]) {
    let x = global_idx_x();
    let first = global_idx_y() * 8;
    if x >= width {
        return;
    }
    for j in 0..8 {
        let y = first + j;
        if y < height {
            let at = y * width + x;
            let inner = x > 0 && x + 1 < width && y > 0 && y + 1 < height;
            new[at] = if inner {
                0.5 * old[at]
                    + 0.125 * (old[at - 1] + old[at + 1] + old[at - width] + old[at + width])
            } else {
                old[at]
            };
        }
    }
}

/// Tiles of 32 × 32 that blocks of 32 × 8 threads transpose.
#[kernel(block = (32, 8))]
unsafe fn tall_tiles(width: usize, height: usize, input: &[f32], output: &mut [f32]) {
    let tile = shared_array::<[f32; 33], 32>();
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let (x, y) = (block_idx_x() * 32 + tx, block_idx_y() * 32 + ty);
    for j in (0..32).step_by(8) {
        tile[ty + j][tx] = input[(y + j) * width + x];
    }
    barrier();
    let (x, y) = (block_idx_y() * 32 + tx, block_idx_x() * 32 + ty);
    for j in (0..32).step_by(8) {
        output[(y + j) * height + x] = tile[tx][ty + j];
    }
}

/// Sums of subgroups by shuffles, then of a block.
#[kernel(block = 256)]
unsafe fn shuffled_sums(x: &[f32], sums: &mut [f32]) {
    let parts = shared_array::<f32, 8>();
    let t = thread_idx_x();
    let i = global_idx_x();
    let mut sum = if i < x.len() { x[i] } else { 0.0 };
    let mut step = 16;
    while step > 0 {
        sum += subgroup_shuffle_down(sum, step);
        step /= 2;
    }
    if t % 32 == 0 {
        parts[t / 32] = sum;
    }
    barrier();
    if t == 0 {
        let mut all = 0.0;
        for k in 0..8 {
            all += parts[k];
        }
        sums[block_idx_x()] = all;
    }
}

/// Sums of subgroups by exchanges, then of a block.
#[kernel(block = 256)]
unsafe fn exchanged_sums(x: &[f32], sums: &mut [f32]) {
    let parts = shared_array::<f32, 8>();
    let t = thread_idx_x();
    let i = global_idx_x();
    let mut sum = if i < x.len() { x[i] } else { 0.0 };
    for k in 0..5u32 {
        sum += subgroup_shuffle_xor(sum, 16 >> k);
    }
    if t % 32 == 0 {
        parts[t / 32] = sum;
    }
    barrier();
    if t == 0 {
        let mut all = 0.0;
        for k in 0..8 {
            all += parts[k];
        }
        sums[block_idx_x()] = all;
    }
}

/// Sums of subgroups by the device's own operation, then of a block.
#[kernel(block = 256)]
unsafe fn subgroup_sums(x: &[f32], sums: &mut [f32]) {
    let parts = shared_array::<f32, 8>();
    let t = thread_idx_x();
    let i = global_idx_x();
    let sum = subgroup_sum(if i < x.len() { x[i] } else { 0.0 });
    if t % 32 == 0 {
        parts[t / 32] = sum;
    }
    barrier();
    if t == 0 {
        let mut all = 0.0;
        for k in 0..8 {
            all += parts[k];
        }
        sums[block_idx_x()] = all;
    }
}

type Sums = (Vector<f32>, Vector<f32>);
type Product = (Vector<f32>, Vector<f32>, Vector<f32>);

/// Runs all pairs.
pub fn run(bench: &Bench) -> Fallible {
    products(bench, 512)?;
    grids(bench, 2048)?;
    sums(bench, 1 << 20)
}

fn products(bench: &Bench, n: usize) -> Fallible {
    let tiles = n / TILE;
    let row = |kernel: &'static str,
               against: &'static str,
               ours: &dyn for<'a> Fn(&'a mut Product) -> Ready<'a>,
               theirs: &dyn for<'a> Fn(&'a mut Product) -> Ready<'a>|
     -> Fallible {
        if !bench.runner.wants(kernel) {
            return Ok(());
        }
        let work = Work::Operations(2 * n * n * n, "flop");
        bench.pair(
            case(kernel, against, format!("{n}x{n}"), work),
            SUMMED,
            &mut (random(n * n), random(n * n), Vector::zeros(n * n)),
            |v| &mut v.2,
            ours,
            |v| Ok(theirs(v).run_on(&bench.device)?),
        )
    };
    row(
        "given_block",
        "attribute",
        &|v| {
            given_block(n, &v.0, &v.1, &mut v.2)
                .grid((tiles, tiles))
                .block((TILE, TILE))
        },
        &|v| block::tiled_matmul(n, &v.0, &v.1, &mut v.2).cover((n, n)),
    )?;
    row(
        "given_small_tiles",
        "attribute",
        &|v| {
            given_small_tiles(n, &v.0, &v.1, &mut v.2)
                .grid((n / 8, n / 8))
                .block((8, 8))
        },
        &|v| small_tiles(n, &v.0, &v.1, &mut v.2).cover((n, n)),
    )?;
    row(
        "small_tiles",
        "tiles of 16",
        &|v| small_tiles(n, &v.0, &v.1, &mut v.2).cover((n, n)),
        &|v| block::tiled_matmul(n, &v.0, &v.1, &mut v.2).cover((n, n)),
    )?;
    row(
        "given_plain",
        "over",
        &|v| {
            kernels::matmul(n, &v.0, &v.1, &mut v.2)
                .grid((n / 8, n / 8))
                .block((8, 8))
        },
        &|v| kernels::matmul(n, &v.0, &v.1, &mut v.2).over((n, n)),
    )?;
    row(
        "stepped_tiles",
        "while",
        &|v| stepped_tiles(n, &v.0, &v.1, &mut v.2).cover((n, n)),
        &|v| block::tiled_matmul(n, &v.0, &v.1, &mut v.2).cover((n, n)),
    )?;
    row(
        "register_tiles",
        "plain",
        // SAFETY: each thread stores to elements of its own, with barriers between uses of shared ones.
        &|v| unsafe { register_tiles(n, &v.0, &v.1, &mut v.2) }.grid((n / 128, n / 128)),
        &|v| kernels::matmul(n, &v.0, &v.1, &mut v.2).over((n, n)),
    )
}

fn grids(bench: &Bench, n: usize) -> Fallible {
    let mut v = (random(n * n), Vector::zeros(n * n));
    let row = |kernel| case(kernel, "plain", format!("{n}x{n}"), Work::Bytes(8 * n * n));
    if bench.runner.wants("column_strips") {
        bench.pair(
            row("column_strips"),
            ROUNDED,
            &mut v,
            |v| &mut v.1,
            // SAFETY: each thread stores to elements of its own.
            |v| unsafe { column_strips(n, n, &v.0, &mut v.1) }.over((n, n / 8)),
            |v| {
                Ok(kernels::jacobi(n, n, &v.0, &mut v.1)
                    .over((n, n))
                    .run_on(&bench.device)?)
            },
        )?;
    }
    if bench.runner.wants("tall_tiles") {
        bench.pair(
            row("tall_tiles"),
            EXACT,
            &mut v,
            |v| &mut v.1,
            // SAFETY: each thread stores to elements of its own, with a barrier between uses of shared ones.
            |v| unsafe { tall_tiles(n, n, &v.0, &mut v.1) }.grid((n / 32, n / 32)),
            |v| {
                Ok(kernels::transpose(n, n, &v.0, &mut v.1)
                    .over((n, n))
                    .run_on(&bench.device)?)
            },
        )?;
    }
    Ok(())
}

fn sums(bench: &Bench, n: usize) -> Fallible {
    let row =
        |kernel: &'static str, ours: &dyn for<'a> Fn(&'a mut Sums) -> Ready<'a>| -> Fallible {
            if !bench.runner.wants(kernel) {
                return Ok(());
            }
            bench.pair(
                case(kernel, "tree", format!("{n}"), Work::Bytes(4 * n)),
                ROUNDED,
                &mut (random(n), Vector::zeros(n / BLOCK)),
                |v| &mut v.1,
                ours,
                |v| {
                    Ok(block::tree_sum(&v.0, &mut v.1)
                        .cover(n)
                        .run_on(&bench.device)?)
                },
            )
        };
    row("shuffled_sums", &|v| {
        // SAFETY: one thread of each subgroup stores its part, and one of each block its sum.
        unsafe { shuffled_sums(&v.0, &mut v.1) }.cover(n)
    })?;
    row("exchanged_sums", &|v| {
        // SAFETY: as above.
        unsafe { exchanged_sums(&v.0, &mut v.1) }.cover(n)
    })?;
    row("subgroup_sums", &|v| {
        // SAFETY: as above.
        unsafe { subgroup_sums(&v.0, &mut v.1) }.cover(n)
    })
}
