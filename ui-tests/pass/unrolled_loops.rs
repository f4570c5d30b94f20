//! Unroll hints on every form of loop, with factors that are named constants.
#![deny(warnings)]

use sarek::prelude::*;

const WIDE: usize = 8;

#[device]
fn sum<const N: usize>(x: &[f32]) -> f32 {
    const TWICE: usize = 2;
    let mut sum = 0.0;
    #[unroll(N)]
    for k in 0..N {
        sum += x[k];
    }
    #[unroll(TWICE)]
    'halved: while sum > 1.0 {
        if sum > 100.0 {
            break 'halved;
        }
        sum *= 0.5;
    }
    sum
}

#[kernel]
fn hinted(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    let mut four = [0.0; 4];
    #[allow(clippy::needless_range_loop)]
    #[unroll]
    for k in 0..4 {
        four[k] = x[i];
    }
    superstep! {
        #[unroll(WIDE)]
        for k in (0..4).rev() {
            four[k] += 1.0;
        }
    }
    let last = #[unroll(1)]
    loop {
        if sum::<4>(&four) < 2.0 {
            break four[0];
        }
        four[0] = 0.0;
    };
    out[i] = last;
}

fn main() -> sarek::Result<()> {
    let x = Vector::from_vec(vec![0.25f32; 64]);
    let mut out = Vector::zeros(64);
    hinted(&x, &mut out).grid(1).block(64).run()
}
