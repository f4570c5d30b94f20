//! A run of elements for each thread or block, whose ends are cut by `min`, and indices by `min`, `clamp` and
//! `saturating_sub`.

use super::{SIZES, in_place};
use crate::Case;
use crate::check::Check;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("idioms/runs_cut_at_both_ends", &[], cut),
    Case::new("idioms/runs_by_next_start", &[], next_start),
    Case::new("idioms/runs_by_length", &[], length),
    Case::new("idioms/runs_of_blocks", &[], of_blocks),
    Case::new("idioms/runs_that_differ_by_one", &[], by_one),
    Case::new("idioms/runs_by_pairs", &[], by_pairs),
    Case::new("idioms/runs_by_quotients", &[], by_quotients),
    Case::new("idioms/index_by_min", &[], by_min),
    Case::new("idioms/index_by_clamp", &[], by_clamp),
    Case::new("idioms/index_by_saturating_sub", &[], by_saturating_sub),
    Case::new("idioms/index_by_wrapping_sub", &[], by_wrapping_sub),
];

/// Both ends of a run are at most the length.
#[kernel]
fn cut_kernel(y: &mut [u32]) {
    let n = y.len();
    let per = n.div_ceil(global_dim_x());
    let first = (per * global_idx_x()).min(n);
    let end = (first + per).min(n);
    for at in first..end {
        y[at] += at as u32;
    }
}

/// Adds its index to each element.
fn numbered(y: &mut [u32]) {
    (0..y.len()).for_each(|i| y[i] += i as u32);
}

fn cut(device: &Device) -> Check {
    for n in SIZES {
        let run = |y: &mut Vector<u32>| cut_kernel(y).grid(2).block(8).run_on(device);
        in_place("cut", n, run, numbered)?;
    }
    Ok(())
}

/// A run ends where the next one begins.
#[kernel]
fn next_start_kernel(per: usize, y: &mut [u32]) {
    let (i, n) = (global_idx_x(), y.len());
    let first = usize::min(i * per, n);
    let end = usize::min((i + 1) * per, n);
    let mut at = first;
    while at < end {
        y[at] += at as u32;
        at += 1;
    }
}

fn next_start(device: &Device) -> Check {
    for n in SIZES {
        let run = |y: &mut Vector<u32>| next_start_kernel(3, y).over(n.div_ceil(3)).run_on(device);
        in_place("next start", n, run, numbered)?;
    }
    Ok(())
}

/// The first threads take one element more.
#[kernel]
fn by_one_kernel(y: &mut [u32]) {
    let (i, n, t) = (global_idx_x(), y.len(), global_dim_x());
    let (per, rest) = (n / t, n % t);
    let first = i * per + i.min(rest);
    let count = per + if i < rest { 1 } else { 0 };
    for at in first..first + count {
        y[at] += at as u32;
    }
}

fn by_one(device: &Device) -> Check {
    for n in SIZES {
        let run = |y: &mut Vector<u32>| by_one_kernel(y).grid(2).block(8).run_on(device);
        in_place("by one", n, run, numbered)?;
    }
    Ok(())
}

/// The same with a pair from a branch, for a number of threads that is an argument.
#[kernel]
fn by_pairs_kernel(t: usize, y: &mut [u32]) {
    let (i, n) = (global_idx_x(), y.len());
    if i < t {
        let (per, rest) = (n / t, n % t);
        let (first, count) = if i < rest {
            (i * (per + 1), per + 1)
        } else {
            (i * per + rest, per)
        };
        for k in 0..count {
            y[first + k] += (first + k) as u32;
        }
    }
}

fn by_pairs(device: &Device) -> Check {
    for n in SIZES {
        let run = |y: &mut Vector<u32>| by_pairs_kernel(7, y).grid(2).block(8).run_on(device);
        in_place("by pairs", n, run, numbered)?;
    }
    Ok(())
}

