//! Kernels with the bounds checks of a `fn` beside the same without any: what is proved at the launch is dropped, so that the ratio
//! is near 1, and 0.98 at least.

use sarek::prelude::*;

use super::common::agree::EXACT;
use super::common::block::{self, TILE};
use super::common::kernels::{self, SCALE};
use super::common::runner::Work;
use super::{Bench, Fallible, LARGE, case, random};

// SAFETY of all three: launched over as many threads as there are elements, each of which stores one of its own.

#[kernel]
unsafe fn triad(s: f32, b: &[f32], c: &[f32], a: &mut [f32]) {
    let i = global_idx_x();
    // SAFETY: the launch has a thread for each element, and no more.
    unsafe { *a.get_unchecked_mut(i) = *b.get_unchecked(i) + s * *c.get_unchecked(i) };
}

#[kernel]
unsafe fn jacobi(width: usize, height: usize, old: &[f32], new: &mut [f32]) {
    let x = global_idx_x();
    let y = global_idx_y();
    if x >= width || y >= height {
        return;
    }
    let at = y * width + x;
    let inner = x > 0 && x + 1 < width && y > 0 && y + 1 < height;
    // SAFETY: the guard keeps a cell from the edges.
    let value = unsafe {
        if inner {
            let sides = *old.get_unchecked(at - 1) + *old.get_unchecked(at + 1);
            0.5 * *old.get_unchecked(at)
                + 0.125 * (sides + *old.get_unchecked(at - width) + *old.get_unchecked(at + width))
        } else {
            *old.get_unchecked(at)
        }
    };
    // SAFETY: `at` is a cell, as above.
    unsafe { *new.get_unchecked_mut(at) = value };
}

#[kernel(block = (16, 16))]
unsafe fn tiled_matmul(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
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
            // SAFETY: the guard before holds both coordinates below `n`.
            unsafe { *a.get_unchecked(row * n + first + tx) }
        } else {
            0.0
        };
        tb[ty][tx] = if col < n && first + ty < n {
            // SAFETY: the guard before holds both coordinates below `n`.
            unsafe { *b.get_unchecked((first + ty) * n + col) }
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
        // SAFETY: the guard before holds both coordinates below `n`.
        unsafe { *c.get_unchecked_mut(row * n + col) = sum };
    }
}

/// Runs all pairs; the rows are named `safe_…`.
pub fn run(bench: &Bench) -> Fallible {
    let row = |kernel, n: usize, work| case(kernel, "unchecked", format!("{n}"), work);
    if bench.runner.wants("safe_triad") {
        let n = LARGE;
        let mut v = (random(n), random(n), Vector::zeros(n));
        bench.pair(
            row("safe_triad", n, Work::Bytes(12 * n)),
            EXACT,
            &mut v,
            |v| &mut v.2,
            |v| kernels::triad(SCALE, &v.0, &v.1, &mut v.2).over(n),
            // SAFETY: as above.
            |v| {
                // SAFETY: the vectors are as long as the launch has threads.
                Ok(unsafe { triad(SCALE, &v.0, &v.1, &mut v.2) }
                    .over(n)
                    .run_on(&bench.device)?)
            },
        )?;
    }
    if bench.runner.wants("safe_stencil") {
        let n = 4096;
        let mut v = (random(n * n), Vector::zeros(n * n));
        bench.pair(
            row("safe_stencil", n, Work::Bytes(8 * n * n)),
            EXACT,
            &mut v,
            |v| &mut v.1,
            |v| kernels::jacobi(n, n, &v.0, &mut v.1).over((n, n)),
            // SAFETY: as above.
            |v| {
                // SAFETY: the vectors have `n * n` elements.
                Ok(unsafe { jacobi(n, n, &v.0, &mut v.1) }
                    .over((n, n))
                    .run_on(&bench.device)?)
            },
        )?;
    }
    if bench.runner.wants("safe_tiled_matmul") {
        let n = 512;
        let mut v = (random(n * n), random(n * n), Vector::zeros(n * n));
        bench.pair(
            row(
                "safe_tiled_matmul",
                n,
                Work::Operations(2 * n * n * n, "flop"),
            ),
            EXACT,
            &mut v,
            |v| &mut v.2,
            |v| block::tiled_matmul(n, &v.0, &v.1, &mut v.2).cover((n, n)),
            // SAFETY: as above.
            |v| {
                // SAFETY: the matrices have `n * n` elements.
                Ok(unsafe { tiled_matmul(n, &v.0, &v.1, &mut v.2) }
                    .cover((n, n))
                    .run_on(&bench.device)?)
            },
        )?;
    }
    Ok(())
}
