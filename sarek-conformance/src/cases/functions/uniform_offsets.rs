//! Functions that index a shared array by the thread's number plus an offset that is the same for all threads of a block.

use super::super::block::barriers::of_each_thread;
use crate::Case;
use crate::check::Check;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("functions/uniform_scalars", &[], scalars),
    Case::new("functions/uniform_parts", &[], parts),
    Case::new("functions/uniform_in_loops", &[], loops),
];

/// The value of the block's next thread, cyclically; `by` is the offset in `tile`.
#[device]
fn rotated(tile: &mut [u32], by: usize, value: u32) -> u32 {
    let (t, n) = (thread_idx_x(), block_dim_x());
    tile[t + by] = value;
    barrier();
    let other = tile[(t + 1) % n + by];
    barrier();
    other
}

/// Passes its arguments on, with a larger offset.
#[device]
fn rotated_further<const MORE: usize>(tile: &mut [u32], by: usize, value: u32) -> u32 {
    rotated(tile, by + MORE, value)
}

#[kernel]
fn scalars_kernel(table: &[u32], n: usize, y: &mut [u32]) {
    let tile = shared_array::<u32, 2048>();
    let t = thread_idx_x() as u32;
    let from_table = table[n] as usize;
    let a = rotated(tile, 3, t);
    let b = rotated(tile, n, a);
    let c = rotated(tile, block_idx_x() + table.len(), b);
    let d = rotated(tile, from_table, c);
    y[global_idx_x()] = rotated_further::<5>(tile, from_table, d);
}

fn scalars(device: &Device) -> Check {
    let table = Vector::from_slice(&[7u32, 11, 2]);
    let run = |y: &mut Vector<u32>, block| {
        scalars_kernel(&table, 1, y)
            .grid(2)
            .block(block)
            .run_on(device)
    };
    of_each_thread(device, run, |_, t, n| (t + 5) % n)
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Window {
    first: u32,
    stride: u32,
}

#[device]
impl Window {
    /// The value of the block's previous thread, cyclically.
    fn behind(&self, tile: &mut [u32], value: u32) -> u32 {
        let (t, n) = (thread_idx_x(), block_dim_x());
        tile[self.first as usize + t] = value;
        barrier();
        let other = tile[self.first as usize + (t + n - 1) % n];
        barrier();
        other
    }
}

#[device]
fn perhaps(at: Option<u32>, value: u32) -> u32 {
    let tile = shared_array::<u32, 2048>();
    let mut found = value;
    if let Some(at) = at {
        tile[thread_idx_x() + at as usize] = value;
        barrier();
        found = tile[at as usize];
    }
    barrier();
    found
}

#[device]
fn element(tile: &mut [u32], firsts: &[u32], value: u32) -> u32 {
    let t = thread_idx_x();
    tile[t + firsts[1] as usize] = value;
    barrier();
    let last = tile[block_dim_x() - 1 + firsts[1] as usize];
    barrier();
    last
}

#[kernel]
fn parts_kernel(firsts: &[u32], y: &mut [u32]) {
    let tile = shared_array::<u32, 2048>();
    let t = thread_idx_x() as u32;
    let window: Window = Window {
        first: firsts[0],
        stride: 1,
    };
    let behind = window.behind(tile, t);
    let first = perhaps(Some(firsts[1] + window.stride), behind);
    let same = perhaps(None, t);
    y[global_idx_x()] = 100 * element(tile, firsts, first) + same + behind;
}

fn parts(device: &Device) -> Check {
    let firsts = Vector::from_slice(&[9u32, 4]);
    let run =
        |y: &mut Vector<u32>, block| parts_kernel(&firsts, y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, n| (n - 1) * 100 + t + (t + n - 1) % n)
}

#[kernel]
fn loops_kernel(rounds: u32, y: &mut [u32]) {
    let tile = shared_array::<u32, 2048>();
    let mut value = thread_idx_x() as u32;
    for k in 0..rounds {
        value = rotated(tile, k as usize, value);
    }
    let mut by = 1;
    while by < 8 {
        value = rotated_further::<1>(tile, by, value);
        by *= 2;
    }
    y[global_idx_x()] = value;
}

fn loops(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| loops_kernel(4, y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, n| (t + 7) % n)
}
