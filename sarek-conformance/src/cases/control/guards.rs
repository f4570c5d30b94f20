//! `match` guards that contain statements, after patterns with alternatives.

use crate::Case;
use crate::check::{Check, Expected, unary};
use sarek::prelude::*;

pub const CASES: &[Case] = &[Case::new("control/guards_with_statements", &[], guards)];

#[device]
fn halved(n: u32) -> Option<u32> {
    if n % 2 == 0 { Some(n / 2) } else { None }
}

/// A guard runs once for each alternative that matches, in order, until it is true.
#[kernel]
fn guards_kernel(a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let n = a[i];
    let mut asked = 0;
    let taken = match (n % 3, n % 5) {
        (k @ 0..=1, _) | (_, k @ 2..)
            if {
                asked += 1 + k;
                let half: Option<u32> = halved(n / 7 + k);
                if let Some(half) = half {
                    half == n / 14 || k == 4
                } else {
                    false
                }
            } =>
        {
            10 + k
        }
        (_, 3) if asked > 2 => 20,
        _ => 30,
    };
    out[2 * i] = taken;
    out[2 * i + 1] = asked;
}

fn guards(device: &Device) -> Check {
    let inputs: Vec<u32> = (0..250).collect();
    unary(
        ["taken", "asked"],
        &inputs,
        |a, out, n| guards_kernel(a, out).over(n).run_on(device),
        |n| {
            let holds = |k: u32| {
                let sum = n / 7 + k;
                sum.is_multiple_of(2) && (sum / 2 == n / 14 || k == 4)
            };
            let first = (n % 3 < 2).then_some(n % 3);
            let second = (n % 5 > 1).then_some(n % 5);
            let (mut asked, mut taken) = (0, None);
            for k in [first, second].into_iter().flatten() {
                if taken.is_none() {
                    asked += 1 + k;
                    taken = holds(k).then_some(10 + k);
                }
            }
            let other = if n % 5 == 3 && asked > 2 { 20 } else { 30 };
            [taken.unwrap_or(other), asked].map(Expected::Exactly)
        },
    )
}
