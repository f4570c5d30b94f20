//! `while` and `loop`, with and without a value.

use crate::Case;
use crate::check::{Check, Expected, unary};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("control/while", &[], while_case),
    Case::new("control/loop_value", &[], loop_value),
    Case::new("control/continue", &[], continue_case),
];

#[kernel]
fn while_kernel(a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let mut n = a[i];
    let mut steps = 0;
    while n > 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    let mut never = 7;
    while false {
        never = 8;
    }
    out[2 * i] = steps;
    out[2 * i + 1] = never;
}

fn collatz(n: u32) -> u32 {
    if n <= 1 {
        0
    } else if n.is_multiple_of(2) {
        1 + collatz(n / 2)
    } else {
        1 + collatz(3 * n + 1)
    }
}

fn while_case(device: &Device) -> Check {
    let inputs: Vec<u32> = (0..300).collect();
    unary(
        ["steps", "never"],
        &inputs,
        |a, out, n| while_kernel(a, out).over(n).run_on(device),
        |a| [collatz(a), 7].map(Expected::Exactly),
    )
}

#[kernel]
#[allow(clippy::never_loop)]
fn loop_kernel(a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let limit = a[i];
    let mut k = 0;
    let root = loop {
        if k * k > limit {
            break k - 1;
        }
        k += 1;
    };
    let once = loop {
        break if limit > 10 { 1 } else { 2 };
    };
    let outer = 'outer: loop {
        let mut m = 0;
        loop {
            m += 1;
            if m > limit {
                break 'outer m;
            }
            if m == 5 {
                break;
            }
        }
        break 'outer 99;
    };
    out[3 * i] = root;
    out[3 * i + 1] = once;
    out[3 * i + 2] = outer;
}

fn loop_value(device: &Device) -> Check {
    let inputs: Vec<u32> = (0..200).collect();
    unary(
        ["root", "once", "outer"],
        &inputs,
        |a, out, n| loop_kernel(a, out).over(n).run_on(device),
        |a| {
            let root = f64::from(a).sqrt().floor() as u32;
            let once = if a > 10 { 1 } else { 2 };
            let outer = if a < 5 { a + 1 } else { 99 };
            [root, once, outer].map(Expected::Exactly)
        },
    )
}

#[kernel]
fn continue_kernel(a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let mut sum = 0;
    let mut k = 0;
    while k < a[i] {
        k += 1;
        if k % 3 == 0 {
            continue;
        }
        if k > 40 {
            break;
        }
        sum += k;
    }
    let mut odd = 0;
    for j in 0..a[i] {
        if j % 2 == 0 {
            continue;
        }
        odd += j;
    }
    let mut left = a[i];
    let mut rounds = 0;
    loop {
        rounds += 1;
        if left > 10 {
            left -= 10;
            continue;
        }
        break;
    }
    out[3 * i] = sum;
    out[3 * i + 1] = odd;
    out[3 * i + 2] = rounds;
}

fn continue_case(device: &Device) -> Check {
    let inputs: Vec<u32> = (0..100).collect();
    unary(
        ["while", "for", "loop"],
        &inputs,
        |a, out, n| continue_kernel(a, out).over(n).run_on(device),
        |a| {
            let sum = (1..=a.min(40)).filter(|k| k % 3 != 0).sum();
            let odd = (0..a).filter(|j| j % 2 == 1).sum();
            [sum, odd, a.saturating_sub(1) / 10 + 1].map(Expected::Exactly)
        },
    )
}
