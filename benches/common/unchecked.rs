//! Copies of some kernels of [`kernels`](super::kernels) and [`block`](super::block) with unchecked indexing.
//!
//! A launch drops the checks that it proves, so the checked kernels should be as fast: their ratio should be near 1, and at least 0.98.
//! The rows are named `safe_…`.

use sarek::prelude::*;

use super::block::TILE;

/// Like [`triad`](super::kernels::triad).
///
/// # Safety
/// The launch must have as many threads as each vector has elements.
#[kernel]
pub unsafe fn triad(s: f32, b: &[f32], c: &[f32], a: &mut [f32]) {
    let i = global_idx_x();
    // SAFETY: the launch has a thread for each element, and no more.
    unsafe { *a.get_unchecked_mut(i) = *b.get_unchecked(i) + s * *c.get_unchecked(i) };
}

/// Like [`jacobi`](super::kernels::jacobi).
///
/// # Safety
/// Both grids must have `width * height` elements.
#[kernel]
pub unsafe fn jacobi(width: usize, height: usize, old: &[f32], new: &mut [f32]) {
    let x = global_idx_x();
    let y = global_idx_y();
    if x >= width || y >= height {
        return;
    }
    let at = y * width + x;
    let inner = x > 0 && x + 1 < width && y > 0 && y + 1 < height;
    // SAFETY: `inner` cells are not at an edge, so their neighbours exist.
    let value = unsafe {
        if inner {
            let sides = *old.get_unchecked(at - 1) + *old.get_unchecked(at + 1);
            0.5 * *old.get_unchecked(at)
                + 0.125 * (sides + *old.get_unchecked(at - width) + *old.get_unchecked(at + width))
        } else {
            *old.get_unchecked(at)
        }
    };
    // SAFETY: the guard ensures that `at` is a cell.
    unsafe { *new.get_unchecked_mut(at) = value };
}

/// Like [`tiled_matmul`](super::block::tiled_matmul).
///
/// # Safety
/// All matrices must have `n * n` elements.
#[kernel(block = (16, 16))]
pub unsafe fn tiled_matmul(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
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
