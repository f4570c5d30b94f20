//! Local arrays passed to functions in which the threads of a block work together.

use super::super::block::barriers::of_each_thread;
use crate::Case;
use crate::cases::faults::fault_of;
use crate::check::{Check, ensure, sentinel_filled};
use sarek::FaultKind;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("functions/local_arrays_with_barriers", &[], scalars),
    Case::new(
        "functions/local_arrays_with_barriers_after_return",
        &[],
        returns,
    ),
    Case::new(
        "functions/local_arrays_of_structs_with_barriers",
        &[],
        structs,
    ),
    Case::new("functions/local_arrays_passed_on", &[], given_on),
    Case::new("functions/faults_of_local_arrays", &[], faults),
];

/// Adds to each element ten times that of the next thread.
#[device]
fn add_next(own: &mut [u32], tile: &mut [u32]) {
    let t = thread_idx_x();
    for k in 0..own.len() {
        tile[t] = own[k];
        barrier();
        own[k] += 10 * tile[(t + 1) % block_dim_x()];
        barrier();
    }
    barrier();
}

/// The sum over all threads of the block of their elements at one position.
#[device]
fn sum_at(own: &[u32], at: usize) -> u32 {
    let tile = shared_array::<u32, 1024>();
    tile[thread_idx_x()] = own[at];
    barrier();
    let mut sum = 0;
    for k in 0..block_dim_x() {
        sum += tile[k];
    }
    barrier();
    sum
}

#[kernel]
fn scalars_kernel(y: &mut [u32]) {
    let tile = shared_array::<u32, 1024>();
    let t = thread_idx_x() as u32;
    let mut own = [t, 7, 3 * t];
    add_next(&mut own, tile);
    own[1] += t;
    let sum = sum_at(&own, 2);
    let other = [1, t];
    y[global_idx_x()] = own[0] + own[1] + sum + sum_at(&other, 1);
}

fn scalars(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| scalars_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, n| {
        let with_next = |of: &dyn Fn(u32) -> u32, t: u32| of(t) + 10 * of((t + 1) % n);
        let sum: u32 = (0..n).map(|t| with_next(&|t| 3 * t, t)).sum();
        with_next(&|t| t, t) + 77 + t + sum + n * (n - 1) / 2
    })
}

/// Adds the values of all threads to every second element, except those of threads that have returned.
#[device]
fn add_all(own: &mut [u32], tile: &mut [u32]) {
    let t = thread_idx_x();
    let mut first = 0;
    while first < own.len() {
        tile[t] = own[first];
        barrier();
        for k in 0..block_dim_x() {
            if k % 3 != 1 {
                own[first] += tile[k];
            }
        }
        barrier();
        first += 2;
    }
    barrier();
}

#[kernel]
fn returns_kernel(y: &mut [u32]) {
    let tile = shared_array::<u32, 1024>();
    let t = thread_idx_x() as u32;
    let mut own = [t; 4];
    if t % 3 == 1 {
        y[global_idx_x()] = 77;
        return;
    }
    if block_idx_x() == 1 {
        own[3] = 5;
        add_all(&mut own, tile);
    }
    y[global_idx_x()] = own[0] + own[1] + own[2] + own[3];
}

fn returns(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| returns_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |b, t, n| {
        let all: u32 = (0..n).filter(|t| t % 3 != 1).sum();
        match (t % 3, b) {
            (1, _) => 77,
            (_, 1) => 3 * t + 5 + 2 * all,
            _ => 4 * t,
        }
    })
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Pair {
    a: u32,
    b: f32,
}

#[device]
fn add_first(own: &mut [Pair], by: f32) -> u32 {
    let tile = shared_array::<u32, 1024>();
    tile[thread_idx_x()] = own[1].a;
    barrier();
    own[0].a += tile[0];
    own[1].b *= by;
    barrier();
    own[0].a
}

#[kernel]
fn structs_kernel(y: &mut [u32]) {
    let t = thread_idx_x() as u32;
    let mut pairs = [Pair { a: t, b: 1.5 }; 3];
    pairs[1].a += 4;
    let first = add_first(&mut pairs, 2.0);
    let second = add_first(&mut pairs, 3.0);
    y[global_idx_x()] = first + second + pairs[0].a + pairs[2].a + pairs[1].b as u32;
}

fn structs(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| structs_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, _| (t + 4) + (t + 8) + (t + 8) + t + 9)
}

/// Passes its slice on, and has a local array of its own.
#[device]
fn both(own: &mut [u32], tile: &mut [u32], t: u32) -> u32 {
    let mut more = [own[0], t];
    add_next(own, tile);
    add_next(&mut more, tile);
    own[0] = more[1];
    sum_at(&more, 0) + doubled(own)
}

/// Needs no other thread.
#[device]
fn doubled(own: &mut [u32]) -> u32 {
    own[1] *= 2;
    own[1]
}

#[kernel]
fn given_on_kernel(y: &mut [u32]) {
    let tile = shared_array::<u32, 1024>();
    let t = thread_idx_x() as u32;
    let mut own = [t + 1, 2];
    let sum = both(&mut own, tile, t);
    y[global_idx_x()] = sum + own[0] + own[1];
}

fn given_on(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| given_on_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, n| {
        let sum = 11 * (1..=n).sum::<u32>();
        sum + 44 + t + 10 * ((t + 1) % n) + 44
    })
}

#[kernel]
fn faults_kernel(at: usize, y: &mut [u32]) {
    let own = [thread_idx_x() as u32; 3];
    y[global_idx_x()] = sum_at(&own, at);
}

fn faults(device: &Device) -> Check {
    let mut y = sentinel_filled(8);
    let result = faults_kernel(3, &mut y).grid(2).block(4).run_on(device);
    let fault = fault_of(result, &mut y)?;
    let is_expected = matches!(&fault.kind, FaultKind::Index { index: 3, .. });
    ensure(is_expected, || {
        format!("{:?} of the fourth of three", fault.kind)
    })
}
