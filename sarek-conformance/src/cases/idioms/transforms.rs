//! Transpositions, stencils and transforms by blocks, with tiles in shared memory.

use super::{PLANES, SIZES, in_place, random};
use crate::Case;
use crate::check::Check;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("idioms/transposition_16_by_4", &[], transposition),
    Case::new("idioms/transposition_swizzled", &[], swizzled),
    Case::new("idioms/transposition_of_a_line", &[], line),
    Case::new("idioms/ghost_zone", &[], ghost_zone),
    Case::new("idioms/butterfly", &[], butterfly),
    Case::new("idioms/butterfly_in_a_block", &[], transform),
];

/// A tile of 16 by 16 elements, moved by 16 by 4 threads in four steps.
#[kernel(block = (16, 4))]
fn transposition_kernel(width: usize, height: usize, x: &[u32], y: &mut [u32]) {
    let tile = shared_array::<[u32; 17], 16>();
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let col = block_idx_x() * 16 + tx;
    let first = block_idx_y() * 16 + ty;
    for step in 0..4 {
        let row = first + 4 * step;
        if col < width && row < height {
            tile[ty + 4 * step][tx] = x[row * width + col];
        }
    }
    barrier();
    let col = block_idx_y() * 16 + tx;
    let first = block_idx_x() * 16 + ty;
    for step in 0..4 {
        let row = first + 4 * step;
        if col < height && row < width {
            y[row * height + col] = tile[tx][ty + 4 * step];
        }
    }
}

fn transposition(device: &Device) -> Check {
    for (w, h) in PLANES {
        let x = random(12, w * h);
        let run = |y: &mut Vector<u32>| {
            let x = Vector::from_slice(&x);
            let launch = transposition_kernel(w, h, &x, y);
            launch.grid((w.div_ceil(16), h.div_ceil(16))).run_on(device)
        };
        in_place(&format!("{w} by {h}"), w * h, run, |y| {
            (0..w * h).for_each(|i| y[i] = x[i % h * w + i / h]);
        })?;
    }
    Ok(())
}

/// Column `c` of row `r` is kept at `c ^ r`, so that neither rows nor columns have bank conflicts.
#[kernel(block = (16, 16))]
fn swizzled_kernel(y: &mut [u32]) {
    let tile = shared_array::<[u32; 16], 16>();
    let (col, row) = (thread_idx_x(), thread_idx_y());
    let at = (block_idx_x() * 16 + row) * 16 + col;
    tile[row][col ^ row] = y[at];
    barrier();
    y[at] = tile[col][row ^ col];
}

/// Transposes each 16 by 16 elements.
fn transposed(y: &mut [u32]) {
    for tile in y.chunks_mut(256) {
        let before = tile.to_vec();
        (0..256).for_each(|i| tile[i] = before[i % 16 * 16 + i / 16]);
    }
}

fn swizzled(device: &Device) -> Check {
    for tiles in [0, 1, 3] {
        let run = |y: &mut Vector<u32>| swizzled_kernel(y).grid((tiles, 1)).run_on(device);
        in_place("swizzled", 256 * tiles, run, transposed)?;
    }
    Ok(())
}

/// Row and column of a tile from the number of a thread, in blocks along one axis.
#[kernel(block = 256)]
fn line_kernel(y: &mut [u32]) {
    let tile = shared_array::<u32, 272>();
    let t = thread_idx_x();
    let (row, col) = (t / 16, t % 16);
    tile[col * 17 + row] = y[global_idx_x()];
    barrier();
    y[global_idx_x()] = tile[row * 17 + col];
}

fn line(device: &Device) -> Check {
    for tiles in [0, 1, 3] {
        let run = |y: &mut Vector<u32>| line_kernel(y).grid(tiles).run_on(device);
        in_place("in a line", 256 * tiles, run, transposed)?;
    }
    Ok(())
}

/// Blocks of 32 threads overlap by four: the two threads at either end only load.
#[kernel(block = 32)]
fn ghost_zone_kernel(x: &[u32], y: &mut [u32]) {
    let s = shared_array::<u32, 32>();
    let t = thread_idx_x();
    let i = block_idx_x() * 28 + t;
    s[t] = if i < x.len() { x[i] } else { 0 };
    barrier();
    if t >= 2 && t < 30 && i < y.len() {
        y[i] = s[t - 2] + s[t - 1] + s[t] + s[t + 1] + s[t + 2];
    }
}

fn ghost_zone(device: &Device) -> Check {
    for n in SIZES {
        let x = random(13, n);
        let run = |y: &mut Vector<u32>| {
            let x = Vector::from_slice(&x);
            let launch = ghost_zone_kernel(&x, y);
            launch.grid(n.div_ceil(28)).run_on(device)
        };
        in_place("ghost zone", n, run, |y| {
            let at = |i: usize| x.get(i).copied().unwrap_or(0);
            for (i, y) in y.iter_mut().enumerate().skip(2) {
                *y = (i - 2..=i + 2).map(at).sum();
            }
        })?;
    }
    Ok(())
}

/// The sums and the distances of all pairs that are `half` apart.
fn pairs(y: &mut [u32], half: usize) {
    for pair in y.chunks_exact_mut(2 * half) {
        for i in 0..half {
            let (a, b) = (pair[i], pair[i + half]);
            (pair[i], pair[i + half]) = (a + b, a.abs_diff(b));
        }
    }
}

#[kernel]
fn butterfly_kernel(half: usize, y: &mut [u32]) {
    let i = global_idx_x();
    let at = i / half * (2 * half) + i % half;
    if at + half < y.len() {
        let (a, b) = (y[at], y[at + half]);
        y[at] = a + b;
        y[at + half] = a.abs_diff(b);
    }
}

fn butterfly(device: &Device) -> Check {
    for n in [0, 2, 64, 256] {
        let halves = || (0..8).map(|k| 1 << k).filter(|half| 2 * half <= n);
        let run = |y: &mut Vector<u32>| {
            let mut each = halves();
            each.try_for_each(|half| butterfly_kernel(half, y).over(n / 2).run_on(device))
        };
        in_place("butterfly", n, run, |y| {
            halves().for_each(|half| pairs(y, half))
        })?;
    }
    Ok(())
}

/// All steps of a transform of 128 elements in one block.
#[kernel(block = 64)]
fn transform_kernel(y: &mut [u32]) {
    let s = shared_array::<u32, 128>();
    let t = thread_idx_x();
    let base = 128 * block_idx_x();
    s[t] = y[base + t];
    s[t + 64] = y[base + t + 64];
    barrier();
    let mut half = 1;
    while half < 128 {
        let at = t / half * (2 * half) + t % half;
        let (a, b) = (s[at], s[at + half]);
        s[at] = a + b;
        s[at + half] = a.abs_diff(b);
        barrier();
        half *= 2;
    }
    y[base + t] = s[t];
    y[base + t + 64] = s[t + 64];
}

fn transform(device: &Device) -> Check {
    for blocks in [0, 1, 3] {
        let run = |y: &mut Vector<u32>| transform_kernel(y).grid(blocks).run_on(device);
        in_place("transform", 128 * blocks, run, |y| {
            for block in y.chunks_mut(128) {
                (0..7).for_each(|k| pairs(block, 1 << k));
            }
        })?;
    }
    Ok(())
}
