//! Steps that are data.

use crate::Case;
use crate::check::{Check, Expected, unary};
use sarek::prelude::*;

pub const CASES: &[Case] = &[Case::new("control/step_of_data", &[], steps)];

#[kernel]
fn steps_kernel(step: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let mut sum = 0;
    for k in (0..100u32).step_by(step[i] as usize) {
        sum += k;
    }
    out[i] = sum;
}

fn steps(device: &Device) -> Check {
    let inputs: Vec<u32> = (1..120).collect();
    unary(
        ["sum"],
        &inputs,
        |step, out, n| steps_kernel(step, out).over(n).run_on(device),
        |step| [Expected::Exactly((0..100).filter(|k| k % step == 0).sum())],
    )
}
