//! Values that loops carry from turn to turn: stepped ranges, numbers that are doubled, offsets that change places.

use super::{PLANES, in_place};
use crate::Case;
use crate::check::Check;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("idioms/plane_by_stepped_ranges", &[], stepped_plane),
    Case::new("idioms/pairs_by_a_stepped_range", &[], stepped_pairs),
    Case::new("idioms/up_sweep_of_busy_threads", &[], up_sweep),
    Case::new("idioms/two_buffers_change_places", &[], swapped),
    Case::new("idioms/sort_by_parity", &[], by_parity),
    Case::new("idioms/red_and_black", &[], red_black),
    Case::new("idioms/low_bits", &[], low_bits),
];

#[kernel]
fn stepped_plane_kernel(w: usize, h: usize, y: &mut [u32]) {
    for r in (global_idx_y()..h).step_by(global_dim_y()) {
        for c in (global_idx_x()..w).step_by(global_dim_x()) {
            y[r * w + c] = 2 * y[r * w + c] + (r + c) as u32;
        }
    }
}

fn stepped_plane(device: &Device) -> Check {
    for (w, h) in PLANES {
        in_place(
            &format!("{w} × {h}"),
            w * h,
            |y| {
                stepped_plane_kernel(w, h, y)
                    .grid((2, 2))
                    .block((4, 2))
                    .run_on(device)
            },
            |y| {
                for (i, y) in y.iter_mut().enumerate() {
                    *y = 2 * *y + (i / w + i % w) as u32;
                }
            },
        )?;
    }
    Ok(())
}

#[kernel]
fn stepped_pairs_kernel(y: &mut [u32]) {
    let i = global_idx_x();
    for k in (0..8).step_by(2) {
        y[8 * i + k] += k as u32;
        y[8 * i + k + 1] += i as u32;
    }
}

fn stepped_pairs(device: &Device) -> Check {
    for n in [0, 1, 5, 33] {
        in_place(
            "groups",
            8 * n,
            |y| stepped_pairs_kernel(y).over(n).run_on(device),
            |y| {
                for (at, y) in y.iter_mut().enumerate() {
                    *y += if at % 2 == 0 { at % 8 } else { at / 8 } as u32;
                }
            },
        )?;
    }
    Ok(())
}

#[kernel(block = 64)]
fn up_sweep_kernel(y: &mut [u32]) {
    let s = shared_array::<u32, 64>();
    let t = thread_idx_x();
    s[t] = y[global_idx_x()];
    let (mut gap, mut busy) = (1, 32);
    while busy > 0 {
        barrier();
        if t < busy {
            let left = gap * (2 * t + 1) - 1;
            s[left + gap] += s[left];
        }
        gap *= 2;
        busy /= 2;
    }
    barrier();
    y[global_idx_x()] = s[t];
}

fn up_sweep(device: &Device) -> Check {
    in_blocks(
        64,
        |y, blocks| up_sweep_kernel(y).grid(blocks).run_on(device),
        |y| {
            let mut gap = 1;
            while gap < 64 {
                for left in (gap - 1..64).step_by(2 * gap) {
                    y[left + gap] += y[left];
                }
                gap *= 2;
            }
        },
    )
}

/// Runs a kernel that changes each `size` elements in place.
fn in_blocks(
    size: usize,
    run: impl Fn(&mut Vector<u32>, usize) -> sarek::Result<()>,
    reference: impl Fn(&mut [u32]),
) -> Check {
    for blocks in [1, 3] {
        in_place(
            "in blocks",
            size * blocks,
            |y| run(y, blocks),
            |y| y.chunks_mut(size).for_each(&reference),
        )?;
    }
    Ok(())
}

#[kernel(block = 32)]
fn swapped_kernel(turns: u32, y: &mut [u32]) {
    let s = shared_array::<u32, 64>();
    let t = thread_idx_x();
    let (mut from, mut to) = (0, 32);
    s[from + t] = y[global_idx_x()];
    barrier();
    for _ in 0..turns {
        let left = if t == 0 { 1 } else { s[from + t - 1] };
        s[to + t] = (s[from + t] + left) % 1000;
        barrier();
        (from, to) = (to, from);
    }
    y[global_idx_x()] = s[from + t];
}

fn swapped(device: &Device) -> Check {
    for turns in [0, 1, 6] {
        in_blocks(
            32,
            |y, blocks| swapped_kernel(turns, y).grid(blocks).run_on(device),
            |y| {
                for _ in 0..turns {
                    let old = y.to_vec();
                    for t in 0..32 {
                        y[t] = (old[t] + if t == 0 { 1 } else { old[t - 1] }) % 1000;
                    }
                }
            },
        )?;
    }
    Ok(())
}

#[kernel(block = 32)]
fn by_parity_kernel(y: &mut [u32]) {
    let s = shared_array::<u32, 32>();
    let t = thread_idx_x();
    s[t] = y[global_idx_x()];
    barrier();
    for round in 0..32 {
        if t % 2 == round % 2 && t + 1 < 32 && s[t] > s[t + 1] {
            s.swap(t, t + 1);
        }
        barrier();
    }
    y[global_idx_x()] = s[t];
}

fn by_parity(device: &Device) -> Check {
    in_blocks(
        32,
        |y, blocks| by_parity_kernel(y).grid(blocks).run_on(device),
        <[u32]>::sort_unstable,
    )
}

#[kernel]
fn red_black_kernel(parity: usize, w: usize, h: usize, y: &mut [u32]) {
    let (c, r) = (global_idx_x(), global_idx_y());
    if c > 0 && c + 1 < w && r < h && (r + c) % 2 == parity {
        y[r * w + c] = y[r * w + c - 1] + y[r * w + c + 1];
    }
}

fn red_black(device: &Device) -> Check {
    for (w, h) in PLANES {
        in_place(
            &format!("{w} × {h}"),
            w * h,
            |y| red_black_kernel(1, w, h, y).over((w, h)).run_on(device),
            |y| {
                let old = y.to_vec();
                for i in 0..w * h {
                    let (r, c) = (i / w, i % w);
                    if c > 0 && c + 1 < w && (r + c) % 2 == 1 {
                        y[i] = old[i - 1] + old[i + 1];
                    }
                }
            },
        )?;
    }
    Ok(())
}

#[kernel]
fn low_bits_kernel(y: &mut [u32]) {
    let i = global_idx_x();
    y[i << 1] += 5;
    y[i << 1 | 1] *= 3;
}

fn low_bits(device: &Device) -> Check {
    for n in [0, 1, 65] {
        in_place(
            "pairs",
            2 * n,
            |y| low_bits_kernel(y).over(n).run_on(device),
            |y| {
                for pair in y.chunks_mut(2) {
                    pair[0] += 5;
                    pair[1] *= 3;
                }
            },
        )?;
    }
    Ok(())
}
