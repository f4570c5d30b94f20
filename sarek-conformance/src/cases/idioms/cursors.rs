//! Cursors that step beside a loop's counter, loops whose turns the compiler knows, and signed numbers.

use super::{SIZES, in_place, random};
use crate::Case;
use crate::check::{Check, ensure};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("idioms/cursor_beside_a_counter", &[], beside),
    Case::new("idioms/cursor_in_nested_loops", &[], nested),
    Case::new("idioms/scan_by_busy_threads", &[], scan),
    Case::new("idioms/exchange_in_halves", &[], exchange),
    Case::new("idioms/signed_ring", &[], signed),
    Case::new("idioms/shift_by_an_argument", &[], shift),
    Case::new("idioms/constant_for_two_tiles", &[], tiles),
];

#[kernel]
fn beside_kernel(y: &mut [u32]) {
    let mut at = 4 * global_idx_x();
    for k in 0..4 {
        y[at] += k;
        at += 1;
    }
}

fn beside(device: &Device) -> Check {
    for n in [0, 1, 5, 65] {
        let run = |y: &mut Vector<u32>| beside_kernel(y).over(n).run_on(device);
        in_place("groups", 4 * n, run, |y| {
            (0..).zip(y).for_each(|(at, y)| *y += at % 4);
        })?;
    }
    Ok(())
}

#[kernel]
fn nested_kernel(h: usize, w: usize, y: &mut [u32]) {
    let mut at = global_idx_x() * h * w;
    for r in 0..h {
        for _ in 0..w {
            y[at] += r as u32;
            at += 1;
        }
    }
}

fn nested(device: &Device) -> Check {
    for (n, h, w) in [(1, 1, 1), (5, 3, 4), (33, 2, 1), (7, 1, 5)] {
        let run = |y: &mut Vector<u32>| nested_kernel(h, w, y).over(n).run_on(device);
        in_place("planes", n * h * w, run, |y| {
            for (at, y) in y.iter_mut().enumerate() {
                *y += (at / w % h) as u32;
            }
        })?;
    }
    Ok(())
}

/// The sums of the elements before each one, up and down a tree.
#[kernel(block = 32)]
fn scan_kernel(y: &mut [u32]) {
    let s = shared_array::<u32, 64>();
    let (t, first) = (thread_idx_x(), 2 * global_idx_x());
    s[2 * t] = y[first];
    s[2 * t + 1] = y[first + 1];
    let (mut gap, mut busy) = (1, 32);
    while busy > 0 {
        barrier();
        if t < busy {
            let (left, right) = (gap * (2 * t + 1) - 1, gap * (2 * t + 2) - 1);
            s[right] += s[left];
        }
        gap *= 2;
        busy >>= 1;
    }
    if t == 0 {
        s[63] = 0;
    }
    busy = 1;
    while busy < 64 {
        gap >>= 1;
        barrier();
        if t < busy {
            let (left, right) = (gap * (2 * t + 1) - 1, gap * (2 * t + 2) - 1);
            let sum = s[left];
            s[left] = s[right];
            s[right] += sum;
        }
        busy *= 2;
    }
    barrier();
    y[first] = s[2 * t];
    y[first + 1] = s[2 * t + 1];
}

fn scan(device: &Device) -> Check {
    for blocks in [1, 3] {
        let run = |y: &mut Vector<u32>| scan_kernel(y).grid(blocks).run_on(device);
        in_place("in blocks", 64 * blocks, run, |y| {
            for block in y.chunks_mut(64) {
                let mut sum = 0;
                for y in block {
                    (*y, sum) = (sum, sum + *y);
                }
            }
        })?;
    }
    Ok(())
}

/// Merges bitonic halves: after the last size, the elements of a block are sorted.
#[kernel(block = 32)]
fn exchange_kernel(y: &mut [u32]) {
    let s = shared_array::<u32, 64>();
    let (t, first) = (thread_idx_x(), 2 * global_idx_x());
    s[2 * t] = y[first];
    s[2 * t + 1] = y[first + 1];
    barrier();
    let mut size = 2;
    while size <= 64 {
        let rises = 2 * t & size == 0;
        let mut far = size / 2;
        while far > 0 {
            let at = 2 * t - (t & (far - 1));
            if (s[at] > s[at + far]) == rises {
                s.swap(at, at + far);
            }
            barrier();
            far /= 2;
        }
        size *= 2;
    }
    y[first] = s[2 * t];
    y[first + 1] = s[2 * t + 1];
}

fn exchange(device: &Device) -> Check {
    for blocks in [1, 3] {
        let run = |y: &mut Vector<u32>| exchange_kernel(y).grid(blocks).run_on(device);
        in_place("in blocks", 64 * blocks, run, |y| {
            y.chunks_mut(64).for_each(<[u32]>::sort_unstable);
        })?;
    }
    Ok(())
}

#[kernel]
fn signed_kernel(by: i32, x: &[u32], y: &mut [u32]) {
    let (i, n) = (global_idx_x() as i32, x.len() as i32);
    if i < n {
        y[(i - by).rem_euclid(n) as usize] = x[i as usize];
    }
}

fn signed(device: &Device) -> Check {
    for n in SIZES {
        for by in [-3, 0, 7] {
            let x = random(5, n);
            let mut y = Vector::zeros(n);
            signed_kernel(by, &Vector::from_slice(&x), &mut y)
                .over(n)
                .run_on(device)?;
            let mut expected = x;
            if n > 0 {
                expected.rotate_left(by.rem_euclid(n as i32) as usize);
            }
            ensure(y.to_vec()? == expected, || format!("{n} by {by}"))?;
        }
    }
    Ok(())
}

#[kernel]
fn shift_kernel(bits: u32, y: &mut [u32]) {
    let i = global_idx_x();
    for k in 0..1usize << bits {
        y[(i << bits) + k] += k as u32;
    }
}

fn shift(device: &Device) -> Check {
    for bits in [0, 1, 3] {
        let run = |y: &mut Vector<u32>| shift_kernel(bits, y).over(9).run_on(device);
        in_place("groups", 9 << bits, run, |y| {
            (0..).zip(y).for_each(|(at, y)| *y += at % (1 << bits));
        })?;
    }
    Ok(())
}

const TILE: usize = 64;
const TWICE: usize = 2 * TILE;

/// Each block has two tiles.
#[kernel(block = 64)]
fn tiles_kernel(y: &mut [u32]) {
    let at = block_idx_x() * TWICE + thread_idx_x();
    y[at] += 1;
    y[at + TILE] += 2;
}

fn tiles(device: &Device) -> Check {
    for blocks in [1, 3] {
        let run = |y: &mut Vector<u32>| tiles_kernel(y).grid(blocks).run_on(device);
        in_place("tiles", TWICE * blocks, run, |y| {
            for (at, y) in y.iter_mut().enumerate() {
                *y += 1 + (at / TILE % 2) as u32;
            }
        })?;
    }
    Ok(())
}
