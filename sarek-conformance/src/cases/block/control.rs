//! Barriers inside loops and branches that all threads of a block take.

use super::barriers::of_each_thread;
use crate::Case;
use crate::check::Check;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("block/barrier_sometimes", &[], sometimes),
    Case::new("block/barriers_in_nested_loops", &[], nested),
    Case::new("block/barrier_between_branches", &[], branches),
    Case::new("block/barrier_and_uniform_jumps", &[], jumps),
    Case::new("block/barriers_in_match", &[], switches),
];

#[kernel]
fn sometimes_kernel(rounds: u32, y: &mut [u32]) {
    let tile = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    let mut seen = 0;
    tile[t] = 1;
    for k in 0..rounds {
        if k % 2 == 0 {
            barrier();
            seen += tile[block_dim_x() - 1 - t];
            barrier();
        }
        tile[t] += k;
    }
    y[global_idx_x()] = seen;
}

fn sometimes(device: &Device) -> Check {
    let run =
        |y: &mut Vector<u32>, block| sometimes_kernel(5, y).grid(2).block(block).run_on(device);
    // A thread reads 1 in round 0, 1 + 0 + 1 in round 2, and 1 + 0 + 1 + 2 + 3 in round 4.
    of_each_thread(device, run, |_, _, _| 1 + 2 + 7)
}

#[kernel]
fn nested_kernel(y: &mut [u32]) {
    let a = shared_array::<u32, 1024>();
    let b = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    let last = block_dim_x() - 1;
    a[t] = t as u32;
    let mut rounds = 0;
    let mut outer = 1;
    while outer < 4 {
        for inner in 0..outer {
            barrier();
            b[t] = a[last - t];
            barrier();
            a[t] = b[t] + inner;
            rounds += 1;
        }
        outer += 1;
    }
    y[global_idx_x()] = a[t] + 1000 * rounds;
}

fn nested(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| nested_kernel(y).grid(2).block(block).run_on(device);
    // The values are mirrored six times; the loops add 0, then 0 and 1, then 0, 1 and 2.
    of_each_thread(device, run, |_, t, _| t + 4 + 6000)
}

#[kernel]
fn branches_kernel(y: &mut [u32]) {
    let tile = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    let last = block_dim_x() - 1;
    let kind = block_idx_x();
    tile[t] = t as u32;
    let mut got = 0;
    if kind == 0 {
        barrier();
        got = tile[last - t];
    } else if kind == 1 {
        tile[t] += 100;
        barrier();
        got += tile[last - t];
        barrier();
        tile[t] = 1;
    } else {
        got = 9;
    }
    barrier();
    y[global_idx_x()] = got + tile[last];
}

fn branches(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| branches_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |b, t, n| match b {
        0 => n - 1 - t + n - 1,
        _ => n - 1 - t + 100 + 1,
    })
}

#[kernel]
fn jumps_kernel(limit: u32, y: &mut [u32]) {
    let tile = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    let mut round = 0;
    let mut sum = 0;
    loop {
        round += 1;
        if round == 2 {
            continue;
        }
        tile[t] = round + t as u32;
        barrier();
        sum += tile[block_dim_x() - 1 - t];
        barrier();
        if round >= limit {
            break;
        }
    }
    y[global_idx_x()] = sum;
}

fn jumps(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| jumps_kernel(4, y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, n| 3 * (n - 1 - t) + 1 + 3 + 4)
}

#[kernel]
fn switches_kernel(codes: &[u32], y: &mut [u32]) {
    let tile = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    let last = block_dim_x() - 1;
    tile[t] = t as u32;
    let mut held = 0;
    for k in 0..codes.len() {
        match codes[k] {
            0 => barrier(),
            1 | 2 => {
                barrier();
                held = tile[last - t];
                barrier();
                tile[t] = held + 1;
            }
            n @ 3..=5 => {
                tile[t] += n;
                barrier();
                if n == 4 {
                    held += tile[last - t];
                    barrier();
                }
                barrier();
            }
            n if n == block_dim_x() as u32 => held += 1000,
            _ => {}
        }
    }
    y[global_idx_x()] = held + tile[t];
}

fn switches(device: &Device) -> Check {
    let codes = Vector::from_slice(&[0u32, 1, 4, 33, 2, 5, 9, 3, 1, 256]);
    let run = |y: &mut Vector<u32>, block| {
        switches_kernel(&codes, y)
            .grid(2)
            .block(block)
            .run_on(device)
    };
    of_each_thread(device, run, |_, t, n| {
        let other = n - 1 - t;
        let (mut own, mut mirrored, mut held) = (t, other, 0);
        for code in [0, 1, 4, 33, 2, 5, 9, 3, 1, 256] {
            match code {
                1 | 2 => {
                    held = mirrored;
                    (own, mirrored) = (mirrored + 1, own + 1);
                }
                3 | 5 => (own, mirrored) = (own + code, mirrored + code),
                4 => {
                    (own, mirrored) = (own + 4, mirrored + 4);
                    held += mirrored;
                }
                _ if code == n => held += 1000,
                _ => {}
            }
        }
        held + own
    })
}
