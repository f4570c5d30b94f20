//! Functions of scalars: nested calls, early returns, helpers of other modules.

use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use crate::input::SIZES;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("functions/values", &[], values),
    Case::new("functions/early_return", &[], early_return),
];

mod helpers {
    use sarek::prelude::*;

    const STEP: u32 = 3;

    #[device]
    pub fn mix(a: u32, b: u32) -> u32 {
        let low = a ^ b.rotate_left(STEP);
        low.wrapping_mul(0x9e37_79b9)
    }
}

/// Calls a function of another module.
#[device]
fn twice(a: u32) -> u32 {
    helpers::mix(helpers::mix(a, 1), 2)
}

#[kernel]
fn called(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    if i < x.len() {
        y[i] = twice(x[i]) ^ helpers::mix(x[i], i as u32);
    }
}

fn values(device: &Device) -> Check {
    let mix = |a: u32, b: u32| (a ^ b.rotate_left(3)).wrapping_mul(0x9e37_79b9);
    for n in SIZES {
        let x: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(77_777)).collect();
        let mut y = sentinel_filled::<u32>(n);
        called(&Vector::from_slice(&x), &mut y)
            .over(n)
            .run_on(device)?;
        let expected = x.iter().zip(0..);
        let expected: Vec<u32> = expected
            .map(|(&x, i)| mix(mix(x, 1), 2) ^ mix(x, i))
            .collect();
        expect("called", &y, &expected)?;
    }
    Ok(())
}

/// Returns from inside a loop, from branches, and at the end.
#[device]
fn first_factor(n: u32) -> u32 {
    if n < 4 {
        return n;
    }
    for d in 2..n {
        if d * d > n {
            return n;
        }
        if n % d == 0 {
            return d;
        }
    }
    0
}

#[kernel]
fn factors(y: &mut [u32]) {
    let i = global_idx_x();
    if i < y.len() - 5 {
        y[i] = first_factor(i as u32);
    }
}

fn early_return(device: &Device) -> Check {
    let n = 300;
    let mut y = sentinel_filled::<u32>(n);
    factors(&mut y).over(n + 5).run_on(device)?;
    let expected = (0..n as u32).map(|n| (2..n).find(|d| n % d == 0).unwrap_or(n));
    expect("factors", &y, &expected.collect::<Vec<u32>>())
}
