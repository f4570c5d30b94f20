//! Several values of an item in one vector, and elements that change places.

use super::{PLANES, SIZES, in_place, random};
use crate::Case;
use crate::check::Check;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("idioms/structure_of_arrays", &[], fields),
    Case::new("idioms/planar_channels", &[], planar),
    Case::new("idioms/coordinates_of_a_volume", &[], volume),
    Case::new("idioms/groups_turned", &[], groups),
    Case::new("idioms/transposition_in_place", &[], transposition),
    Case::new("idioms/reversal_in_place", &[], reversal),
    Case::new("idioms/rows_swapped", &[], rows),
    Case::new("idioms/pairs_of_columns", &[], pairs),
    Case::new("idioms/ring", &[], ring),
    Case::new("idioms/both_ends", &[], ends),
    Case::new("idioms/one_in_four", &[], one_in_four),
    Case::new("idioms/elimination", &[], elimination),
    Case::new("idioms/bins_of_each_thread", &[], bins),
];

/// Position, speed and mass of item `i` are at `i`, `n + i` and `2 * n + i`.
#[kernel]
fn fields_kernel(n: usize, state: &mut [u32]) {
    let i = global_idx_x();
    if i < n {
        let (at, by, mass) = (state[i], state[n + i], state[2 * n + i]);
        state[i] = at + by;
        state[n + i] = by + mass;
        state[2 * n + i] = mass + 1;
    }
}

fn fields(device: &Device) -> Check {
    for n in SIZES {
        let run = |y: &mut Vector<u32>| fields_kernel(n, y).over(n).run_on(device);
        in_place("fields", 3 * n, run, |y| {
            for i in 0..n {
                y[i] += y[n + i];
                y[n + i] += y[2 * n + i];
                y[2 * n + i] += 1;
            }
        })?;
    }
    Ok(())
}

/// From interleaved channels to planes.
#[kernel]
fn planar_kernel(width: usize, height: usize, pixels: &[u32], planes: &mut [u32]) {
    let (col, row) = (global_idx_x(), global_idx_y());
    if col < width && row < height {
        let pixel = row * width + col;
        for channel in 0..4 {
            planes[channel * width * height + pixel] = pixels[4 * pixel + channel];
        }
    }
}

fn planar(device: &Device) -> Check {
    for (w, h) in PLANES {
        let pixels = random(5, 4 * w * h);
        let run = |y: &mut Vector<u32>| {
            let pixels = Vector::from_slice(&pixels);
            let launch = planar_kernel(w, h, &pixels, y);
            launch.over((w, h)).run_on(device)
        };
        in_place(&format!("{w} by {h}"), 4 * w * h, run, |y| {
            for (i, y) in y.iter_mut().enumerate() {
                *y = pixels[4 * (i % (w * h)) + i / (w * h)];
            }
        })?;
    }
    Ok(())
}

/// Three coordinates of a linear id, put together again.
#[kernel]
fn volume_kernel(width: usize, height: usize, y: &mut [u32]) {
    let i = global_idx_x();
    if i < y.len() {
        let (row, col) = (i / width, i % width);
        let (layer, row) = (row / height, row % height);
        y[(layer * height + row) * width + col] += (layer + 2 * row + 3 * col) as u32;
    }
}

fn volume(device: &Device) -> Check {
    for (w, h) in [(1, 1), (3, 5), (8, 4)] {
        for n in SIZES {
            let run = |y: &mut Vector<u32>| volume_kernel(w, h, y).over(n).run_on(device);
            in_place(&format!("{w} by {h}"), n, run, |y| {
                for (i, y) in y.iter_mut().enumerate() {
                    *y += (i / (w * h) + 2 * (i / w % h) + 3 * (i % w)) as u32;
                }
            })?;
        }
    }
    Ok(())
}

/// Each group of eight is turned about.
#[kernel]
fn groups_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    if i < x.len() {
        y[i / 8 * 8 + 7 - i % 8] = x[i];
    }
}

