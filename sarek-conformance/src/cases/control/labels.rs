//! Labelled `break` and `continue` through loops of every kind.

use crate::Case;
use crate::check::{Check, Expected, unary};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("control/break_outer", &[], break_outer),
    Case::new("control/continue_outer", &[], continue_outer),
    Case::new("control/labels_mixed", &[], mixed),
    Case::new("control/labels_shadowed", &[], shadowed),
];

/// Finds the first pair `p < q` below 40 with `p * q == n`, as `100 p + q`.
#[kernel]
fn break_kernel(a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let n = a[i];
    let mut found = 0;
    'search: for p in 2..40u32 {
        for q in p + 1..40 {
            if p * q == n {
                found = 100 * p + q;
                break 'search;
            }
            if p * q > n {
                break;
            }
        }
    }
    out[i] = found;
}

fn break_outer(device: &Device) -> Check {
    let inputs: Vec<u32> = (0..400).collect();
    unary(
        ["pair"],
        &inputs,
        |a, out, n| break_kernel(a, out).over(n).run_on(device),
        |n| {
            let pair = (2..40).find(|&p| n.is_multiple_of(p) && n / p > p && n / p < 40);
            [Expected::Exactly(pair.map_or(0, |p| 100 * p + n / p))]
        },
    )
}

/// Counts primes below `n` by trial division.
#[kernel]
fn continue_kernel(a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let mut count = 0;
    'numbers: for k in 2..a[i] {
        let mut d = 2;
        while d * d <= k {
            if k % d == 0 {
                continue 'numbers;
            }
            d += 1;
        }
        count += 1;
    }
    out[i] = count;
}

fn continue_outer(device: &Device) -> Check {
    let inputs: Vec<u32> = (0..150).collect();
    unary(
        ["primes"],
        &inputs,
        |a, out, n| continue_kernel(a, out).over(n).run_on(device),
        |n| {
            let prime = |k: &u32| (2..*k).all(|d| !k.is_multiple_of(d));
            [Expected::Exactly((2..n).filter(prime).count() as u32)]
        },
    )
}

/// Three nested loops. For some input, every way out of the innermost one is taken.
#[kernel]
fn mixed_kernel(a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let x = a[i];
    let mut trace = 0u32;
    'top: for p in 0..4u32 {
        let mut q = 0;
        'middle: while q < 4 {
            q += 1;
            let mut rounds = 0;
            let value = 'inner: loop {
                trace = trace.wrapping_mul(7).wrapping_add(p * 4 + q);
                if (trace ^ x) & 7 == 0 {
                    continue 'middle;
                }
                if (trace ^ x) & 7 == 1 {
                    continue 'top;
                }
                if (trace ^ x) & 31 == 2 {
                    break 'top;
                }
                if (trace ^ x) & 7 == 3 {
                    break 'middle;
                }
                if (trace ^ x) & 1 == 0 {
                    break 'inner trace & 0xff;
                }
                trace = trace.wrapping_add(x | 1);
                rounds += 1;
                if rounds == 9 {
                    break 5;
                }
            };
            trace = trace.wrapping_add(value);
        }
        trace = trace.wrapping_add(1000);
    }
    out[i] = trace;
}

fn mixed(device: &Device) -> Check {
    let inputs: Vec<u32> = (0..200).map(|k| k * 37).collect();
    unary(
        ["trace"],
        &inputs,
        |a, out, n| mixed_kernel(a, out).over(n).run_on(device),
        |x| [Expected::Exactly(mixed_reference(x))],
    )
}

/// The way in which the innermost loop is left.
enum Way {
    NextMiddle,
    NextTop,
    Done,
    LeaveMiddle,
    Value(u32),
}

/// The same walk with functions and an enum instead of labels.
fn mixed_reference(x: u32) -> u32 {
    let mut trace = 0u32;
    for p in 0..4 {
        match middle(&mut trace, x, p) {
            Way::NextTop => continue,
            Way::Done => return trace,
            Way::NextMiddle | Way::LeaveMiddle | Way::Value(_) => {
                trace = trace.wrapping_add(1000);
            }
        }
    }
    trace
}

fn middle(trace: &mut u32, x: u32, p: u32) -> Way {
    for q in 1..=4 {
        match inner(trace, x, p * 4 + q) {
            Way::Value(value) => *trace = trace.wrapping_add(value),
            Way::NextMiddle => {}
            Way::LeaveMiddle => return Way::LeaveMiddle,
            way @ (Way::NextTop | Way::Done) => return way,
        }
    }
    Way::LeaveMiddle
}

fn inner(trace: &mut u32, x: u32, step: u32) -> Way {
    for _ in 0..9 {
        *trace = trace.wrapping_mul(7).wrapping_add(step);
        let bits = *trace ^ x;
        match bits % 8 {
            0 => return Way::NextMiddle,
            1 => return Way::NextTop,
            2 if bits % 32 == 2 => return Way::Done,
            3 => return Way::LeaveMiddle,
            even if even % 2 == 0 => return Way::Value(*trace % 256),
            _ => {}
        }
        *trace = trace.wrapping_add(x | 1);
    }
    Way::Value(5)
}

/// Uses one label for two loops in a row.
#[kernel]
#[allow(clippy::never_loop)]
fn shadowed_kernel(a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let mut sum = 0;
    'a: for k in 0..a[i] {
        if k == 5 {
            break 'a;
        }
        sum += k;
    }
    'a: for k in 0..a[i] {
        'b: loop {
            if k % 2 == 0 {
                continue 'a;
            }
            break 'b;
        }
        sum += 100;
    }
    out[i] = sum;
}

fn shadowed(device: &Device) -> Check {
    let inputs: Vec<u32> = (0..20).collect();
    unary(
        ["sum"],
        &inputs,
        |a, out, n| shadowed_kernel(a, out).over(n).run_on(device),
        |a| [Expected::Exactly((0..a.min(5)).sum::<u32>() + a / 2 * 100)],
    )
}
