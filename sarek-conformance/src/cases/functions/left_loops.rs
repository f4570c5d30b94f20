//! Calls with counted loops that some threads leave earlier than others.

use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[Case::new("functions/in_left_loops", &[], left)];

#[device]
fn next(x: u32) -> u32 {
    x * 3 + 1
}

/// Sums the first steps of `x` up to `limit`, each multiplied by its number.
#[device]
fn weighed(x: u32, limit: u32) -> u32 {
    let (mut sum, mut value) = (0, x);
    for step in 1u32..=5 {
        value = next(value);
        if value > limit {
            break;
        }
        sum += step * value;
    }
    sum
}

#[kernel]
fn left_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    if i < x.len() {
        y[i] = weighed(x[i], 200 + 7 * i as u32);
    }
}

fn left(device: &Device) -> Check {
    for n in [1usize, 33, 300] {
        let x: Vec<u32> = (0..n as u32).map(|i| i * 37 % 101).collect();
        let mut y = sentinel_filled::<u32>(n);
        left_kernel(&Vector::from_slice(&x), &mut y)
            .over(n)
            .run_on(device)?;
        let expected = x.iter().zip(0..).map(|(&x, i)| {
            let steps = std::iter::successors(Some(x), |x| Some(x * 3 + 1)).skip(1);
            let steps = steps.take(5).take_while(|value| *value <= 200 + 7 * i);
            (1..).zip(steps).map(|(step, value)| step * value).sum()
        });
        expect("left", &y, &expected.collect::<Vec<u32>>())?;
    }
    Ok(())
}
