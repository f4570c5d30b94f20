//! Barriers at the start and end of a kernel, returns before them, and values that live across them.

use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use crate::input::block_sizes;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("block/barrier_at_the_edges", &[], edges),
    Case::new("block/barrier_after_return", &[], returns),
    Case::new("block/barrier_after_return_in_a_loop", &[], returns_in_loop),
    Case::new("block/private_array_across_barriers", &[], private),
    Case::new("block/two_types", &[], two_types),
];

/// Runs a kernel on two blocks of each size, and compares the results; `expected(b, t, n)` is that of thread `t` of block `b` of `n` threads.
pub(in crate::cases) fn of_each_thread(
    device: &Device,
    run: impl Fn(&mut Vector<u32>, usize) -> sarek::Result<()>,
    expected: impl Fn(u32, u32, u32) -> u32,
) -> Check {
    for block in block_sizes(device) {
        let mut out = sentinel_filled(2 * block);
        run(&mut out, block)?;
        let n = block as u32;
        let expected: Vec<u32> = (0..2 * n).map(|i| expected(i / n, i % n, n)).collect();
        expect(&format!("blocks of {block}"), &out, &expected)?;
    }
    Ok(())
}

#[kernel]
fn edges_kernel(y: &mut [u32]) {
    barrier();
    let tile = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    tile[t] = (t + block_idx_x()) as u32;
    barrier();
    barrier();
    let mirrored = tile[block_dim_x() - 1 - t];
    y[global_idx_x()] = mirrored;
    barrier();
}

fn edges(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| edges_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |b, t, n| n - 1 - t + b)
}

#[kernel]
fn returns_kernel(y: &mut [u32]) {
    let tile = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    tile[t] = t as u32;
    if t % 3 == 2 {
        y[global_idx_x()] = 77;
        return;
    }
    barrier();
    let mut sum = 0;
    for k in 0..block_dim_x() {
        sum += tile[k];
    }
    barrier();
    if t % 3 == 1 {
        y[global_idx_x()] = sum;
        return;
    }
    tile[t] = 5;
    barrier();
    y[global_idx_x()] = tile[0] + sum;
}

fn returns(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| returns_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, n| match t % 3 {
        0 => n * (n - 1) / 2 + 5,
        1 => n * (n - 1) / 2,
        _ => 77,
    })
}

#[kernel]
fn returns_in_loop_kernel(y: &mut [u32]) {
    let tile = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    tile[t] = 0;
    barrier();
    for k in 0..4 {
        if t % 4 == k {
            y[global_idx_x()] = (10 * k) as u32 + tile[0];
            return;
        }
        barrier();
        if t == 3 {
            tile[0] = (k + 1) as u32;
        }
        barrier();
    }
}

fn returns_in_loop(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| {
        returns_in_loop_kernel(y)
            .grid(2)
            .block(block)
            .run_on(device)
    };
    of_each_thread(device, run, |_, t, n| {
        let k = t % 4;
        10 * k + if n > 3 { k } else { 0 }
    })
}

#[kernel]
fn private_kernel(y: &mut [u32]) {
    let tile = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    let mut own = [0u32; 5];
    let mut rows = [[1u32; 3]; 2];
    for k in 0..own.len() {
        superstep! {
            tile[t] = (t + k) as u32;
        }
        own[k] = tile[block_dim_x() - 1 - t];
        rows[k % 2][k / 2] += own[k];
        barrier();
    }
    let copy = own;
    rows[1] = rows[0];
    y[global_idx_x()] = copy[0] + copy[4] + rows[1][2] + own[t % 5];
}

fn private(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| private_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, n| {
        let own = |k: u32| n - 1 - t + k;
        own(0) + own(4) + 1 + own(4) + own(t % 5)
    })
}

#[kernel]
fn two_types_kernel(y: &mut [u32]) {
    let floats = shared_array::<f32, 1024>();
    let t = thread_idx_x();
    let ints = shared_slice::<u32>(2 * block_dim_x() + y.len());
    floats[t] = t as f32 * 0.5;
    ints[t] = 3;
    barrier();
    let next = if t + 1 < block_dim_x() { t + 1 } else { 0 };
    let half = floats[next];
    y[global_idx_x()] = (half * 4.0) as u32 + ints[next];
    barrier();
    if t == 0 {
        y[global_idx_x()] = floats[block_dim_x() - 1] as u32 + 1000;
    }
}

fn two_types(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| two_types_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, n| match t {
        0 => (n - 1) / 2 + 1000,
        _ => 2 * if t + 1 < n { t + 1 } else { 0 } + 3,
    })
}
