//! Generic arithmetic, with generic constants and functions.

use crate::check::{Check, ensure, expect, sentinel_filled};
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("generics/ints", &[], ints),
    Case::new("generics/floats", &[], floats),
    Case::new("generics/doubles", &[Capability::F64], doubles),
];

/// `x^N + x^(N - 1) + … + 1`
#[device]
fn series<T: Num, const N: usize>(x: T) -> T {
    let mut sum = T::ONE;
    for _ in 0..N {
        sum = sum * x + T::ONE;
    }
    sum
}

// Tests bounds in both places.
#[kernel]
#[allow(clippy::multiple_bound_locations)]
fn polynomial<T: Num, const N: usize>(a: T, x: &[T], y: &mut [T])
where
    T: PartialOrd,
{
    let i = global_idx_x();
    if i < x.len() {
        let mut v = series::<T, N>(x[i]) - a;
        if v < T::ZERO {
            v += T::from_usize(N);
        }
        y[i] = v;
    }
}

#[kernel]
fn bits<T: Int>(x: &[T], y: &mut [T]) {
    let i = global_idx_x();
    if i < x.len() {
        let v = x[i].wrapping_mul(T::from_i32(3));
        y[i] = (v ^ x[i]) & !(T::ONE << 1) | T::from_u32(T::BITS - v.count_ones());
    }
}

#[kernel]
fn roots<T: Float>(x: &[T], y: &mut [T]) {
    let i = global_idx_x();
    if i < x.len() {
        let root = x[i].abs().sqrt();
        y[i] = if root > T::ONE {
            T::ONE / root
        } else {
            -root.floor()
        };
        y[i] = y[i].max(T::from_f32(-0.5)) + T::from_f64(x[i].to_f64() * 0.5);
    }
}

fn ints(device: &Device) -> Check {
    let n = 97;
    let x: Vec<i32> = (0..n).map(|i| i - 40).collect();
    let series = |x: i32, n: u32| (0..=n).map(|k| x.pow(k)).sum::<i32>();
    let mut y = sentinel_filled::<i32>(n as usize);
    polynomial::<i32, 2>(5, &Vector::from_slice(&x), &mut y)
        .over(n as usize)
        .run_on(device)?;
    let expected = |n: u32| {
        let one = move |x: &i32| series(*x, n) - 5;
        x.iter()
            .map(one)
            .map(|v| if v < 0 { v + n as i32 } else { v })
            .collect::<Vec<i32>>()
    };
    expect("polynomial::<i32, 2>", &y, &expected(2))?;
    polynomial::<i32, 4>(5, &Vector::from_slice(&x), &mut y)
        .over(n as usize)
        .run_on(device)?;
    expect("polynomial::<i32, 4>", &y, &expected(4))?;
    let words: Vec<u32> = x
        .iter()
        .map(|x| (*x as u32).wrapping_mul(0x1234_5677))
        .collect();
    let mut y = sentinel_filled::<u32>(n as usize);
    bits(&Vector::from_slice(&words), &mut y)
        .over(n as usize)
        .run_on(device)?;
    let expected = words.iter().map(|x| {
        let v = x.wrapping_mul(3);
        (v ^ x) & !2 | v.count_zeros()
    });
    expect("bits::<u32>", &y, &expected.collect::<Vec<u32>>())
}

fn floats(device: &Device) -> Check {
    let x: Vec<f32> = (0..60).map(|i| i as f32 - 30.0).collect();
    let mut y = sentinel_filled::<f32>(60);
    polynomial::<f32, 2>(1.5, &Vector::from_slice(&x), &mut y)
        .over(60)
        .run_on(device)?;
    let expected = x.iter().map(|x| x * x + x - 0.5);
    let expected = expected.map(|v| if v < 0.0 { v + 2.0 } else { v });
    expect("polynomial::<f32, 2>", &y, &expected.collect::<Vec<f32>>())
}

fn doubles(device: &Device) -> Check {
    let x: Vec<f64> = (0..60).map(|i| f64::from(i) * 0.75 - 20.0).collect();
    let mut y = Vector::zeros(60);
    roots(&Vector::from_slice(&x), &mut y)
        .over(60)
        .run_on(device)?;
    for (x, y) in x.iter().zip(y.to_vec()?) {
        let root = x.abs().sqrt();
        let expected = if root > 1.0 {
            1.0 / root
        } else {
            -root.floor()
        };
        let expected = expected.max(-0.5) + x * 0.5;
        ensure((y - expected).abs() <= 1e-14 * expected.abs(), || {
            format!("{y} instead of {expected} of {x}")
        })?;
    }
    Ok(())
}
