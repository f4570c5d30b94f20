//! Arrays whose types only rustc knows, passed to functions as slices.

use super::super::block::barriers::of_each_thread;
use crate::Case;
use crate::cases::faults::fault_of;
use crate::check::{Check, ensure, sentinel_filled};
use sarek::FaultKind;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("functions/borrowed_values", &[], values),
    Case::new(
        "functions/borrowed_values_with_barriers",
        &[],
        with_barriers,
    ),
    Case::new("functions/faults_of_borrowed_values", &[], faults),
    Case::new("functions/borrowed_by_closures", &[], by_closures),
    Case::new("functions/constants_before_barriers", &[], early),
];

const TABLE: [u32; 3] = [2, 3, 5];

#[derive(Clone, Copy, KernelType)]
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
    let mut y = sentinel_filled(8);
    let result = faults_kernel(2, &mut y).grid(2).block(4).run_on(device);
    let fault = fault_of(result, &mut y)?;
    let is_expected = matches!(&fault.kind, FaultKind::Index { index: 2, .. });
    ensure(is_expected, || {
        format!("{:?} of the third of two", fault.kind)
    })
}

#[device]
fn apply(f: impl Fn(u32) -> u32, x: u32) -> u32 {
    f(x) + f(x + 1)
}

#[device]
fn repeat(mut f: impl FnMut(u32), n: u32) {
    for k in 0..n {
        f(k);
    }
}

/// Calls closures twice, so that each call has its own copy of their arrays.
#[kernel]
fn by_closures_kernel(y: &mut [u32]) {
    let t = thread_idx_x() as u32;
    let own = [3, t];
    let mut changed = [1, t];
    let rows = [[1, 2], [3, 4]];
    repeat(
        |k| {
            for at in 0..2 {
                changed[at] += k;
            }
            twice(&mut changed);
        },
        2,
    );
    let sums = apply(|x| x + sum(&own) + sum(&rows[1]) + sum(&TABLE), 3);
    let picked = apply(
        |x| {
            let three = [x, 20, 30];
            three[(x % 3) as usize]
        },
        t,
    );
    y[global_idx_x()] = sums + sum(&changed) + picked + apply(|x| sum(&pair(x)), t);
}

fn by_closures(device: &Device) -> Check {
    let run =
        |y: &mut Vector<u32>, block| by_closures_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, _| {
        let sums = 7 + 2 * (3 + t + 7 + 10);
        let changed = 4 * (1 + t) + 4;
        let pick = |x: u32| [x, 20, 30][x as usize % 3];
        sums + changed + pick(t) + pick(t + 1) + (4 * t + 4)
    })
}

/// All threads of the block return at the same point, before or after a barrier.
#[device]
fn early_or_late(tile: &mut [u32], n: u32) -> u32 {
    if n > 3 {
        return 7;
    }
    tile[thread_idx_x()] = n;
    barrier();
    let first = tile[0];
    barrier();
    if first == 2 {
        return 9;
    }
    1
}

/// # Safety
/// The caller has nothing to ensure: where the function returns early, no thread uses the tile. The prover does not see that.
#[kernel]
unsafe fn early_kernel(n: u32, y: &mut [u32]) {
    let tile = shared_array::<u32, 1024>();
    y[global_idx_x()] = early_or_late(tile, n);
}

fn early(device: &Device) -> Check {
    for n in 0..6 {
        let run = |y: &mut Vector<u32>, block| {
            // SAFETY: the kernel has no requirement.
            let launch = unsafe { early_kernel(n, y) };
            launch.grid(2).block(block).run_on(device)
        };
        let expected = [1, 1, 9, 1, 7, 7][n as usize];
        of_each_thread(device, run, |_, _, _| expected)?;
    }
    Ok(())
}
