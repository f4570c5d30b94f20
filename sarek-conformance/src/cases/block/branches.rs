//! Barriers in branches that all threads of a block take together, beside branches that store; and exits of the same kind.

use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("block/barrier_in_one_branch", &[], one),
    Case::new("block/barrier_in_the_other_branch", &[], other),
    Case::new("block/barrier_behind_early_return", &[], early),
    Case::new("block/barrier_and_return_in_a_loop", &[], in_loop),
    Case::new("block/barriers_in_nested_branches", &[], nested),
    Case::new("block/barriers_in_a_loop_of_a_branch", &[], looped),
    Case::new("block/barriers_of_alternatives_in_a_loop", &[], by_turns),
    Case::new("block/barrier_and_return_in_nested_loops", &[], left),
    Case::new("block/barriers_in_a_loop_and_break", &[], broken),
];

/// Runs a kernel for `n` from 0 to 3 in blocks of several sizes. Elements begin as 5; `expected(n, t, size)` is thread `t`'s at the end.
fn with_each(
    device: &Device,
    run: impl Fn(u32, &mut Vector<u32>, usize) -> sarek::Result<()>,
    expected: impl Fn(u32, u32, u32) -> u32,
) -> Check {
    let most = device.info().max_block_threads as usize;
    for size in [3, 32, 33, 255].into_iter().filter(|s| *s <= most) {
        for n in 0..4 {
            let mut start = sentinel_filled::<u32>(size).to_vec()?;
            start[..size].fill(5);
            let mut y = Vector::from_slice(&start);
            run(n, &mut y, size)?;
            let expected: Vec<u32> = (0..size as u32)
                .map(|t| expected(n, t, size as u32))
                .collect();
            expect(&format!("{n} in blocks of {size}"), &y, &expected)?;
        }
    }
    Ok(())
}

#[kernel]
fn one_kernel(n: u32, y: &mut [u32]) {
    let tile = shared_array::<u32, 256>();
    let t = thread_idx_x();
    if n != 1 {
        tile[t] = 2;
        barrier();
        if t < 8 {
            y[global_idx_x()] = tile[block_dim_x() - 1 - t];
        }
    } else {
        y[global_idx_x()] = 3;
    }
}

fn one(device: &Device) -> Check {
    let run = |n, y: &mut Vector<u32>, size| one_kernel(n, y).grid(1).block(size).run_on(device);
    with_each(device, run, |n, t, _| match n {
        1 => 3,
        _ if t < 8 => 2,
        _ => 5,
    })
}

#[kernel]
fn other_kernel(n: u32, y: &mut [u32]) {
    let tile = shared_array::<u32, 256>();
    let t = thread_idx_x();
    let mut sum = 0;
    if n == 2 {
        y[global_idx_x()] = 3;
    } else {
        tile[t] = n;
        barrier();
        for k in 0..t {
            sum += tile[k];
        }
        y[global_idx_x()] = sum;
    }
    barrier();
    tile[t] = 10;
    barrier();
    y[global_idx_x()] += tile[block_dim_x() - 1 - t];
}

fn other(device: &Device) -> Check {
    let run = |n, y: &mut Vector<u32>, size| other_kernel(n, y).grid(1).block(size).run_on(device);
    with_each(device, run, |n, t, _| if n == 2 { 13 } else { n * t + 10 })
}

#[kernel]
fn early_kernel(n: u32, y: &mut [u32]) {
    let tile = shared_array::<u32, 256>();
    let t = thread_idx_x();
    if n == 1 {
        y[global_idx_x()] = 3;
        return;
    }
    tile[t] = 2;
    barrier();
    let mut sum = 0;
    for k in 0..t {
        sum += tile[k];
    }
    y[global_idx_x()] = sum as u32;
}

fn early(device: &Device) -> Check {
    let run = |n, y: &mut Vector<u32>, size| early_kernel(n, y).grid(1).block(size).run_on(device);
    with_each(device, run, |n, t, _| if n == 1 { 3 } else { 2 * t })
}

#[kernel]
fn in_loop_kernel(n: u32, y: &mut [u32]) {
    let tile = shared_array::<u32, 256>();
    let t = thread_idx_x();
    let mut sum = 0;
    for round in 0..3 {
        if round == n {
            y[global_idx_x()] = 100 + sum;
            return;
        }
        barrier();
        tile[t] = t as u32;
        barrier();
        sum += tile[block_dim_x() - 1 - t];
        if t < 2 {
            sum += 1;
        }
    }
    if t < 4 {
        y[global_idx_x()] = sum;
    }
}

fn in_loop(device: &Device) -> Check {
    let run =
        |n, y: &mut Vector<u32>, size| in_loop_kernel(n, y).grid(1).block(size).run_on(device);
    with_each(device, run, |n, t, size| {
        let sum = n.min(3) * (size - 1 - t + u32::from(t < 2));
        match n {
            3 if t < 4 => sum,
            3 => 5,
            _ => 100 + sum,
        }
    })
}

