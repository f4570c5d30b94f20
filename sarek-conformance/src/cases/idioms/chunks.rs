//! Several neighbouring elements for each thread, also where the last chunk is shorter.

use super::{SIZES, in_place, random};
use crate::Case;
use crate::check::Check;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("idioms/chunks_ragged", &[], ragged),
    Case::new("idioms/chunks_of_five", &[], fives),
    Case::new("idioms/chunks_by_cursor", &[], cursor),
    Case::new("idioms/chunks_counted_down", &[], countdown),
    Case::new("idioms/chunks_of_an_argument", &[], argument),
    Case::new("idioms/strips_of_blocks", &[], strips),
    Case::new("idioms/shifted_by_hand", &[], shifted),
];

/// The sum of each element and those before it in its chunk.
fn prefix(y: &mut [u32], per: usize) {
    for chunk in y.chunks_mut(per.max(1)) {
        let mut sum = 0;
        for y in chunk {
            sum += *y;
            *y = sum;
        }
    }
}

/// The length of a chunk is rounded up, so that the last threads may have a short one or none.
#[kernel]
fn ragged_kernel(y: &mut [u32]) {
    let n = y.len();
    let per = (n + global_dim_x() - 1) / global_dim_x();
    let first = per * global_idx_x();
    let end = (first + per).min(n);
    let mut sum = 0;
    for at in first..end {
        sum += y[at];
        y[at] = sum;
    }
}

fn ragged(device: &Device) -> Check {
    for n in SIZES {
        let run = |y: &mut Vector<u32>| ragged_kernel(y).grid(2).block(8).run_on(device);
        in_place("ragged", n, run, |y| prefix(y, n.div_ceil(16)))?;
    }
    Ok(())
}

#[kernel]
fn fives_kernel(y: &mut [u32]) {
    let i = global_idx_x();
    let mut sum = 0;
    for k in 0..5 {
        let at = 5 * i + k;
        if at < y.len() {
            sum += y[at];
            y[at] = sum;
        }
    }
}

fn fives(device: &Device) -> Check {
    for n in SIZES {
        let run = |y: &mut Vector<u32>| fives_kernel(y).over(n.div_ceil(5)).run_on(device);
        in_place("fives", n, run, |y| prefix(y, 5))?;
    }
    Ok(())
}

/// A cursor moves on between the statements that use it.
#[kernel]
fn cursor_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    if i < x.len() {
        let mut at = 3 * i;
        y[at] = x[i];
        at += 1;
        y[at] = 2 * x[i];
        at += 1;
        y[at] += x[i];
    }
}

fn cursor(device: &Device) -> Check {
    for n in SIZES {
        let x = random(3, n);
        let run = |y: &mut Vector<u32>| {
            let x = Vector::from_slice(&x);
            cursor_kernel(&x, y).over(n).run_on(device)
        };
        in_place("cursor", 3 * n, run, |y| {
            for (y, x) in y.chunks_mut(3).zip(&x) {
                (y[0], y[1], y[2]) = (*x, 2 * x, y[2] + x);
            }
        })?;
    }
    Ok(())
}

#[kernel]
fn countdown_kernel(y: &mut [u32]) {
    let first = 4 * global_idx_x();
    let mut left = 4;
    let mut sum = 0;
    while left > 0 {
        left -= 1;
        if first + left < y.len() {
            sum += y[first + left];
            y[first + left] = sum;
        }
    }
}

fn countdown(device: &Device) -> Check {
    for n in SIZES {
        let run = |y: &mut Vector<u32>| countdown_kernel(y).over(n.div_ceil(4)).run_on(device);
        in_place("countdown", n, run, |y| {
            for chunk in y.chunks_mut(4) {
                chunk.reverse();
                prefix(chunk, 4);
                chunk.reverse();
            }
        })?;
    }
    Ok(())
}

/// The length of a chunk is an argument, and the counter is kept by hand.
#[kernel]
fn argument_kernel(per: usize, y: &mut [u32]) {
    let first = global_idx_x() * per;
    let mut sum = 0;
    let mut k = 0;
    while k < per && first + k < y.len() {
        sum += y[first + k];
        y[first + k] = sum;
        k += 1;
    }
}

fn argument(device: &Device) -> Check {
    for n in SIZES {
        for per in [1, 3, 64] {
            let run = |y: &mut Vector<u32>| {
                let launch = argument_kernel(per, y).over(n.div_ceil(per));
                launch.run_on(device)
            };
            in_place(&format!("{per} each"), n, run, |y| prefix(y, per))?;
        }
    }
    Ok(())
}

/// A block has four neighbouring strips, each as wide as the block.
#[kernel]
fn strips_kernel(y: &mut [u32]) {
    let base = 4 * block_idx_x() * block_dim_x();
    for strip in 0..4 {
        let i = base + strip * block_dim_x() + thread_idx_x();
        if i < y.len() {
            y[i] += strip as u32;
        }
    }
}

fn strips(device: &Device) -> Check {
    for n in SIZES {
        let run = |y: &mut Vector<u32>| {
            let launch = strips_kernel(y).grid(n.div_ceil(4 * 16)).block(16);
            launch.run_on(device)
        };
        in_place("strips", n, run, |y| {
            (0..n).for_each(|i| y[i] += (i / 16 % 4) as u32);
        })?;
    }
    Ok(())
}

/// An index that is changed once before it is used.
#[kernel]
fn shifted_kernel(x: &[u32], y: &mut [u32]) {
    let mut i = global_idx_x();
    i += 2;
    if i < y.len() {
        y[i] = x[i - 2] + x[i - 1];
    }
}

fn shifted(device: &Device) -> Check {
    for n in SIZES {
        let x = random(4, n);
        let run = |y: &mut Vector<u32>| {
            let x = Vector::from_slice(&x);
            shifted_kernel(&x, y).over(n).run_on(device)
        };
        in_place("shifted", n, run, |y| {
            (2..n).for_each(|i| y[i] = x[i - 2] + x[i - 1]);
        })?;
    }
    Ok(())
}
