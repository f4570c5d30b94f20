//! Functions that are free of races if an argument is the same for all threads, called with such arguments.

#![forbid(unsafe_op_in_unsafe_fn)]

use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Place {
    at: u32,
    more: u32,
}

#[device]
impl Place {
    fn put(&self, tile: &mut [u32], value: u32) {
        tile[thread_idx_x() + self.at as usize] = value;
        barrier();
    }
}

#[device]
fn put<const MORE: usize>(tile: &mut [u32], at: usize, value: u32) {
    tile[thread_idx_x() + at + MORE] = value;
    barrier();
}

#[device]
fn passed_on(tile: &mut [u32], at: usize, value: u32) {
    put::<1>(tile, at + 1, value);
}

#[device]
fn perhaps(tile: &mut [u32], at: Option<u32>, value: u32) {
    if let Some(at) = at {
        tile[thread_idx_x() + at as usize] = value;
    }
    barrier();
}

#[device]
fn element(tile: &mut [u32], at: &[u32], value: u32) {
    tile[thread_idx_x() + at[0] as usize] = value;
    barrier();
}

/// `count` may differ between threads.
#[device]
fn some_of_eight(tile: &mut [u32], count: usize) {
    if count < 8 {
        tile[thread_idx_x() * 8 + count] = 1;
    }
    barrier();
}

#[kernel(block = 8)]
fn agreed(y: &mut [u32], table: &[u32], n: usize) {
    let tile = shared_array::<u32, 64>();
    let t = thread_idx_x() as u32;
    put::<0>(tile, 3, t);
    put::<0>(tile, n, t);
    put::<2>(tile, block_idx_x() + table.len(), t);
    put::<2>(tile, table[n] as usize, t);
    let mut step = 1;
    while step < 8 {
        passed_on(tile, step, t);
        step *= 2;
    }
    for k in 0..n {
        put::<1>(tile, k, t);
    }
    let place: Place = Place { at: n as u32, more: 0 };
    place.put(tile, t);
    perhaps(tile, Some(table[0]), t);
    element(tile, table, t);
    some_of_eight(tile, thread_idx_x());
    y[global_idx_x()] = tile[place.more as usize];
}

/// An `unsafe fn` kernel: its author promises that it is free of races.
#[kernel(block = 8)]
unsafe fn promised(y: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    put::<0>(tile, thread_idx_x() * 3, 1);
    y[global_idx_x()] = tile[0];
}

fn main() {}
