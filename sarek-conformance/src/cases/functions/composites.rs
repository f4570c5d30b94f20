//! Composite values that live across calls of functions in which threads work together.

use crate::Case;
use crate::check::{Check, ensure, expect, sentinel_filled};
use crate::input::block_sizes;
use sarek::prelude::*;

pub const CASES: &[Case] = &[Case::new(
    "functions/composites_across_calls",
    &[],
    of_each_thread,
)];

/// A sum and a position.
#[derive(Clone, Copy, Debug, PartialEq, KernelType)]
#[repr(C)]
pub struct Found {
    sum: f32,
    at: u32,
}

/// The value of the block's next thread, cyclically.
#[device]
fn next(value: f32) -> f32 {
    let tile = shared_array::<f32, 1024>();
    let t = thread_idx_x();
    tile[t] = value;
    barrier();
    let n = block_dim_x();
    let found = tile[(t + 1) % n];
    barrier();
    found
}

/// The same for both fields of a pair.
#[device]
fn next_pair(of: Found) -> Found {
    let mut moved = of;
    moved.sum = next(of.sum);
    moved.at = next(of.at as f32) as u32;
    if moved.at == 3 {
        moved.sum += 0.5;
    }
    moved
}

#[device]
fn next_odd(of: (f32, u32)) -> Option<f32> {
    let (value, at) = of;
    let found = next(value);
    if at % 2 == 1 { Some(found) } else { None }
}

#[device]
fn turn(of: &mut Found, by: &mut (f32, f32)) {
    let sum = next(of.sum);
    by.0 += sum;
    by.1 += next(by.1);
    *of = Found { sum, ..*of };
}

#[kernel]
fn parts(x: &[f32], y: &mut [Found], z: &mut [f32]) {
    let i = global_idx_x();
    let t = thread_idx_x() as u32;
    let mut own = Found { sum: x[i], at: t };
    let tuple = (x[i], t);
    let mut by = (1.0, x[i]);
    let first = next_pair(own);
    let odd = next_odd(tuple);
    if block_idx_x() == 1 {
        turn(&mut own, &mut by);
    }
    let mut sum = 0.0;
    for k in 0..2 {
        let more = next_pair(first);
        sum += more.sum + k as f32;
    }
    if let Some(value) = odd {
        sum += value;
    }
    let (a, b) = tuple;
    y[i] = Found {
        sum: own.sum + first.sum,
        at: first.at,
    };
    z[i] = sum + by.0 + 10.0 * by.1 + a + b as f32;
}

fn of_each_thread(device: &Device) -> Check {
    for n in block_sizes(device) {
        let x: Vec<f32> = (0..2 * n).map(|i| (i * 7 % 16) as f32 * 0.25).collect();
        let mut y = Vector::filled(2 * n, Found { sum: -1.0, at: 77 });
        let mut z = sentinel_filled::<f32>(2 * n);
        parts(&Vector::from_slice(&x), &mut y, &mut z)
            .grid(2)
            .block(n)
            .run_on(device)?;
        let y = y.to_vec()?;
        let mut expected_z = vec![];
        for (i, y) in y.into_iter().enumerate() {
            let (found, expected) = expected(&x, i / n, i % n, n);
            ensure(y == found, || {
                format!("element {i} of blocks of {n} is {y:?}, not {found:?}")
            })?;
            expected_z.push(expected);
        }
        expect("sums", &z, &expected_z)?;
    }
    Ok(())
}

/// The expected results of one thread.
fn expected(x: &[f32], block: usize, t: usize, n: usize) -> (Found, f32) {
    let v = |t: usize| x[block * n + t % n];
    let more = |at: u32| if at == 3 { 0.5 } else { 0.0 };
    let next = |t: usize| ((t + 1) % n) as u32;
    let pair = |t: usize| v(t + 1) + more(next(t));
    let first = Found {
        sum: pair(t),
        at: next(t),
    };
    let second = pair((t + 1) % n) + more(next((t + 1) % n));
    let (mut own, mut by) = (v(t), (1.0, v(t)));
    if block == 1 {
        own = v(t + 1);
        by = (1.0 + own, v(t) + v(t + 1));
    }
    let odd = if t % 2 == 1 { v(t + 1) } else { 0.0 };
    let sum = 2.0 * second + 1.0 + odd;
    let found = Found {
        sum: own + first.sum,
        at: first.at,
    };
    (found, sum + by.0 + 10.0 * by.1 + v(t) + t as f32)
}
