//! Quotients and remainders of an id, put together in another order, and bits that are moved about.

use super::{PLANES, SIZES, in_place, random};
use crate::Case;
use crate::check::Check;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("idioms/transposition_by_one_id", &[], transposition),
    Case::new("idioms/axes_of_a_batch", &[], axes),
    Case::new("idioms/halves_interleaved", &[], halves),
    Case::new("idioms/packed_triangle", &[], triangle),
    Case::new("idioms/packed_triangle_in_rows", &[], triangle_rows),
    Case::new("idioms/masked_groups", &[], masks),
    Case::new("idioms/gray_code", &[], gray),
    Case::new("idioms/reversed_bits", &[], reversed),
];

#[kernel]
fn transposition_kernel(w: usize, h: usize, x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    if i < w * h {
        y[i % w * h + i / w] = x[i];
    }
}

fn transposition(device: &Device) -> Check {
    for (w, h) in PLANES {
        let values = random(7, w * h);
        let run = |y: &mut Vector<u32>| {
            let x = Vector::from_slice(&values);
            transposition_kernel(w, h, &x, y).over(w * h).run_on(device)
        };
        in_place(&format!("{w} by {h}"), w * h, run, |y| {
            for i in 0..w * h {
                y[i % w * h + i / w] = values[i];
            }
        })?;
    }
    Ok(())
}

/// The channels of an image become the last axis.
#[kernel]
fn axes_kernel(c: usize, h: usize, w: usize, n: usize, x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    if i < n * c * h * w {
        let col = i % w;
        let row = i / w % h;
        let channel = i / (w * h) % c;
        let image = i / (w * h * c);
        y[((image * h + row) * w + col) * c + channel] = x[i];
    }
}

fn axes(device: &Device) -> Check {
    for [n, c, h, w] in [[0, 3, 4, 5], [1, 1, 1, 1], [2, 3, 4, 5], [3, 4, 9, 7]] {
        let all = n * c * h * w;
        let values = random(9, all);
        let run = |y: &mut Vector<u32>| {
            let x = Vector::from_slice(&values);
            axes_kernel(c, h, w, n, &x, y).over(all).run_on(device)
        };
        in_place("axes", all, run, |y| {
            for (i, value) in values.iter().enumerate() {
                let (col, row, plane) = (i % w, i / w % h, i / (w * h));
                y[((plane / c * h + row) * w + col) * c + plane % c] = *value;
            }
        })?;
    }
    Ok(())
}

/// The halves of a slice become its even and its odd elements.
#[kernel]
fn halves_kernel(half: usize, x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    if i < 2 * half {
        y[i % half * 2 + i / half] = x[i];
    }
}

fn halves(device: &Device) -> Check {
    for half in SIZES {
        let values = random(11, 2 * half);
        let run = |y: &mut Vector<u32>| {
            let x = Vector::from_slice(&values);
            halves_kernel(half, &x, y).over(2 * half).run_on(device)
        };
        in_place("halves", 2 * half, run, |y| {
            for i in 0..2 * half {
                y[i % half * 2 + i / half] = values[i];
            }
        })?;
    }
    Ok(())
}

/// The triangle on and below the diagonal, row after row.
#[kernel]
fn triangle_kernel(n: usize, y: &mut [u32]) {
    let (c, r) = (global_idx_x(), global_idx_y());
    if r < n && c <= r {
        y[r * (r + 1) / 2 + c] += (r * n + c) as u32;
    }
}

/// The sizes of triangles.
const TRIANGLES: [usize; 5] = [0, 1, 2, 9, 33];

fn coordinates(n: usize, y: &mut [u32]) {
    let mut at = 0;
    for r in 0..n {
        for c in 0..=r {
            y[at] += (r * n + c) as u32;
            at += 1;
        }
    }
}

fn triangle(device: &Device) -> Check {
    for n in TRIANGLES {
        let run = |y: &mut Vector<u32>| triangle_kernel(n, y).over((n, n)).run_on(device);
        in_place("triangle", n * (n + 1) / 2, run, |y| coordinates(n, y))?;
    }
    Ok(())
}

#[kernel]
fn triangle_rows_kernel(n: usize, y: &mut [u32]) {
    let r = global_idx_x();
    if r < n {
        let start = (r * r + r) / 2;
        for c in 0..r + 1 {
            y[start + c] += (r * n + c) as u32;
        }
    }
}

fn triangle_rows(device: &Device) -> Check {
    for n in TRIANGLES {
        let run = |y: &mut Vector<u32>| triangle_rows_kernel(n, y).over(n).run_on(device);
        in_place("rows", n * (n + 1) / 2, run, |y| coordinates(n, y))?;
    }
    Ok(())
}

/// The elements of each group of four in reverse order.
#[kernel]
fn masks_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    if i < x.len() {
        y[(i & !3) | (3 - (i & 3))] = x[i];
    }
}

fn masks(device: &Device) -> Check {
    for n in SIZES {
        let n = n / 4 * 4;
        let values = random(13, n);
        let run = |y: &mut Vector<u32>| {
            let x = Vector::from_slice(&values);
            masks_kernel(&x, y).over(n).run_on(device)
        };
        in_place("masks", n, run, |y| {
            for i in 0..n {
                y[i / 4 * 4 + 3 - i % 4] = values[i];
            }
        })?;
    }
    Ok(())
}

#[kernel]
fn gray_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    if i < x.len() {
        y[i ^ (i >> 1)] = x[i];
    }
}

fn gray(device: &Device) -> Check {
    for n in [1, 64, 256] {
        let values = random(15, n);
        let run = |y: &mut Vector<u32>| {
            let x = Vector::from_slice(&values);
            gray_kernel(&x, y).over(n).run_on(device)
        };
        in_place("gray", n, run, |y| {
            for i in 0..n {
                y[i ^ (i >> 1)] = values[i];
            }
        })?;
    }
    Ok(())
}

/// The order of a Fourier transform of 64 points.
#[kernel]
fn reversed_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x() as u32;
    if i < 64 {
        y[(i.reverse_bits() >> 26) as usize] = x[i as usize];
    }
}

fn reversed(device: &Device) -> Check {
    let values = random(17, 64);
    let run = |y: &mut Vector<u32>| {
        let x = Vector::from_slice(&values);
        reversed_kernel(&x, y).over(64).run_on(device)
    };
    in_place("reversed", 64, run, |y| {
        for i in 0..64_u32 {
            y[(i.reverse_bits() >> 26) as usize] = values[i as usize];
        }
    })
}
