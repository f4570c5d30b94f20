//! Shadowing, scopes, late initialisation, and names that other languages reserve.

use crate::Case;
use crate::check::{Check, Expected, unary};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("control/shadowing", &[], shadowing),
    Case::new("control/late_initialisation", &[], late),
    Case::new("control/reserved_names", &[], names),
];

#[kernel]
fn shadowing_kernel(a: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    let x = a[i];
    let x = x + 1;
    let mut y = x;
    {
        let x = x * 10;
        y += x;
        let y = 1000;
        out[3 * i] = x + y;
    }
    for x in 0..3 {
        let x = x + 1;
        y += x;
    }
    out[3 * i + 1] = y;
    // A new variable of another type, made from the old one with the same name.
    let x = x as f32 * 0.5;
    let x = if x > 10.0 {
        let x = 1;
        x
    } else {
        2
    };
    out[3 * i + 2] = x;
}

fn shadowing(device: &Device) -> Check {
    let inputs: Vec<i32> = (0..50).collect();
    unary(
        ["inner", "outer", "type"],
        &inputs,
        |a, out, n| shadowing_kernel(a, out).over(n).run_on(device),
        |a| {
            let bumped = a + 1;
            let last = if bumped > 20 { 1 } else { 2 };
            [10 * bumped + 1000, 11 * bumped + 6, last].map(Expected::Exactly)
        },
    )
}

#[kernel]
#[allow(clippy::needless_late_init)]
fn late_kernel(a: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    let x;
    if a[i] > 10 {
        x = a[i];
    } else {
        x = -a[i];
    }
    let mut sum: i32;
    sum = 1;
    for k in 0..3 {
        let step;
        if k == 1 {
            step = 10;
        } else {
            step = 1;
        }
        sum += step;
    }
    out[2 * i] = x;
    out[2 * i + 1] = sum;
}

fn late(device: &Device) -> Check {
    let inputs: Vec<i32> = (0..30).collect();
    unary(
        ["x", "sum"],
        &inputs,
        |a, out, n| late_kernel(a, out).over(n).run_on(device),
        |a| [if a > 10 { a } else { -a }, 13].map(Expected::Exactly),
    )
}

/// Variables named like keywords, types and builtins of C, CUDA, OpenCL and WGSL, or like names that a code generator may invent.
#[kernel]
#[allow(non_snake_case, clippy::identity_op)]
fn names_kernel(float: &[i32], kernel: i32, out: &mut [i32]) {
    let int = global_idx_x();
    let double = float[int];
    let global = double + kernel;
    let local = global * 2;
    let half = local - 1;
    let vec4 = half + 1;
    let auto = vec4 ^ 3;
    let register = auto | 64;
    let threadIdx = register - 1;
    let get_global_id = threadIdx + 1;
    let array = get_global_id;
    let var = array + 1;
    let workgroup = var - 1;
    let r#fn = workgroup;
    let r#type = r#fn + 0;
    let _tmp = r#type;
    let main = _tmp;
    let r#struct = main;
    let switch = r#struct;
    let NULL = switch;
    let größe = NULL;
    let select = größe;
    out[int] = select;
}

fn names(device: &Device) -> Check {
    let inputs: Vec<i32> = (0..50).collect();
    unary(
        ["names"],
        &inputs,
        |a, out, n| names_kernel(a, 5, out).over(n).run_on(device),
        |a| [Expected::Exactly((((a + 5) * 2) ^ 3) | 64)],
    )
}
