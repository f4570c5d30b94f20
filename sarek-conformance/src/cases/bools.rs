//! `bool` as a parameter and in buffers.

use crate::check::{Check, expect, sentinel_filled};
use crate::input::{Random, SIZES};
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("bools/parameters", &[], parameters),
    Case::new("bools/buffers", &[Capability::Storage8], buffers),
];

#[kernel]
fn select(negate: bool, double: bool, input: &[i32], output: &mut [i32]) {
    let i = global_idx_x();
    let mut x = input[i];
    if negate {
        x = -x;
    }
    output[i] = if double && !negate { x * 2 } else { x };
}

fn parameters(device: &Device) -> Check {
    let input: Vec<i32> = (0..100).map(|k| k - 50).collect();
    let vector = Vector::from_slice(&input);
    for (negate, double, factor) in [
        (false, false, 1),
        (false, true, 2),
        (true, false, -1),
        (true, true, -1),
    ] {
        let expected: Vec<i32> = input.iter().map(|x| x * factor).collect();
        let mut output = sentinel_filled(input.len());
        select(negate, double, &vector, &mut output)
            .over(input.len())
            .run_on(device)?;
        expect(&format!("select({negate}, {double})"), &output, &expected)?;
    }
    Ok(())
}

#[kernel]
fn threshold(limit: f32, input: &[f32], old: &[bool], above: &mut [bool]) {
    let i = global_idx_x();
    if i < input.len() {
        above[i] = input[i] > limit || old[i];
    }
}

/// An element is one byte, and different threads write neighbouring bytes.
fn buffers(device: &Device) -> Check {
    for n in SIZES {
        let mut random = Random::new(n as u64);
        let input = random.floats(n, -1.0, 1.0);
        let old: Vec<bool> = random.values(n);
        let mut expected = vec![];
        for k in 0..n {
            expected.push(if old[k] { true } else { input[k] > 0.25 });
        }
        let mut above = sentinel_filled(n);
        let (input, old) = (Vector::from_vec(input), Vector::from_vec(old));
        threshold(0.25, &input, &old, &mut above)
            .over(n)
            .run_on(device)?;
        expect(&format!("over({n})"), &above, &expected)?;

        // The output of the first launch is the input of the second.
        let zeros = Vector::from_vec(vec![-1.0; n]);
        let mut again = sentinel_filled(n);
        threshold(0.25, &zeros, &above, &mut again)
            .over(n)
            .run_on(device)?;
        expect(&format!("again over({n})"), &again, &expected)?;
    }
    Ok(())
}
