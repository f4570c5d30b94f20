//! Grids with more blocks along an axis than devices can start: such grids are folded.

use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("launch/folded_x", &[], along_x),
    Case::new("launch/folded_y", &[], along_y),
    Case::new("launch/folded_z", &[], along_z),
    Case::new("launch/folded_over", &[], over),
    Case::new("launch/folded_once", &[], once),
];

/// CUDA and OpenCL start at most 65 535 blocks along y and z, WebGPU along x too.
const MANY: usize = 65_535 + 1234;

#[kernel]
fn where_am_i(width: usize, height: usize, out: &mut [u32]) {
    let x = global_idx_x();
    let y = global_idx_y();
    let z = global_idx_z();
    if x < width && y < height {
        let sum = block_idx_x() + 3 * block_idx_y() + 5 * block_idx_z();
        let dims = grid_dim_x() + grid_dim_y() + grid_dim_z();
        out[(z * height + y) * width + x] = (sum + dims) as u32;
    }
}

fn grid(device: &Device, grid: (usize, usize, usize)) -> Check {
    let (w, h, d) = grid;
    let mut expected = vec![];
    for z in 0..d {
        for y in 0..h {
            expected.extend((0..w).map(|x| (x + 3 * y + 5 * z + w + h + d) as u32));
        }
    }
    let mut out = sentinel_filled(expected.len());
    where_am_i(w, h, &mut out)
        .grid(grid)
        .block(1)
        .run_on(device)?;
    expect(&format!("grid({grid:?}).block(1)"), &out, &expected)
}

fn along_x(device: &Device) -> Check {
    grid(device, (MANY, 1, 1))
}

fn along_y(device: &Device) -> Check {
    grid(device, (1, MANY, 1))?;
    grid(device, (2, MANY, 1))
}

fn along_z(device: &Device) -> Check {
    grid(device, (1, 1, MANY))
}

#[kernel]
fn mark(width: usize, out: &mut [u32]) {
    let x = global_idx_x();
    let y = global_idx_y();
    if x < width {
        out[y * width + x] = (2 * y + x) as u32;
    }
}

/// Uses `over`, whatever the block size. Large blocks fold only beyond 65 535 times 1024 along y, which would be too slow
/// here; so this folds only on devices with flat blocks.
fn over(device: &Device) -> Check {
    for (w, h) in [(1, MANY), (2, MANY + 1)] {
        let expected: Vec<u32> = (0..h)
            .flat_map(|y| (0..w).map(move |x| (2 * y + x) as u32))
            .collect();
        let mut out = sentinel_filled(expected.len());
        mark(w, &mut out).over((w, h)).run_on(device)?;
        expect(&format!("over(({w}, {h}))"), &out, &expected)?;
    }
    Ok(())
}

#[kernel]
fn count(width: usize, runs: &mut [u32]) {
    let x = global_idx_x();
    let y = global_idx_y();
    if x < width {
        runs[y * width + x] += 1;
    }
}

/// A folded grid may have more blocks than the logical one; the extra blocks run no thread a second time.
fn once(device: &Device) -> Check {
    for (w, h) in [(1, MANY), (3, MANY + 2)] {
        let mut runs = sentinel_filled(w * h);
        runs.as_mut_slice()?[..w * h].fill(0);
        count(w, &mut runs).grid((w, h)).block(1).run_on(device)?;
        expect(&format!("grid(({w}, {h}))"), &runs, &vec![1; w * h])?;
    }
    Ok(())
}