/// A run begins at `n * i / t` and ends where the next one begins.
#[kernel]
fn by_quotients_kernel(y: &mut [u32]) {
    let (i, n, t) = (global_idx_x(), y.len(), global_dim_x());
    for at in n * i / t..n * (i + 1) / t {
        y[at] += at as u32;
    }
}

fn by_quotients(device: &Device) -> Check {
    for n in SIZES {
        let run = |y: &mut Vector<u32>| by_quotients_kernel(y).grid(2).block(8).run_on(device);
        in_place("by quotients", n, run, numbered)?;
    }
    Ok(())
}

#[kernel]
fn length_kernel(per: usize, y: &mut [u32]) {
    let n = y.len();
    let first = (per * global_idx_x()).min(n);
    let len = per.min(n - first);
    for k in 0..len {
        y[first + k] += (first + k) as u32;
    }
}

fn length(device: &Device) -> Check {
    for n in SIZES {
        let run = |y: &mut Vector<u32>| length_kernel(7, y).over(n.div_ceil(7)).run_on(device);
        in_place("length", n, run, numbered)?;
    }
    Ok(())
}

/// The threads of a block walk through its run together.
#[kernel]
fn of_blocks_kernel(y: &mut [u32]) {
    let n = y.len();
    let per = n.div_ceil(grid_dim_x());
    let first = (per * block_idx_x()).min(n);
    let end = (first + per).min(n);
    let mut at = first + thread_idx_x();
    while at < end {
        y[at] += at as u32;
        at += block_dim_x();
    }
}

fn of_blocks(device: &Device) -> Check {
    for n in SIZES {
        let run = |y: &mut Vector<u32>| of_blocks_kernel(y).grid(3).block(8).run_on(device);
        in_place("of blocks", n, run, numbered)?;
    }
    Ok(())
}

#[kernel]
fn by_min_kernel(n: usize, y: &mut [u32]) {
    let i = global_idx_x();
    if i < n {
        let at = i.min(n - 1);
        y[at] += at as u32;
    }
}

fn by_min(device: &Device) -> Check {
    for n in SIZES {
        let run = |y: &mut Vector<u32>| by_min_kernel(n, y).over(n).run_on(device);
        in_place("min", n, run, numbered)?;
    }
    Ok(())
}

/// All elements but those at the ends.
#[kernel]
fn by_clamp_kernel(y: &mut [u32]) {
    let (i, n) = (global_idx_x(), y.len());
    if i > 0 && i + 1 < n {
        let at = i.clamp(1, n - 2);
        y[at] += at as u32;
    }
}

fn by_clamp(device: &Device) -> Check {
    for n in SIZES {
        let run = |y: &mut Vector<u32>| by_clamp_kernel(y).over(n).run_on(device);
        in_place("clamp", n, run, |y| {
            (1..n.saturating_sub(1)).for_each(|i| y[i] += i as u32);
        })?;
    }
    Ok(())
}

/// The elements from the last to the first.
#[kernel]
fn by_saturating_sub_kernel(y: &mut [u32]) {
    let left = y.len().saturating_sub(global_idx_x());
    if left > 0 {
        y[left - 1] += left as u32;
    }
}

fn by_saturating_sub(device: &Device) -> Check {
    for n in SIZES {
        let run = |y: &mut Vector<u32>| by_saturating_sub_kernel(y).over(n + 3).run_on(device);
        in_place("saturating_sub", n, run, |y| {
            (0..n).for_each(|i| y[i] += i as u32 + 1);
        })?;
    }
    Ok(())
}

#[kernel]
fn by_wrapping_sub_kernel(y: &mut [u32]) {
    let i = global_idx_x();
    if i > 0 && i <= y.len() {
        y[i.wrapping_sub(1)] += i as u32;
    }
}

fn by_wrapping_sub(device: &Device) -> Check {
    for n in SIZES {
        let run = |y: &mut Vector<u32>| by_wrapping_sub_kernel(y).over(n + 1).run_on(device);
        in_place("wrapping_sub", n, run, |y| {
            (0..n).for_each(|i| y[i] += i as u32 + 1);
        })?;
    }
    Ok(())
}
