//! Generic functions whose instances rustc infers.

use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[Case::new("functions/inferred_generics", &[], inferred)];

mod inner {
    use sarek::prelude::*;

    #[device]
    pub fn half<T: Float>(x: T) -> T {
        x / (T::ONE + T::ONE)
    }
}

#[device]
fn double<T: Num>(x: T) -> T {
    x + x
}

#[device]
fn quadruple<T: Num>(x: T) -> T {
    double(double(x))
}

/// Only the result determines the instance.
#[device]
fn zero<T: Num>() -> T {
    T::ZERO
}

/// The array argument determines the length.
#[device]
fn sum<T: Num, const N: usize>(x: [T; N]) -> T {
    let mut sum: T = zero();
    for k in 0..N {
        sum += x[k];
    }
    sum
}

#[device]
fn at<T: Num>(x: &[T], i: usize) -> T {
    x[i] + zero::<T>()
}

#[device]
fn add_to<T: Num>(x: T, to: &mut T) {
    *to += x;
}

#[kernel]
fn instances(x: &[f32], y: &mut [f32], z: &mut [u32]) {
    let i = global_idx_x();
    let n = i as u32;
    y[i] = quadruple(x[i]) + inner::half(4.0) + at(x, i);
    z[i] = double(n) + double(3) + sum([1, 2, n]) + sum([n; 5]);
    let mut w: f32 = zero();
    add_to(inner::half(x[i]), &mut w);
    y[i] += w;
}

#[kernel]
fn halves<T: Float>(x: &[T], y: &mut [T]) {
    let i = global_idx_x();
    y[i] = inner::half(quadruple(at(x, i)));
}

fn inferred(device: &Device) -> Check {
    /// A device function defined inside another function.
    #[device]
    fn local(x: u32) -> u32 {
        double(x) + 1
    }

    #[kernel]
    fn inside(z: &mut [u32]) {
        z[global_idx_x()] = local(global_idx_x() as u32);
    }

    let n = 50;
    let x: Vec<f32> = (0..n).map(|i| i as f32 * 0.5).collect();
    let input = Vector::from_slice(&x);
    let (mut y, mut z) = (sentinel_filled(n), sentinel_filled(n));
    instances(&input, &mut y, &mut z).over(n).run_on(device)?;
    let expected: Vec<f32> = x.iter().map(|x| 5.5 * x + 2.0).collect();
    expect("instances of f32", &y, &expected)?;
    let expected: Vec<u32> = (0..n as u32).map(|n| 8 * n + 9).collect();
    expect("instances of integers", &z, &expected)?;
    halves(&input, &mut y).over(n).run_on(device)?;
    let expected: Vec<f32> = x.iter().map(|x| 2.0 * x).collect();
    expect("a generic kernel", &y, &expected)?;
    inside(&mut z).over(n).run_on(device)?;
    let expected: Vec<u32> = (0..n as u32).map(|n| 2 * n + 1).collect();
    expect("functions in functions", &z, &expected)
}
