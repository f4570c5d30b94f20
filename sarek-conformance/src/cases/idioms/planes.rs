//! Elements of planes whose row decides about their column, and tiles of registers by named constants.

use super::{PLANES, in_place, random};
use crate::Case;
use crate::check::Check;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("idioms/every_second_of_a_row", &[], colours),
    Case::new("idioms/patches_as_columns", &[], patches),
    Case::new("idioms/quadrants_swapped", &[], quadrants),
    Case::new("idioms/register_tiles", &[], register_tiles),
    Case::new("idioms/diagonal_blocks", &[], diagonal_blocks),
];

/// One colour of a chessboard, from the other one. A row has a thread for every second element.
#[kernel]
fn colours_kernel(width: usize, height: usize, colour: usize, y: &mut [u32]) {
    let row = global_idx_y() + 1;
    let col = 2 * global_idx_x() + 1 + (row + colour) % 2;
    if row + 1 < height && col + 1 < width {
        let at = row * width + col;
        y[at] = y[at - 1] + y[at + 1] + y[(row - 1) * width + col] + y[(row + 1) * width + col];
    }
}

fn colours(device: &Device) -> Check {
    for (w, h) in PLANES {
        for colour in [0, 1] {
            let run = |y: &mut Vector<u32>| {
                let launch = colours_kernel(w, h, colour, y);
                launch.over((w.div_ceil(2), h)).run_on(device)
            };
            in_place(&format!("{w} by {h}"), w * h, run, |y| {
                for row in 1..h.saturating_sub(1) {
                    for col in (1 + (row + colour) % 2..w.saturating_sub(1)).step_by(2) {
                        let at = row * w + col;
                        y[at] = y[at - 1] + y[at + 1] + y[at - w] + y[at + w];
                    }
                }
            })?;
        }
    }
    Ok(())
}

/// The 3 × 3 neighbours of an element that is not at an edge are a column of the result.
#[kernel]
fn patches_kernel(width: usize, height: usize, x: &[u32], y: &mut [u32]) {
    let (col, row) = (global_idx_x(), global_idx_y());
    if col + 2 < width && row + 2 < height {
        let columns = (height - 2) * (width - 2);
        for r in 0..3 {
            for c in 0..3 {
                let of = row * (width - 2) + col;
                y[(r * 3 + c) * columns + of] = x[(row + r) * width + col + c];
            }
        }
    }
}

fn patches(device: &Device) -> Check {
    for (w, h) in PLANES {
        let x = random(31, w * h);
        let (columns, rows) = (w.saturating_sub(2), h.saturating_sub(2));
        let run = |y: &mut Vector<u32>| {
            let x = Vector::from_slice(&x);
            let launch = patches_kernel(w, h, &x, y);
            launch.over((w, h)).run_on(device)
        };
        in_place(&format!("{w} by {h}"), 9 * columns * rows, run, |y| {
            for (i, y) in y.iter_mut().enumerate() {
                let (part, of) = (i / (columns * rows), i % (columns * rows));
                let (row, col) = (of / columns + part / 3, of % columns + part % 3);
                *y = x[row * w + col];
            }
        })?;
    }
    Ok(())
}

/// An image with its centre at the corners, as for a Fourier transform. The width is even.
#[kernel]
fn quadrants_kernel(width: usize, height: usize, y: &mut [u32]) {
    let (col, row) = (global_idx_x(), global_idx_y());
    if col < width / 2 && row < height {
        let other = ((row + height / 2) % height) * width + col + width / 2;
        y.swap(row * width + col, other);
    }
}

fn quadrants(device: &Device) -> Check {
    for (w, h) in [(2, 1), (8, 6), (34, 20), (64, 2)] {
        let run = |y: &mut Vector<u32>| {
            let launch = quadrants_kernel(w, h, y);
            launch.over((w, h)).run_on(device)
        };
        in_place(&format!("{w} by {h}"), w * h, run, |y| {
            for row in 0..h {
                for col in 0..w / 2 {
                    y.swap(row * w + col, (row + h / 2) % h * w + col + w / 2);
                }
            }
        })?;
    }
    Ok(())
}

const ROWS: usize = 4;
const COLUMNS: usize = 2;
const TILE_HEIGHT: usize = 32;
const TILE_WIDTH: usize = 16;

/// A thread has `ROWS` × `COLUMNS` elements of the product of a column and a row.
#[kernel(block = (8, 8))]
fn register_tiles_kernel(m: usize, n: usize, a: &[u32], b: &[u32], c: &mut [u32]) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    for i in 0..ROWS {
        for j in 0..COLUMNS {
            let row = block_idx_y() * TILE_HEIGHT + ty * ROWS + i;
            let col = block_idx_x() * TILE_WIDTH + tx * COLUMNS + j;
            if row < m && col < n {
                c[row * n + col] += a[row] * b[col];
            }
        }
    }
}

fn register_tiles(device: &Device) -> Check {
    for (n, m) in PLANES {
        let (a, b) = (random(41, m), random(42, n));
        let run = |c: &mut Vector<u32>| {
            let (a, b) = (Vector::from_slice(&a), Vector::from_slice(&b));
            let launch = register_tiles_kernel(m, n, &a, &b, c);
            let blocks = (n.div_ceil(TILE_WIDTH), m.div_ceil(TILE_HEIGHT));
            launch.over((8 * blocks.0, 8 * blocks.1)).run_on(device)
        };
        in_place(&format!("{m} by {n}"), m * n, run, |c| {
            for (i, c) in c.iter_mut().enumerate() {
                *c += a[i / n] * b[i % n];
            }
        })?;
    }
    Ok(())
}

/// Blocks in diagonal order: those of one row of the grid are in different columns.
#[kernel(block = (16, 16))]
fn diagonal_blocks_kernel(width: usize, y: &mut [u32]) {
    let row_of_blocks = block_idx_x();
    let column_of_blocks = (block_idx_x() + block_idx_y()) % grid_dim_y();
    let col = column_of_blocks * 16 + thread_idx_x();
    let row = row_of_blocks * 16 + thread_idx_y();
    if col < width {
        y[row * width + col] += (1000 * row + col) as u32;
    }
}

fn diagonal_blocks(device: &Device) -> Check {
    for (w, blocks) in [(1_usize, 1), (16, 2), (33, 3), (50, 2)] {
        let columns = w.div_ceil(16);
        let run = |y: &mut Vector<u32>| {
            let launch = diagonal_blocks_kernel(w, y);
            launch.over((16 * blocks, 16 * columns)).run_on(device)
        };
        in_place(&format!("{w} wide"), w * 16 * blocks, run, |y| {
            for (i, y) in y.iter_mut().enumerate() {
                *y += (1000 * (i / w) + i % w) as u32;
            }
        })?;
    }
    Ok(())
}
