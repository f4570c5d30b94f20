//! Local arrays whose length is a const parameter, in every form of the loop over lanes.

use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[Case::new("generics/own_arrays", &[], own_arrays)];

/// Loops that are strip-mined over lanes.
#[kernel]
fn strip_kernel<const N: usize>(x: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let mut parts = [0u32; N];
    for k in 0..N {
        parts[k] = x[i] ^ k as u32;
    }
    let mut sum = 0u32;
    for k in 0..N {
        sum = sum.wrapping_mul(31).wrapping_add(parts[N - 1 - k]);
    }
    out[i] = sum;
}

/// Defines a kernel whose arrays live across barriers. The block size is fixed, or given by the launch.
macro_rules! around_a_barrier {
    ($name:ident, $($block:tt)*) => {
        #[kernel($($block)*)]
        fn $name<const N: usize>(x: &[u32], out: &mut [u32]) {
            let tile = shared_array::<u32, 64>();
            let t = thread_idx_x();
            let mut parts = [0u32; N];
            for k in 0..N {
                parts[k] = x[global_idx_x()] ^ k as u32;
            }
            let mut sum = 0u32;
            for k in 0..N {
                tile[t] = parts[N - 1 - k];
                barrier();
                sum = sum.wrapping_mul(31).wrapping_add(tile[63 - t]);
                barrier();
            }
            out[global_idx_x()] = sum;
        }
    };
}

around_a_barrier!(fixed_kernel, block = 64);
around_a_barrier!(launched_kernel,);

fn own_arrays(device: &Device) -> Check {
    each::<1>(device)?;
    each::<5>(device)?;
    each::<16>(device)
}

fn each<const N: usize>(device: &Device) -> Check {
    let of = |x: u32| {
        let parts = (0..N as u32).rev().map(|k| x ^ k);
        parts.fold(0, |sum: u32, part| sum.wrapping_mul(31).wrapping_add(part))
    };
    let data: Vec<u32> = (0..192u32).map(|n| n.wrapping_mul(2_654_435_761)).collect();
    let x = Vector::from_slice(&data);
    let mut out = sentinel_filled(data.len());
    strip_kernel::<N>(&x, &mut out)
        .over(data.len())
        .run_on(device)?;
    let expected: Vec<u32> = data.iter().map(|x| of(*x)).collect();
    expect(&format!("{N} in strips"), &out, &expected)?;

    let expected: Vec<u32> = data
        .chunks(64)
        .flat_map(|block| block.iter().rev())
        .map(|x| of(*x))
        .collect();
    let mut out = sentinel_filled(data.len());
    fixed_kernel::<N>(&x, &mut out).grid(3).run_on(device)?;
    expect(&format!("{N} in fixed blocks"), &out, &expected)?;
    let mut out = sentinel_filled(data.len());
    launched_kernel::<N>(&x, &mut out)
        .grid(3)
        .block(64)
        .run_on(device)?;
    expect(&format!("{N} in blocks"), &out, &expected)
}
