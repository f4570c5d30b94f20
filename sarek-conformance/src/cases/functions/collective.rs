//! Functions in which the threads of a block work together.

use super::super::block::barriers::of_each_thread;
use crate::check::Check;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("functions/block_sum_in_a_borrowed_tile", &[], lent_tile),
    Case::new("functions/block_sum_in_its_own_tile", &[], own_tile),
    Case::new("functions/nested_barriers", &[], nested),
    Case::new("functions/barriers_by_a_parameter", &[], by_parameter),
    Case::new(
        "functions/barriers_with_out_parameters",
        &[],
        out_parameters,
    ),
    Case::new(
        "functions/subgroups_in_a_function",
        &[Capability::Subgroups],
        subgroups,
    ),
];

/// The sum of the values of all threads of a block of up to 1024, by a tree in `tile`.
#[device]
fn block_sum(tile: &mut [u32], value: u32) -> u32 {
    let t = thread_idx_x();
    tile[t] = value;
    barrier();
    let mut half = 512;
    while half > 0 {
        if t < half && t + half < block_dim_x() {
            tile[t] += tile[t + half];
        }
        barrier();
        half /= 2;
    }
    let sum = tile[0];
    barrier();
    sum
}

#[kernel]
fn lent_tile_kernel(y: &mut [u32]) {
    let tile = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    let first = block_sum(tile, t as u32);
    let second = block_sum(tile, 2 * first + t as u32);
    y[global_idx_x()] = first + 3 * second + block_idx_x() as u32;
}

fn lent_tile(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| lent_tile_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |b, _, n| {
        let sum = n * (n - 1) / 2;
        let second = (2 * sum).wrapping_mul(n).wrapping_add(sum);
        sum.wrapping_add(second.wrapping_mul(3)).wrapping_add(b)
    })
}

/// The inclusive prefix sum over the threads of the block.
#[device]
fn block_scan(value: u32) -> u32 {
    let tile = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    tile[t] = value;
    barrier();
    let mut reach = 1;
    while reach < block_dim_x() {
        let left = if t >= reach { tile[t - reach] } else { 0 };
        barrier();
        tile[t] += left;
        barrier();
        reach *= 2;
    }
    let sum = tile[t];
    barrier();
    sum
}

#[kernel]
fn own_tile_kernel(y: &mut [u32]) {
    let t = thread_idx_x();
    if t % 5 == 4 {
        y[global_idx_x()] = block_dim_x() as u32;
    }
    let mut sum = 0;
    for k in 0..3 {
        if k != 1 {
            sum += block_scan((t + k) as u32);
        }
    }
    y[global_idx_x()] = sum;
}

fn own_tile(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| own_tile_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, _| {
        let scan = |k: u32| (0..=t).map(|t| t + k).sum::<u32>();
        scan(0) + scan(2)
    })
}

/// The prefix sum of a value plus the sum of the block, in thousandths of that sum.
#[device]
fn share(value: u32) -> u32 {
    let scanned: u32 = block_scan(value);
    let sum: u32 = last_of(scanned);
    let more = block_scan(value) + sum;
    if sum == 0 {
        return 0;
    }
    more * 1000 / sum
}

/// The value of the block's last thread.
#[device]
fn last_of(value: u32) -> u32 {
    let values = shared_array::<u32, 1024>();
    values[thread_idx_x()] = value;
    barrier();
    let last = values[block_dim_x() - 1];
    barrier();
    last
}

#[device]
fn twice(x: u32) -> u32 {
    2 * x
}

#[kernel]
fn nested_kernel(y: &mut [u32]) {
    let t = thread_idx_x();
    if t % 4 == 3 {
        y[global_idx_x()] = twice(77);
        return;
    }
    let mine = twice(t as u32);
    let mut sum = mine;
    if block_idx_x() == 1 {
        sum += sum_of_left(mine);
    }
    y[global_idx_x()] = sum + twice(mine);
}

/// The sum of the values of the remaining threads, without the help of those that have returned.
#[device]
fn sum_of_left(value: u32) -> u32 {
    let tile = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    tile[t] = value;
    barrier();
    let mut sum = 0;
    for k in 0..block_dim_x() {
        if k % 4 != 3 {
            sum += tile[k];
        }
    }
    barrier();
    sum
}

#[kernel]
fn shares_kernel(y: &mut [u32]) {
    let value = (thread_idx_x() % 3) as u32 + block_idx_x() as u32;
    y[global_idx_x()] = share(value);
}

fn nested(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| nested_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |b, t, n| match t % 4 {
        3 => 154,
        _ => 6 * t + b * (0..n).filter(|k| k % 4 != 3).map(|k| 2 * k).sum::<u32>(),
    })?;
    let run = |y: &mut Vector<u32>, block| shares_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |b, t, n| {
        let scan = |t: u32| (0..=t).map(|t| t % 3 + b).sum::<u32>();
        match scan(n - 1) {
            0 => 0,
            sum => (scan(t) + sum) * 1000 / sum,
        }
    })
}

/// Passes values to the next thread `steps` times, and adds an element of `from` each time.
#[device]
fn passed_on(value: u32, steps: usize, from: &[u32]) -> u32 {
    let ring = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    let mut held = value;
    for k in 0..steps {
        ring[t] = held;
        barrier();
        let left = if t == 0 { block_dim_x() - 1 } else { t - 1 };
        held = ring[left] + from[k];
        barrier();
    }
    held
}

#[kernel]
fn by_parameter_kernel(from: &[u32], y: &mut [u32]) {
    let steps = from.len() + block_idx_x();
    y[global_idx_x()] = passed_on(thread_idx_x() as u32, steps - block_idx_x(), from);
}

fn by_parameter(device: &Device) -> Check {
    let from = Vector::from_slice(&[1u32, 10, 100]);
    let run = |y: &mut Vector<u32>, block| {
        by_parameter_kernel(&from, y)
            .grid(2)
            .block(block)
            .run_on(device)
    };
    of_each_thread(device, run, |_, t, n| (t + 3 * n - 3) % n + 111)
}

/// Swaps the values of neighbours, and counts the swaps.
#[device]
fn swap(value: &mut u32, count: &mut u32, tile: &mut [u32]) {
    let t = thread_idx_x();
    tile[t] = *value;
    barrier();
    if (t ^ 1) < block_dim_x() {
        *value = tile[t ^ 1];
        *count += 1;
    }
    barrier();
}

#[kernel]
fn out_parameters_kernel(y: &mut [u32]) {
    let tile = shared_array::<u32, 1024>();
    let (mut value, mut count) = (thread_idx_x() as u32, 0);
    for _ in 0..3 {
        swap(&mut value, &mut count, tile);
        value += 10;
    }
    y[global_idx_x()] = value + 100 * count;
}

fn out_parameters(device: &Device) -> Check {
    let run =
        |y: &mut Vector<u32>, block| out_parameters_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, n| match (t ^ 1) < n {
        true => (t ^ 1) + 330,
        false => t + 30,
    })
}

/// Twice the sum over the threads of the subgroup.
#[device]
fn summed(value: u32) -> u32 {
    let doubled = 2 * value;
    subgroup_sum(doubled)
}

#[kernel]
fn subgroups_kernel(y: &mut [u32]) {
    let ones = summed(1);
    y[global_idx_x()] = ones - 2 * subgroup_sum(1u32) + summed(block_idx_x() as u32) / ones;
}

fn subgroups(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| subgroups_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |b, _, _| b)
}