fn groups(device: &Device) -> Check {
    for n in SIZES.map(|n| n / 8 * 8) {
        let x = random(6, n);
        let run = |y: &mut Vector<u32>| {
            let x = Vector::from_slice(&x);
            let launch = groups_kernel(&x, y);
            launch.over(n).run_on(device)
        };
        in_place("groups", n, run, |y| {
            y.copy_from_slice(&x);
            y.chunks_mut(8).for_each(<[u32]>::reverse);
        })?;
    }
    Ok(())
}

/// The threads below the diagonal move the elements.
#[kernel]
fn transposition_kernel(n: usize, a: &mut [u32]) {
    let (col, row) = (global_idx_x(), global_idx_y());
    if row < n && col < row {
        a.swap(row * n + col, col * n + row);
    }
}

fn transposition(device: &Device) -> Check {
    for n in [0, 1, 2, 16, 17, 33] {
        let run = |y: &mut Vector<u32>| transposition_kernel(n, y).over((n, n)).run_on(device);
        in_place("transposed", n * n, run, |y| {
            let before = y.to_vec();
            (0..n * n).for_each(|i| y[i] = before[i % n * n + i / n]);
        })?;
    }
    Ok(())
}

#[kernel]
fn reversal_kernel(y: &mut [u32]) {
    let i = global_idx_x();
    if i < y.len() / 2 {
        let other = y.len() - 1 - i;
        let kept = y[i];
        y[i] = y[other];
        y[other] = kept;
    }
}

fn reversal(device: &Device) -> Check {
    for n in SIZES {
        let run = |y: &mut Vector<u32>| reversal_kernel(y).over(n).run_on(device);
        in_place("reversed", n, run, <[u32]>::reverse)?;
    }
    Ok(())
}

#[kernel(requires(p < q))]
fn rows_kernel(width: usize, p: usize, q: usize, a: &mut [u32]) {
    let col = global_idx_x();
    if col < width {
        a.swap(p * width + col, q * width + col);
    }
}

fn rows(device: &Device) -> Check {
    for (w, h) in [(1, 2), (17, 4), (65, 3)] {
        for (p, q) in [(0, 1), (0, h - 1), (h - 2, h - 1)] {
            let run = |y: &mut Vector<u32>| rows_kernel(w, p, q, y).over(w).run_on(device);
            in_place(&format!("rows {p} and {q}"), w * h, run, |y| {
                (0..w).for_each(|c| y.swap(p * w + c, q * w + c));
            })?;
        }
    }
    Ok(())
}

/// Two neighbouring columns for each thread.
#[kernel]
fn pairs_kernel(width: usize, height: usize, y: &mut [u32]) {
    let (left, row) = (2 * global_idx_x(), global_idx_y());
    if row < height && left + 1 < width {
        y.swap(row * width + left, row * width + left + 1);
    }
}

fn pairs(device: &Device) -> Check {
    for (w, h) in PLANES {
        let run = |y: &mut Vector<u32>| {
            let launch = pairs_kernel(w, h, y).over((w.div_ceil(2), h));
            launch.run_on(device)
        };
        in_place(&format!("{w} by {h}"), w * h, run, |y| {
            let rows = y.chunks_mut(w.max(1));
            rows.for_each(|row| row.chunks_exact_mut(2).for_each(<[u32]>::reverse));
        })?;
    }
    Ok(())
}

#[kernel]
fn ring_kernel(by: usize, x: &[u32], y: &mut [u32]) {
    let (i, n) = (global_idx_x(), x.len());
    if i < n {
        y[(i + by) % n] = x[i];
    }
}

