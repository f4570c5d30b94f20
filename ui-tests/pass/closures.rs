//! Closures and functions passed to functions, as users write them.
#![deny(warnings, missing_docs, clippy::pedantic)]
#![forbid(unsafe_code)]
#![allow(clippy::cast_precision_loss, clippy::must_use_candidate, clippy::needless_pass_by_value)]

use sarek::prelude::*;

/// Applies a function twice.
#[device]
pub fn twice<T: Num, F: Fn(T) -> T>(x: T, f: F) -> T {
    f(f(x))
}

/// Adds numbers up.
#[device]
pub fn each(n: usize, mut f: impl FnMut(usize)) {
    for k in 0..n {
        f(k);
    }
}

/// Half of a number.
#[device]
pub fn half<T: Float>(x: T) -> T {
    x * T::from_f32(0.5)
}

/// A kernel.
#[kernel]
pub fn k<T: Float>(x: &[T], y: &mut [T]) {
    let i = global_idx_x();
    let mut sum = T::ZERO;
    each(x.len(), |k| sum += x[k]);
    let by = x[i];
    y[i] = twice(sum, |v| v * by) + twice(x[i], half::<T>);
}

fn main() {
    let (x, mut y) = (Vector::from_vec(vec![2.0f32; 4]), Vector::zeros(4));
    k(&x, &mut y).over(4).run().unwrap();
    assert_eq!(y.to_vec().unwrap(), [32.5; 4]);
    // They stay ordinary functions of the host.
    let by = 3;
    assert_eq!(twice(2, |v| v * by), 18);
}
