//! Early `return`, from the top level and from inside loops.

use crate::Case;
use crate::check::{Check, Expected, expect, sentinel_filled, unary};
use crate::input::Sample;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("control/return", &[], guarded),
    Case::new("control/return_in_loops", &[], nested),
];

/// Threads that return write nothing.
#[kernel]
fn guarded_kernel(limit: usize, a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    if i >= limit {
        return;
    }
    if a[i] % 3 == 0 {
        return;
    }
    out[i] = a[i];
}

fn guarded(device: &Device) -> Check {
    let input: Vec<u32> = (0..300).collect();
    let expected: Vec<u32> = input
        .iter()
        .map(|&a| {
            if a < 200 && a % 3 != 0 {
                a
            } else {
                u32::SENTINEL
            }
        })
        .collect();
    let mut out = sentinel_filled(input.len());
    guarded_kernel(200, &Vector::from_slice(&input), &mut out)
        .over(input.len())
        .run_on(device)?;
    expect("guarded", &out, &expected)
}

#[kernel]
fn nested_kernel(a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    out[i] = 0;
    for p in 0..10u32 {
        let mut q = 0;
        while q < 10 {
            if p * q == a[i] {
                out[i] = 1 + p * 100 + q;
                return;
            }
            q += 1;
        }
        if p + 12 == a[i] {
            return;
        }
    }
    out[i] = 7777;
}

fn nested(device: &Device) -> Check {
    let inputs: Vec<u32> = (0..100).collect();
    unary(
        ["return"],
        &inputs,
        |a, out, n| nested_kernel(a, out).over(n).run_on(device),
        |a| {
            let pairs = (0..10u32).flat_map(|p| (0..10).map(move |q| (p, q)));
            let found = pairs.clone().find(|(p, q)| p * q == a);
            let expected = match found {
                Some((p, q)) if !(12..22).contains(&a) || p <= a - 12 => 1 + p * 100 + q,
                _ if (12..22).contains(&a) => 0,
                _ => 7777,
            };
            [Expected::Exactly(expected)]
        },
    )
}
