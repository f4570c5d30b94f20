//! `&&` and `||` evaluate their right side only if it decides the result.

use crate::Case;
use crate::check::{Check, Expected, unary};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("control/short_circuit", &[], guards),
    Case::new("control/short_effects", &[], effects),
];

/// If it were evaluated, the right side would read out of bounds or divide by zero.
#[kernel]
fn guards_kernel(a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let k = a[i] as usize;
    out[4 * i] = (k < a.len() && a[k] > 3) as u32;
    out[4 * i + 1] = (k >= a.len() || a[k] < 10) as u32;
    out[4 * i + 2] = (a[i] != 0 && 100 / a[i] > 4) as u32;
    let mut j = 0;
    while j < a.len() && a[j] != a[i] {
        j += 1;
    }
    out[4 * i + 3] = j as u32;
}

fn guards(device: &Device) -> Check {
    let inputs: Vec<u32> = vec![0, 1, 5, 3, 9, 10, 11, 12, 1_000_000, u32::MAX, 4, 5];
    let element = |k: u32| inputs.get(k as usize).copied();
    unary(
        ["and", "or", "division", "while"],
        &inputs,
        |a, out, n| guards_kernel(a, out).over(n).run_on(device),
        |a| {
            [
                element(a).is_some_and(|e| e > 3) as u32,
                element(a).is_none_or(|e| e < 10) as u32,
                (1..=20).contains(&a) as u32,
                inputs.iter().position(|&e| e == a).unwrap_or(inputs.len()) as u32,
            ]
            .map(Expected::Exactly)
        },
    )
}

#[kernel]
#[allow(clippy::blocks_in_conditions)]
fn effects_kernel(a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let x = a[i];
    let mut calls = 0;
    let both = x & 1 != 0
        && {
            calls += 1;
            x & 2 != 0
        }
        && {
            calls += 10;
            x & 4 != 0
        };
    let either = x & 1 != 0
        || {
            calls += 100;
            x & 2 != 0
        }
        || {
            calls += 1000;
            x & 4 != 0
        };
    out[3 * i] = calls;
    out[3 * i + 1] = both as u32;
    out[3 * i + 2] = either as u32;
}

fn effects(device: &Device) -> Check {
    let inputs: Vec<u32> = (0..8).collect();
    unary(
        ["calls", "and", "or"],
        &inputs,
        |a, out, n| effects_kernel(a, out).over(n).run_on(device),
        |a| {
            let calls = [1100, 1, 100, 11, 1100, 1, 100, 11][a as usize];
            [calls, u32::from(a == 7), u32::from(a != 0)].map(Expected::Exactly)
        },
    )
}
