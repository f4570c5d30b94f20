//! Indices that differ in one bit, whose position is an argument, and rows whose length is rounded up.

use super::{PLANES, in_place};
use crate::Case;
use crate::check::Check;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("idioms/pairs_by_a_shift", &[], shifted),
    Case::new("idioms/pairs_by_a_guard", &[], guarded),
    Case::new("idioms/pairs_by_a_mask", &[], masked),
    Case::new("idioms/pitch_by_div_ceil", &[], pitch),
    Case::new("idioms/phases_by_a_flag", &[], flags),
];

/// The sum and the difference of each pair whose indices differ in a bit.
fn pairs(y: &mut [u32], bit: usize) {
    for low in (0..y.len()).filter(|i| i & bit == 0) {
        let (a, b) = (y[low], y[low + bit]);
        y[low] = a.wrapping_add(b);
        y[low + bit] = a.wrapping_sub(b);
    }
}

#[kernel]
fn shifted_kernel(q: u32, y: &mut [u32]) {
    let (i, bit) = (global_idx_x(), 1usize << q);
    if i < y.len() / 2 {
        let low = ((i >> q) << (q + 1)) | (i & (bit - 1));
        let high = low | bit;
        let (a, b) = (y[low], y[high]);
        y[low] = a.wrapping_add(b);
        y[high] = a.wrapping_sub(b);
    }
}

fn shifted(device: &Device) -> Check {
    for q in 0..7 {
        let run = |y: &mut Vector<u32>| shifted_kernel(q, y).over(64).run_on(device);
        in_place("shifted", 128, run, |y| pairs(y, 1 << q))?;
    }
    Ok(())
}

#[kernel]
fn guarded_kernel(q: u32, y: &mut [u32]) {
    let (i, bit) = (global_idx_x(), 1usize << q);
    if i & bit == 0 && i < y.len() {
        let (a, b) = (y[i], y[i ^ bit]);
        y[i] = a.wrapping_add(b);
        y[i ^ bit] = a.wrapping_sub(b);
    }
}

fn guarded(device: &Device) -> Check {
    for q in 0..7 {
        let run = |y: &mut Vector<u32>| guarded_kernel(q, y).over(128).run_on(device);
        in_place("guarded", 128, run, |y| pairs(y, 1 << q))?;
    }
    Ok(())
}

/// Pairs of indices of which one has no bit of a mask, and the other one all.
#[kernel]
fn masked_kernel(mask: usize, y: &mut [u32]) {
    let i = global_idx_x();
    if i & mask == 0 && i + mask < y.len() {
        y.swap(i, i ^ mask);
    }
}

fn masked(device: &Device) -> Check {
    for mask in [0_usize, 1, 5, 40, 64, 127, 200] {
        let run = |y: &mut Vector<u32>| masked_kernel(mask, y).over(128).run_on(device);
        in_place("masked", 128, run, |y| {
            let lower = (0..128).filter(|i| i & mask == 0 && i + mask < 128);
            lower.for_each(|i| y.swap(i, i ^ mask));
        })?;
    }
    Ok(())
}

#[kernel]
fn pitch_kernel(w: usize, h: usize, y: &mut [u32]) {
    let (c, r) = (global_idx_x(), global_idx_y());
    let pitch = w.div_ceil(16) * 16;
    if c < w && r < h {
        y[r * pitch + c] += (r + c) as u32;
    }
}

fn pitch(device: &Device) -> Check {
    for (w, h) in PLANES {
        let pitch = w.div_ceil(16) * 16;
        let run = |y: &mut Vector<u32>| pitch_kernel(w, h, y).over((w, h)).run_on(device);
        in_place("pitch", pitch * h, run, |y| {
            for (r, c) in (0..h).flat_map(|r| (0..w).map(move |c| (r, c))) {
                y[r * pitch + c] += (r + c) as u32;
            }
        })?;
    }
    Ok(())
}

/// Two arrays, of which a flag tells the one to be written.
#[kernel(block = 32)]
fn flags_kernel(steps: i32, y: &mut [u32]) {
    let a = shared_array::<u32, 32>();
    let b = shared_array::<u32, 32>();
    let (t, i) = (thread_idx_x(), global_idx_x());
    (a[t], b[t]) = (y[i], 0);
    barrier();
    let mut back = false;
    for _ in 0..steps {
        if back {
            a[t] = b[t].wrapping_add(b[31 - t]);
        } else {
            b[t] = a[t].wrapping_add(a[31 - t]);
        }
        barrier();
        back = !back;
    }
    y[i] = if back { b[t] } else { a[t] };
}

fn flags(device: &Device) -> Check {
    for steps in 0..4 {
        let run = |y: &mut Vector<u32>| flags_kernel(steps, y).grid(3).run_on(device);
        in_place("flags", 96, run, |y| {
            for part in y.chunks_mut(32) {
                for _ in 0..steps {
                    let old = part.to_vec();
                    (0..32).for_each(|t| part[t] = old[t].wrapping_add(old[31 - t]));
                }
            }
        })?;
    }
    Ok(())
}