fn ring(device: &Device) -> Check {
    for n in SIZES {
        for by in [0, 1, 64, 1000] {
            let x = random(8, n);
            let run = |y: &mut Vector<u32>| {
                let x = Vector::from_slice(&x);
                let launch = ring_kernel(by, &x, y);
                launch.over(n).run_on(device)
            };
            in_place(&format!("by {by}"), n, run, |y| {
                (0..n).for_each(|i| y[(i + by) % n] = x[i]);
            })?;
        }
    }
    Ok(())
}

/// The first and the last thread write constants, and each other thread its own element.
#[kernel]
fn ends_kernel(x: &[u32], y: &mut [u32]) {
    let (i, n) = (global_idx_x(), x.len());
    if i >= n {
        return;
    }
    if i == 0 {
        y[0] = 1;
    } else if i == n - 1 {
        y[n - 1] = 2;
    } else {
        y[i] = x[i - 1] + x[i + 1];
    }
}

fn ends(device: &Device) -> Check {
    for n in SIZES {
        let x = random(9, n);
        let run = |y: &mut Vector<u32>| {
            let x = Vector::from_slice(&x);
            let launch = ends_kernel(&x, y);
            launch.over(n).run_on(device)
        };
        in_place("ends", n, run, |y| {
            for i in 0..n {
                y[i] = match i {
                    0 => 1,
                    _ if i == n - 1 => 2,
                    _ => x[i - 1] + x[i + 1],
                };
            }
        })?;
    }
    Ok(())
}

/// One thread of four stores, at the number of the four.
#[kernel]
fn one_in_four_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    if i % 4 == 0 && i + 3 < x.len() {
        y[i / 4] = x[i] + x[i + 1] + x[i + 2] + x[i + 3];
    }
}

fn one_in_four(device: &Device) -> Check {
    for n in SIZES {
        let x = random(10, n);
        let run = |y: &mut Vector<u32>| {
            let x = Vector::from_slice(&x);
            let launch = one_in_four_kernel(&x, y);
            launch.over(n).run_on(device)
        };
        in_place("sums of four", n / 4, run, |y| {
            for (y, x) in y.iter_mut().zip(x.chunks_exact(4)) {
                *y = x.iter().sum();
            }
        })?;
    }
    Ok(())
}

/// Below and right of the pivot, from the elements of its row and its column.
#[kernel(requires(k < n))]
fn elimination_kernel(n: usize, k: usize, a: &mut [u32]) {
    let col = k + 1 + global_idx_x();
    let row = k + 1 + global_idx_y();
    if col < n && row < n {
        a[row * n + col] += a[row * n + k] * a[k * n + col];
    }
}

fn elimination(device: &Device) -> Check {
    for n in [1, 2, 17, 33] {
        for k in [0, n / 2, n - 1] {
            let run = |y: &mut Vector<u32>| {
                let launch = elimination_kernel(n, k, y).over((n, n));
                launch.run_on(device)
            };
            in_place(&format!("pivot {k}"), n * n, run, |y| {
                for row in k + 1..n {
                    for col in k + 1..n {
                        y[row * n + col] += y[row * n + k] * y[k * n + col];
                    }
                }
            })?;
        }
    }
    Ok(())
}

/// Eight bins for each thread, chosen by data.
#[kernel]
fn bins_kernel(per: usize, x: &[u32], bins: &mut [u32]) {
    let i = global_idx_x();
    if (i + 1) * per <= x.len() {
        for k in 0..per {
            let bin = (x[i * per + k] % 8) as usize;
            bins[8 * i + bin] += 1;
        }
    }
}

fn bins(device: &Device) -> Check {
    for n in SIZES {
        let (per, threads) = (5, n / 5);
        let x = random(11, n);
        let run = |y: &mut Vector<u32>| {
            let x = Vector::from_slice(&x);
            let launch = bins_kernel(per, &x, y);
            launch.over(threads).run_on(device)
        };
        in_place("bins", 8 * threads, run, |y| {
            for (k, x) in x[..per * threads].iter().enumerate() {
                y[8 * (k / per) + (x % 8) as usize] += 1;
            }
        })?;
    }
    Ok(())
}
