//! Arrays whose types rustc alone knows, lent to functions as slices.

use super::super::block::barriers::of_each_thread;
use crate::FaultKind;
use crate::conformance::Case;
use crate::conformance::cases::faults::fault_of;
use crate::conformance::check::{Check, ensure, poisoned};
use crate::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("functions/lent_values", &[], values),
    Case::new("functions/lent_values_with_barriers", &[], with_barriers),
    Case::new("functions/faults_of_lent_values", &[], faults),
];

const TABLE: [u32; 3] = [2, 3, 5];

#[derive(Clone, Copy, KernelType)]
#[kernel_type(crate = crate)]
#[repr(C)]
struct Tail {
    own: [u32; 2],
    rest: u32,
}

#[device]
impl Tail {
    fn total(&self) -> u32 {
        sum(&self.own) + self.rest
    }

    fn grow(&mut self) {
        twice(&mut self.own);
        self.rest += 1;
    }
}

#[device]
fn sum(x: &[u32]) -> u32 {
    let mut sum = 0;
    for k in 0..x.len() {
        sum += x[k];
    }
    sum
}

#[device]
fn twice(x: &mut [u32]) {
    for k in 0..x.len() {
        x[k] *= 2;
    }
}

#[device]
fn first_column(x: &[[u32; 2]]) -> u32 {
    let mut sum = 0;
    for k in 0..x.len() {
        sum += x[k][0];
    }
    sum
}

#[device]
fn pair(a: u32) -> [u32; 2] {
    [a, a + 1]
}

#[device]
fn square(a: u32) -> [[u32; 2]; 2] {
    [[a, 1], [2, a]]
}

#[device]
fn copy<T: KernelType>(x: &T) -> T {
    *x
}

#[kernel]
fn values_kernel(y: &mut [u32]) {
    let t = thread_idx_x() as u32;
    let mut own = pair(t);
    twice(&mut own);
    let mut rows = square(t);
    twice(&mut rows[1]);
    let mut tail = Tail {
        own: [1, t],
        rest: 3,
    };
    tail.grow();
    let other = copy(&tail);
    twice(&mut tail.own);
    let sums = sum(&own) + sum(&pair(7)) + sum(&rows[1]) + sum(&tail.own) + sum(&TABLE);
    y[global_idx_x()] = sums + first_column(&rows) + rows[1][0] + other.total();
}

fn values(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| values_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, _| {
        let sums = (4 * t + 2) + 15 + (4 + 2 * t) + (4 + 4 * t) + 10;
        sums + (t + 4) + 4 + (2 + 2 * t + 4)
    })
}

/// Adds to each element that of the next thread.
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

/// The sum of what all threads have at a position.
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
fn with_barriers_kernel(y: &mut [u32]) {
    let tile = shared_array::<u32, 1024>();
    let t = thread_idx_x() as u32;
    let mut own = pair(t);
    add_next(&mut own, tile);
    let mut tail = Tail {
        own: [t, 1],
        rest: 0,
    };
    add_next(&mut tail.own, tile);
    let sums = sum_at(&pair(t), 1) + sum_at(&tail.own, 1);
    y[global_idx_x()] = own[0] + own[1] + tail.own[0] + sums;
}

fn with_barriers(device: &Device) -> Check {
    let run =
        |y: &mut Vector<u32>, block| with_barriers_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, n| {
        let next = (t + 1) % n;
        let own = (t + 10 * next) + (t + 1 + 10 * (next + 1));
        own + (t + 10 * next) + n * (n + 1) / 2 + 11 * n
    })
}

#[kernel]
fn faults_kernel(at: usize, y: &mut [u32]) {
    y[global_idx_x()] = element(&pair(1), at);
}

#[device]
fn element(own: &[u32], at: usize) -> u32 {
    own[at]
}

fn faults(device: &Device) -> Check {
    let mut y = poisoned(8);
    let result = faults_kernel(2, &mut y).grid(2).block(4).run_on(device);
    let fault = fault_of(result, &mut y)?;
    let is_due = matches!(&fault.kind, FaultKind::Index { index: 2, .. });
    ensure(is_due, || format!("{:?} of the third of two", fault.kind))
}
