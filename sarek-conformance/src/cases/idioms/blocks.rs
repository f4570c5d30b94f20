//! Sums, scans and sorts in shared memory, in their usual forms.

use super::{SIZES, in_place, random};
use crate::Case;
use crate::check::Check;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("idioms/tree_by_halves", &[], halves),
    Case::new("idioms/tree_by_doubles", &[], doubles),
    Case::new("idioms/tree_by_multiples", &[], multiples),
    Case::new("idioms/scan_blelloch", &[], blelloch),
    Case::new("idioms/scan_hillis_steele", &[], hillis_steele),
    Case::new("idioms/scan_two_buffers", &[], two_buffers),
    Case::new("idioms/scan_two_arrays", &[], two_arrays),
    Case::new("idioms/sort_odd_even", &[], odd_even),
    Case::new("idioms/sort_bitonic_step", &[], bitonic),
    Case::new("idioms/first_of_a_block", &[], first),
];

/// Runs a kernel that writes one result for each 64 elements of `x`. The last block may have fewer elements.
pub(super) fn of_each_block(
    run: impl Fn(&Vector<u32>, &mut Vector<u32>, usize) -> sarek::Result<()>,
    reference: impl Fn(&[u32]) -> u32,
) -> Check {
    for n in SIZES {
        let x = random(n as u64, n);
        let blocks = n.div_ceil(64);
        in_place(
            &format!("blocks of {n}"),
            blocks,
            |y| run(&Vector::from_slice(&x), y, blocks),
            |y| {
                for (y, x) in y.iter_mut().zip(x.chunks(64)) {
                    *y = reference(x);
                }
            },
        )?;
    }
    Ok(())
}

/// Runs a kernel that changes each 64 elements in place.
pub(super) fn in_each_block(
    run: impl Fn(&mut Vector<u32>, usize) -> sarek::Result<()>,
    reference: impl Fn(&mut [u32]),
) -> Check {
    for blocks in [0, 1, 3] {
        in_place(
            "in blocks",
            64 * blocks,
            |y| run(y, blocks),
            |y| y.chunks_mut(64).for_each(&reference),
        )?;
    }
    Ok(())
}

#[kernel(block = 64)]
fn halves_kernel(x: &[u32], y: &mut [u32]) {
    let part = shared_array::<u32, 64>();
    let (t, i) = (thread_idx_x(), global_idx_x());
    part[t] = if i < x.len() { x[i] } else { 0 };
    let mut half = 32;
    while half >= 1 {
        barrier();
        if t < half {
            part[t] += part[t + half];
        }
        half >>= 1;
    }
    if t == 0 {
        y[block_idx_x()] = part[0];
    }
}

fn halves(device: &Device) -> Check {
    of_each_block(
        |x, y, blocks| halves_kernel(x, y).grid(blocks).run_on(device),
        |x| x.iter().sum(),
    )
}

/// The first threads combine elements that are further and further apart.
#[kernel(block = 64)]
fn doubles_kernel(x: &[u32], y: &mut [u32]) {
    let least = shared_array::<u32, 64>();
    let (t, i) = (thread_idx_x(), global_idx_x());
    least[t] = if i < x.len() { x[i] } else { 5000 };
    barrier();
    let mut apart = 1;
    while apart < 64 {
        let at = 2 * apart * t;
        if at + apart < 64 {
            least[at] = least[at].min(least[at + apart]);
        }
        apart *= 2;
        barrier();
    }
    if t == 0 {
        y[block_idx_x()] = least[0];
    }
}

fn doubles(device: &Device) -> Check {
    of_each_block(
        |x, y, blocks| doubles_kernel(x, y).grid(blocks).run_on(device),
        |x| x.iter().copied().min().unwrap_or(5000),
    )
}

/// The threads whose number is a multiple combine elements.
#[kernel(block = 64)]
fn multiples_kernel(x: &[u32], y: &mut [u32]) {
    let bits = shared_array::<u32, 64>();
    let (t, i) = (thread_idx_x(), global_idx_x());
    bits[t] = if i < x.len() { x[i] } else { 0 };
    barrier();
    let mut apart = 1;
    while apart < 64 {
        if t % (2 * apart) == 0 {
            bits[t] |= bits[t + apart];
        }
        barrier();
        apart *= 2;
    }
    if t == 0 {
        y[block_idx_x()] = bits[0];
    }
}

fn multiples(device: &Device) -> Check {
    of_each_block(
        |x, y, blocks| multiples_kernel(x, y).grid(blocks).run_on(device),
        |x| x.iter().fold(0, |a, b| a | b),
    )
}

/// An exclusive scan: sums up a tree, then down.
#[kernel(block = 64)]
fn blelloch_kernel(y: &mut [u32]) {
    let s = shared_array::<u32, 64>();
    let t = thread_idx_x();
    s[t] = y[global_idx_x()];
    let mut gap = 1;
    while gap < 64 {
        barrier();
        let left = gap * (2 * t + 1) - 1;
        let right = left + gap;
        if right < 64 {
            s[right] += s[left];
        }
        gap *= 2;
    }
    barrier();
    if t == 0 {
        s[63] = 0;
    }
    while gap > 1 {
        gap /= 2;
        barrier();
        let left = gap * (2 * t + 1) - 1;
        let right = left + gap;
        if right < 64 {
            let kept = s[left];
            s[left] = s[right];
            s[right] += kept;
        }
    }
    barrier();
    y[global_idx_x()] = s[t];
}