#[kernel]
fn nested_kernel(n: u32, y: &mut [u32]) {
    let a = shared_array::<u32, 256>();
    let b = shared_array::<u32, 256>();
    let t = thread_idx_x();
    let last = block_dim_x() - 1;
    if n < 2 {
        a[t] = t as u32;
        barrier();
        y[global_idx_x()] = a[last - t];
        if n == 0 {
            b[t] = 7;
            barrier();
            if t < 3 {
                y[global_idx_x()] += b[last - t];
            }
        } else {
            y[global_idx_x()] += 1;
        }
    } else if n == 2 {
        for k in 0..t {
            y[global_idx_x()] += k as u32;
        }
    } else {
        b[t] = 9;
        barrier();
        for k in 0..t {
            y[global_idx_x()] += b[k];
        }
    }
}

fn nested(device: &Device) -> Check {
    let run = |n, y: &mut Vector<u32>, size| nested_kernel(n, y).grid(1).block(size).run_on(device);
    with_each(device, run, |n, t, size| match n {
        0 => size - 1 - t + if t < 3 { 7 } else { 0 },
        1 => size - t,
        2 => 5 + (0..t).sum::<u32>(),
        _ => 5 + 9 * t,
    })
}

#[kernel]
fn looped_kernel(n: u32, y: &mut [u32]) {
    let t = thread_idx_x();
    let mut v = t as u32 + 1;
    for outer in 0..n + 1 {
        if outer != 0 {
            if t < 7 {
                v += 7;
                y[global_idx_x()] += 7;
            } else {
                v += 5;
            }
            for _ in 0..n + 1 {
                barrier();
            }
        }
    }
    y[global_idx_x()] += 100 * v;
}

fn looped(device: &Device) -> Check {
    let run = |n, y: &mut Vector<u32>, size| looped_kernel(n, y).grid(1).block(size).run_on(device);
    with_each(device, run, |n, t, _| match t {
        0..7 => 5 + 7 * n + 100 * (t + 1 + 7 * n),
        _ => 5 + 100 * (t + 1 + 5 * n),
    })
}

#[kernel]
fn by_turns_kernel(n: u32, y: &mut [u32]) {
    let a = shared_array::<u32, 256>();
    let b = shared_array::<u32, 256>();
    let t = thread_idx_x();
    let last = block_dim_x() - 1;
    let mut v = t as u32;
    for k in 0..n + 1 {
        if k == 2 {
            barrier();
            a[t] = v;
            barrier();
            v = a[last - t];
            if t < 2 {
                v += 2;
                y[global_idx_x()] += 20;
            }
        } else {
            y[global_idx_x()] += 1;
            barrier();
            b[t] = v;
            barrier();
            v = b[last - t];
        }
    }
    y[global_idx_x()] += 1000 * v;
}

fn by_turns(device: &Device) -> Check {
    let run =
        |n, y: &mut Vector<u32>, size| by_turns_kernel(n, y).grid(1).block(size).run_on(device);
    with_each(device, run, |n, t, size| {
        let other = size - 1 - t;
        // Every round mirrors the values within the block; round 2 then adds 2 in the first two threads.
        let of = |t| if t < 2 { 2 } else { 0 };
        let v = match n {
            0 => other,
            1 => t,
            2 => other + of(t),
            _ => t + of(other),
        };
        let rounds = n + 1 - u32::from(n >= 2);
        5 + rounds + if n >= 2 { 10 * of(t) } else { 0 } + 1000 * v
    })
}

#[kernel]
fn left_kernel(n: u32, y: &mut [u32]) {
    let tile = shared_array::<u32, 256>();
    let t = thread_idx_x();
    let mut v = t as u32;
    tile[t] = v;
    barrier();
    v += tile[block_dim_x() - 1 - t];
    for _ in 0..n + 2 {
        v += 6;
        if t < 1 {
            v += 1;
            y[global_idx_x()] += 1;
        }
        for _ in 0..n + 1 {
            barrier();
            y[global_idx_x()] += 10 * v;
            return;
        }
    }
    y[global_idx_x()] += 7;
}

fn left(device: &Device) -> Check {
    let run = |n, y: &mut Vector<u32>, size| left_kernel(n, y).grid(1).block(size).run_on(device);
    with_each(device, run, |_, t, size| {
        let first = u32::from(t == 0);
        5 + first + 10 * (size - 1 + 6 + first)
    })
}

#[kernel]
fn broken_kernel(n: u32, y: &mut [u32]) {
    let t = thread_idx_x();
    let mut v = 0;
    for _ in 0..n + 2 {
        for _ in 0..n + 2 {
            barrier();
        }
        for k in 0..t % 3 {
            v += k as u32 + 1;
        }
        break;
    }
    for _ in 0..n {
        if t < 6 {
            v += 6;
            y[global_idx_x()] += 1;
        } else {
            v += 5;
        }
    }
    y[global_idx_x()] += 10 * v;
}

fn broken(device: &Device) -> Check {
    let run = |n, y: &mut Vector<u32>, size| broken_kernel(n, y).grid(1).block(size).run_on(device);
    with_each(device, run, |n, t, _| {
        let v = [0, 1, 3][t as usize % 3];
        match t {
            0..6 => 5 + n + 10 * (v + 6 * n),
            _ => 5 + 10 * (v + 5 * n),
        }
    })
}
