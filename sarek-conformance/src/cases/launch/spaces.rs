//! `over` runs exactly its threads; `cover` and `grid` run whole blocks.

use crate::Case;
use crate::check::{Check, ensure, expect, sentinel_filled};
use crate::input::Sample;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("launch/over", &[], over),
    Case::new("launch/over_2d", &[], over_2d),
    Case::new("launch/over_3d", &[], over_3d),
    Case::new("launch/cover", &[], cover),
    Case::new("launch/grid_block", &[], grid_block),
];

/// A kernel without a guard: an extra thread would write, or fault.
#[kernel]
fn mark(out: &mut [u32]) {
    let i = global_idx_x();
    out[i] = i as u32;
}

fn over(device: &Device) -> Check {
    for n in [1, 2, 31, 32, 33, 63, 255, 256, 257, 1023, 1025, 5000] {
        let expected: Vec<u32> = (0..n as u32).collect();
        let mut out = sentinel_filled(n);
        mark(&mut out).over(n).run_on(device)?;
        expect(&format!("over({n})"), &out, &expected)?;
    }
    Ok(())
}

#[kernel]
fn mark_2d(width: usize, out: &mut [u32]) {
    let x = global_idx_x();
    let y = global_idx_y();
    if x < width {
        out[y * width + x] = (1000 * y + x) as u32;
    }
}

fn over_2d(device: &Device) -> Check {
    for (w, h) in [
        (1, 1),
        (1, 100),
        (100, 1),
        (3, 5),
        (16, 16),
        (17, 33),
        (200, 3),
    ] {
        let expected: Vec<u32> = (0..h)
            .flat_map(|y| (0..w).map(move |x| 1000 * y as u32 + x as u32))
            .collect();
        let mut out = sentinel_filled(w * h);
        mark_2d(w, &mut out).over((w, h)).run_on(device)?;
        expect(&format!("over(({w}, {h}))"), &out, &expected)?;
    }
    Ok(())
}

#[kernel]
fn mark_3d(w: usize, h: usize, out: &mut [u32]) {
    let x = global_idx_x();
    let y = global_idx_y();
    let z = global_idx_z();
    if x < w && y < h {
        out[(z * h + y) * w + x] = (10_000 * z + 100 * y + x) as u32;
    }
}

fn over_3d(device: &Device) -> Check {
    for (w, h, d) in [(1, 1, 1), (1, 1, 50), (5, 4, 3), (33, 3, 5), (8, 8, 8)] {
        let mut expected = vec![];
        for z in 0..d as u32 {
            for y in 0..h as u32 {
                expected.extend((0..w as u32).map(|x| 10_000 * z + 100 * y + x));
            }
        }
        let mut out = sentinel_filled(w * h * d);
        mark_3d(w, h, &mut out).over((w, h, d)).run_on(device)?;
        expect(&format!("over(({w}, {h}, {d}))"), &out, &expected)?;
    }
    Ok(())
}

/// Reports the extent to which the launch was rounded up.
#[kernel]
fn extent_kernel(out: &mut [u32]) {
    let i = global_idx_x();
    if i < out.len() {
        out[i] = global_dim_x() as u32;
    }
}

fn cover(device: &Device) -> Check {
    // The block size follows from the extent alone, so the same threads run on every device.
    for (n, whole) in [(1, 32), (33, 64), (1000, 1024)] {
        let len = 4096;
        let mut out = Vector::filled(len, u32::SENTINEL);
        extent_kernel(&mut out).cover(n).run_on(device)?;
        let got = out.to_vec()?;
        let extent = got[0] as usize;
        ensure(extent == whole, || {
            format!("cover({n}) ran {extent} threads")
        })?;
        let ran = got.iter().take_while(|&&e| e == extent as u32).count();
        let rest = got[ran..].iter().all(|&e| e == u32::SENTINEL);
        ensure(ran == extent.min(len) && rest, || {
            format!("cover({n}): {ran} threads of {extent} wrote")
        })?;
    }
    Ok(())
}

fn grid_block(device: &Device) -> Check {
    for (grid, block) in [(1, 1), (5, 1), (1, 7), (4, 33), (10, 64)] {
        let n = grid * block;
        let expected: Vec<u32> = (0..n as u32).collect();
        let mut out = sentinel_filled(n);
        mark(&mut out).grid(grid).block(block).run_on(device)?;
        expect(&format!("grid({grid}).block({block})"), &out, &expected)?;
    }
    Ok(())
}
