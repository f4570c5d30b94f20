//! Closures called in the function that defines them.

use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[Case::new("functions/closures", &[], closures)];

#[kernel]
fn called(x: &[u32], by: u32, y: &mut [u32]) {
    let i = global_idx_x();
    if i < x.len() {
        let scale = 3;
        let affine = |v: u32, w| v * scale + w;
        let first = |n: usize| {
            let mut found = 100;
            for k in 0..n {
                if x[k] % 7 == by {
                    found = k as u32;
                    break;
                }
            }
            found
        };
        let mut calls = 0;
        let mut count = |more| {
            calls += more;
            calls
        };
        // `affine` has captured the earlier `scale`.
        let scale = count(2) + count(5);
        y[i] = affine(x[i], scale) + affine(first(i), 1) * 1000 + calls;
    }
}

fn closures(device: &Device) -> Check {
    let n = 120;
    let x: Vec<u32> = (0..n).map(|i| i * 5 % 64 + 1).collect();
    let mut y = sentinel_filled::<u32>(n as usize);
    called(&Vector::from_slice(&x), 3, &mut y)
        .over(n as usize)
        .run_on(device)?;
    let expected = (0..n as usize).map(|i| {
        let first = x[..i].iter().position(|v| v % 7 == 3);
        let first = first.map_or(100, |k| k as u32);
        x[i] * 3 + 9 + (first * 3 + 1) * 1000 + 7
    });
    expect("called", &y, &expected.collect::<Vec<u32>>())
}
