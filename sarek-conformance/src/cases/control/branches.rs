//! `if` as statement and as expression, and blocks as expressions.

use crate::Case;
use crate::check::{Check, Expected, unary};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("control/if", &[], statements),
    Case::new("control/if_value", &[], values),
    Case::new("control/blocks", &[], blocks),
];

fn small() -> Vec<i32> {
    (-20..100).collect()
}

#[kernel]
fn statements_kernel(a: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    let x = a[i];
    let mut class = 0;
    if x < 0 {
        class = 1;
    } else if x % 15 == 0 {
        class = 2;
        if x == 0 {
            class = 3;
        }
    } else if x % 5 == 0 {
        class = 4;
    } else {
        if x % 3 == 0 {
            class += 5;
        }
    }
    if x > 90 {}
    out[i] = class;
}

fn statements(device: &Device) -> Check {
    unary(
        ["class"],
        &small(),
        |a, out, n| statements_kernel(a, out).over(n).run_on(device),
        |x| {
            let class = match (x, x % 3, x % 5) {
                (..0, _, _) => 1,
                (0, _, _) => 3,
                (_, 0, 0) => 2,
                (_, _, 0) => 4,
                (_, 0, _) => 5,
                _ => 0,
            };
            [Expected::Exactly(class)]
        },
    )
}

#[kernel]
fn values_kernel(a: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    let x = a[i];
    let sign = if x < 0 {
        -1
    } else if x == 0 {
        0
    } else {
        1
    };
    out[3 * i] = sign;
    out[3 * i + 1] = (if x & 1 == 0 { x } else { 3 * x + 1 }) + if sign > 0 { 10 } else { 20 };
    out[3 * i + 2] = if if x > 3 { x < 50 } else { x == 1 } {
        let y = x * 2;
        y + 1
    } else {
        -1
    };
}

fn values(device: &Device) -> Check {
    unary(
        ["sign", "sum", "nested"],
        &small(),
        |a, out, n| values_kernel(a, out).over(n).run_on(device),
        |x| {
            let collatz = [x, 3 * x + 1][x.rem_euclid(2) as usize];
            let more = if x > 0 { 10 } else { 20 };
            let inside = (4..50).contains(&x) || x == 1;
            let nested = if inside { 2 * x + 1 } else { -1 };
            [x.signum(), collatz + more, nested].map(Expected::Exactly)
        },
    )
}

#[kernel]
fn blocks_kernel(a: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    let x = a[i];
    let y = {
        let t = x * x;
        {
            let t = t + 1;
            t * 2
        }
    };
    out[2 * i] = {
        let z = y - 1;
        z
    };
    {
        let mut acc = y;
        {
            acc += 1;
        }
        out[2 * i + 1] = acc;
    }
}

fn blocks(device: &Device) -> Check {
    unary(
        ["value", "statement"],
        &small(),
        |a, out, n| blocks_kernel(a, out).over(n).run_on(device),
        |x| [2 * x * x + 1, 2 * x * x + 3].map(Expected::Exactly),
    )
}
