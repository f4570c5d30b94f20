//! `#[unroll]` on loops of every kind. The hint changes no result.

use crate::Case;
use crate::check::{Check, Expected, expect, sentinel_filled, unary};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("control/unroll", &[], every_loop),
    Case::new("control/unroll_constant", &[], constant),
    Case::new("control/unroll_barriers", &[], barriers),
];

/// Full and partial unrolling. Trip counts are constant, not a multiple of the factor, or dependent on data.
#[kernel]
fn loops_kernel(a: &[u32], out: &mut [u32]) {
    const TWICE: usize = 2;
    let i = global_idx_x();
    let n = a[i] % 23;
    let mut sum = 0;
    #[unroll]
    for k in 0..7u32 {
        sum = sum * 3 + (k ^ n);
    }
    out[4 * i] = sum;
    let mut sum = 0;
    #[unroll(4)]
    'outer: for k in 0..n {
        #[unroll(TWICE)]
        for m in (k..=n).rev().step_by(2) {
            if m % 5 == 3 {
                continue 'outer;
            }
            if sum > 400 {
                break 'outer;
            }
            sum += k * m;
        }
        sum += 1;
    }
    out[4 * i + 1] = sum;
    let (mut left, mut steps) = (a[i], 0);
    #[unroll(3)]
    while left > 0 {
        left /= 2;
        steps += 1;
    }
    out[4 * i + 2] = steps;
    let mut root = 0;
    let found = #[unroll(1)]
    loop {
        if root * root > n {
            break root;
        }
        root += 1;
    };
    let mut next = Some(found);
    #[unroll]
    while let Some(m) = next {
        root = root * 10 + m;
        next = if m > 1 { Some(m - 1) } else { None };
    }
    out[4 * i + 3] = root;
}

fn loops_in_rust(a: u32) -> [u32; 4] {
    let n = a % 23;
    let whole = (0..7).fold(0, |sum, k| sum * 3 + (k ^ n));
    let mut nested = 0;
    'outer: for k in 0..n {
        for m in (k..=n).rev().step_by(2) {
            if m % 5 == 3 {
                continue 'outer;
            }
            if nested > 400 {
                break 'outer;
            }
            nested += k * m;
        }
        nested += 1;
    }
    let root = (0..).find(|r| r * r > n).unwrap_or(0);
    let digits = (1..=root).rev().fold(root, |all, m| all * 10 + m);
    [whole, nested, 32 - a.leading_zeros(), digits]
}

fn every_loop(device: &Device) -> Check {
    let inputs: Vec<u32> = (0..200).chain([u32::MAX, 1 << 31, 12_345_678]).collect();
    unary(
        ["whole", "nested", "steps", "digits"],
        &inputs,
        |a, out, n| loops_kernel(a, out).over(n).run_on(device),
        |a| loops_in_rust(a).map(Expected::Exactly),
    )
}

/// Hashes a row of `WIDTH` elements, in a loop whose unroll factor is a const parameter.
#[device]
fn row_sum<const WIDTH: usize>(x: &[u32], row: usize) -> u32 {
    let mut sum = 0u32;
    #[unroll(WIDTH)]
    for k in 0..WIDTH {
        sum = sum.wrapping_mul(31).wrapping_add(x[row * WIDTH + k]);
    }
    sum
}

#[kernel]
fn constant_kernel<const N: usize, const BY: usize>(x: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let mut parts = [0u32; N];
    #[unroll]
    for k in 0..N {
        parts[k] = x[i * N + k] ^ k as u32;
    }
    let mut sum = row_sum::<N>(x, i);
    #[unroll(BY)]
    for k in 0..N {
        sum = sum.wrapping_add(parts[N - 1 - k] << k);
    }
    out[i] = sum;
}

fn constant(device: &Device) -> Check {
    fn each<const N: usize, const BY: usize>(device: &Device) -> Check {
        let rows = 37;
        let data: Vec<u32> = (0..(rows * N) as u32)
            .map(|n| n.wrapping_mul(2_654_435_761))
            .collect();
        let expected: Vec<u32> = data
            .chunks(N)
            .map(|row| {
                let hash = |sum: u32, x: &u32| sum.wrapping_mul(31).wrapping_add(*x);
                let part = |k: usize| (row[k] ^ k as u32) << (N - 1 - k);
                (0..N)
                    .map(part)
                    .fold(row.iter().fold(0, hash), u32::wrapping_add)
            })
            .collect();
        let mut out = sentinel_filled(rows);
        constant_kernel::<N, BY>(&Vector::from_vec(data), &mut out)
            .over(rows)
            .run_on(device)?;
        expect(&format!("{N} by {BY}"), &out, &expected)
    }
    each::<1, 1>(device)?;
    each::<4, 4>(device)?;
    each::<8, 3>(device)?;
    each::<13, 16>(device)
}

/// Sums blocks of 64 threads, with barriers in unrolled loops.
#[kernel(block = 64)]
fn barriers_kernel(x: &[u32], out: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    let t = thread_idx_x();
    let mut sum = 0;
    #[unroll]
    for round in 0..3 {
        tile[t] = x[3 * global_idx_x() + round];
        barrier();
        let mut stride = 32;
        #[unroll(2)]
        while stride > 0 {
            if t < stride {
                tile[t] = tile[t].wrapping_add(tile[t + stride]);
            }
            barrier();
            stride /= 2;
        }
        sum = tile[0].wrapping_mul(round as u32 + 1).wrapping_add(sum);
        barrier();
    }
    out[global_idx_x()] = sum;
}

fn barriers(device: &Device) -> Check {
    let blocks = 5;
    let data: Vec<u32> = (0..blocks * 192).map(|n| n * n + 7).collect();
    let expected: Vec<u32> = data
        .chunks(192)
        .flat_map(|block| {
            let of_round = |r: usize| block.iter().skip(r).step_by(3).sum::<u32>();
            let sum = (0..3).map(|r| of_round(r).wrapping_mul(r as u32 + 1));
            [sum.fold(0, u32::wrapping_add); 64]
        })
        .collect();
    let mut out = sentinel_filled(expected.len());
    barriers_kernel(&Vector::from_vec(data), &mut out)
        .grid(blocks as usize)
        .run_on(device)?;
    expect("sums", &out, &expected)
}