fn blelloch(device: &Device) -> Check {
    in_each_block(
        |y, blocks| blelloch_kernel(y).grid(blocks).run_on(device),
        |y| {
            let mut sum = 0;
            for y in y {
                (*y, sum) = (sum, sum + *y);
            }
        },
    )
}

/// The sum of each element and those before it.
fn inclusive(y: &mut [u32]) {
    (1..y.len()).for_each(|i| y[i] += y[i - 1]);
}

/// A barrier stands between the loads and the stores of a step.
#[kernel(block = 64)]
fn hillis_steele_kernel(y: &mut [u32]) {
    let s = shared_array::<u32, 64>();
    let t = thread_idx_x();
    s[t] = y[global_idx_x()];
    barrier();
    let mut far = 1;
    while far < 64 {
        let sum = if t >= far { s[t] + s[t - far] } else { s[t] };
        barrier();
        s[t] = sum;
        barrier();
        far *= 2;
    }
    y[global_idx_x()] = s[t];
}

fn hillis_steele(device: &Device) -> Check {
    in_each_block(
        |y, blocks| hillis_steele_kernel(y).grid(blocks).run_on(device),
        inclusive,
    )
}

/// Two rows of a shared array take turns.
#[kernel(block = 64)]
fn two_buffers_kernel(y: &mut [u32]) {
    let s = shared_array::<[u32; 64], 2>();
    let t = thread_idx_x();
    let mut from = 0;
    s[0][t] = y[global_idx_x()];
    barrier();
    let mut far = 1;
    while far < 64 {
        let to = 1 - from;
        s[to][t] = s[from][t] + if t >= far { s[from][t - far] } else { 0 };
        barrier();
        from = to;
        far *= 2;
    }
    y[global_idx_x()] = s[from][t];
}

fn two_buffers(device: &Device) -> Check {
    in_each_block(
        |y, blocks| two_buffers_kernel(y).grid(blocks).run_on(device),
        inclusive,
    )
}

/// Two shared arrays take turns, with both turns written out.
#[kernel(block = 64)]
fn two_arrays_kernel(y: &mut [u32]) {
    let a = shared_array::<u32, 64>();
    let b = shared_array::<u32, 64>();
    let t = thread_idx_x();
    a[t] = y[global_idx_x()];
    barrier();
    let mut far = 1;
    while far < 64 {
        b[t] = a[t] + if t >= far { a[t - far] } else { 0 };
        barrier();
        far *= 2;
        a[t] = b[t] + if t >= far { b[t - far] } else { 0 };
        barrier();
        far *= 2;
    }
    y[global_idx_x()] = a[t];
}

fn two_arrays(device: &Device) -> Check {
    in_each_block(
        |y, blocks| two_arrays_kernel(y).grid(blocks).run_on(device),
        inclusive,
    )
}

#[kernel(block = 64)]
fn odd_even_kernel(y: &mut [u32]) {
    let s = shared_array::<u32, 64>();
    let t = thread_idx_x();
    s[t] = y[global_idx_x()];
    for round in 0..64 {
        barrier();
        let left = 2 * t + round % 2;
        if left + 1 < 64 && s[left] > s[left + 1] {
            s.swap(left, left + 1);
        }
    }
    barrier();
    y[global_idx_x()] = s[t];
}

fn odd_even(device: &Device) -> Check {
    in_each_block(
        |y, blocks| odd_even_kernel(y).grid(blocks).run_on(device),
        <[u32]>::sort_unstable,
    )
}

/// A step of a bitonic network on the whole vector; the host counts the steps.
#[kernel]
fn bitonic_kernel(run: usize, apart: usize, y: &mut [u32]) {
    let i = global_idx_x();
    let other = i ^ apart;
    if other > i && other < y.len() {
        let ascending = i & run == 0;
        let (a, b) = (y[i], y[other]);
        if (a > b) == ascending {
            y[i] = b;
            y[other] = a;
        }
    }
}

fn bitonic(device: &Device) -> Check {
    for n in [1, 2, 64, 512] {
        in_place(
            "sorted",
            n,
            |y| {
                let mut run = 2;
                while run <= n {
                    let mut apart = run / 2;
                    while apart > 0 {
                        bitonic_kernel(run, apart, y).over(n).run_on(device)?;
                        apart /= 2;
                    }
                    run *= 2;
                }
                Ok(())
            },
            <[u32]>::sort_unstable,
        )?;
    }
    Ok(())
}

/// The first thread of a block uses its own shared element without a barrier.
#[kernel(block = 64)]
fn first_kernel(x: &[u32], y: &mut [u32]) {
    let kept = shared_array::<u32, 64>();
    let (t, i) = (thread_idx_x(), global_idx_x());
    kept[t] = if i < x.len() { 2 * x[i] } else { 0 };
    if t == 0 {
        y[block_idx_x()] = kept[0] + 1;
    }
}

fn first(device: &Device) -> Check {
    of_each_block(
        |x, y, blocks| first_kernel(x, y).grid(blocks).run_on(device),
        |x| 2 * x[0] + 1,
    )
}
