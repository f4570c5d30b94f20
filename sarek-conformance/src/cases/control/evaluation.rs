//! Operands are evaluated once each, from left to right, and see the effects of earlier ones.

use crate::Case;
use crate::check::{Check, Expected, unary};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("control/operand_order", &[], operands),
    Case::new("control/element_order", &[], elements),
    Case::new("control/store_order", &[], stores),
    Case::new("control/effects_once", &[], once),
];

#[kernel]
#[allow(
    unused_assignments,
    clippy::mixed_read_write_in_expression,
    clippy::blocks_in_conditions
)]
fn operands_kernel(a: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    let mut x = a[i];
    out[6 * i] = x + {
        x = 5;
        x
    } * 10;
    let mut x = a[i];
    out[6 * i + 1] = {
        x += 1;
        x
    } - x * {
        x *= 2;
        x
    };
    let mut x = a[i];
    out[6 * i + 2] = x.max(3).wrapping_sub({
        x -= 100;
        x
    }) + x;
    let mut x = a[i];
    let less = x < {
        x -= 1;
        x
    };
    out[6 * i + 3] = less as i32;
    let mut x = 1;
    x += {
        x = 10;
        x + a[i]
    };
    out[6 * i + 4] = x;
    let mut x = a[i];
    let y =
        x + if x > 5 {
            x = 2;
            x
        } else {
            x = 3;
            -x
        } + x;
    out[6 * i + 5] = y;
}

fn operands(device: &Device) -> Check {
    let inputs: Vec<i32> = (0..40).collect();
    unary(
        ["+ *", "- *", "argument", "<", "+=", "if"],
        &inputs,
        |a, out, n| operands_kernel(a, out).over(n).run_on(device),
        |a| {
            let grown = a + 1;
            [
                a + 50,
                grown - grown * (2 * grown),
                a.max(3) - (a - 100) + (a - 100),
                0,
                // A compound assignment of a number evaluates its right side first.
                10 + (10 + a),
                if a > 5 { a + 2 + 2 } else { a - 3 + 3 },
            ]
            .map(Expected::Exactly)
        },
    )
}

/// Reads elements before, in and after a store to the same slice.
#[kernel]
#[allow(clippy::mixed_read_write_in_expression)]
fn elements_kernel(a: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    out[3 * i] = a[i];
    out[3 * i + 1] = out[3 * i] + {
        out[3 * i] = 7;
        out[3 * i]
    };
    let before = out[3 * i];
    out[3 * i] = 100;
    out[3 * i + 2] = before + out[3 * i];
}

fn elements(device: &Device) -> Check {
    let inputs: Vec<i32> = (0..40).collect();
    unary(
        ["last", "around", "before"],
        &inputs,
        |a, out, n| elements_kernel(a, out).over(n).run_on(device),
        |a| [100, a + 7, 107].map(Expected::Exactly),
    )
}

/// A store evaluates its value before the index, and a compound assignment its right side.
#[kernel]
#[allow(unused_assignments, clippy::mixed_read_write_in_expression)]
fn stores_kernel(a: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    out[3 * i] = 0;
    out[3 * i + 1] = 0;
    out[3 * i + 2] = 0;
    let mut k = 0;
    out[3 * i + k] = {
        k = 2;
        a[i]
    };
    out[3 * i + {
        k -= 1;
        k
    }] += {
        k += 0;
        5
    };
    out[3 * i + {
        k -= 1;
        k
    }] += {
        k = 2;
        100
    };
}

fn stores(device: &Device) -> Check {
    let inputs: Vec<i32> = (0..40).collect();
    unary(
        ["first", "second", "third"],
        &inputs,
        |a, out, n| stores_kernel(a, out).over(n).run_on(device),
        |a| [0, 105, a].map(Expected::Exactly),
    )
}

/// Effects inside conditions, indices and method receivers happen once.
#[kernel]
#[allow(clippy::blocks_in_conditions)]
fn once_kernel(a: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    let mut calls = 0i32;
    if {
        calls += 1;
        a[i] > 3
    } {
        calls += 10;
    }
    while {
        calls += 100;
        calls < 450
    } {}
    let clamped = {
        calls += 1000;
        calls
    }
    .clamp(0, 100_000)
    .abs_diff({
        calls += 5000;
        0
    });
    out[2 * i] = calls;
    out[2 * i + 1] = clamped as i32;
}

fn once(device: &Device) -> Check {
    let inputs: Vec<i32> = (0..10).collect();
    unary(
        ["calls", "receiver"],
        &inputs,
        |a, out, n| once_kernel(a, out).over(n).run_on(device),
        |a| {
            let first = if a > 3 { 11 } else { 1 };
            // `calls` passes 450 when the fifth round adds 100.
            [first + 500 + 6000, first + 500 + 1000].map(Expected::Exactly)
        },
    )
}
