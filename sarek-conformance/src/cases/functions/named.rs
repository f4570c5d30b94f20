//! Functions passed by name. The instances of generic ones follow from the types in the call.

use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("functions/functions_as_arguments", &[], values),
    Case::new(
        "functions/functions_as_arguments_in_generic_kernels",
        &[],
        generic,
    ),
];

#[device]
fn apply(f: impl Fn(i32) -> i32, x: i32) -> i32 {
    f(x)
}

#[device]
fn map<T: Num, U: Num>(f: impl Fn(T) -> U, x: T) -> U {
    f(x)
}

#[device]
fn composed<A: Num, B: Num, C: Num>(f: impl Fn(A) -> B, g: impl Fn(B) -> C, x: A) -> C {
    g(f(x))
}

#[device]
fn fold<T: Num>(x: &[T], f: impl Fn(T, T) -> T, first: T) -> T {
    let mut all = first;
    for k in 0..x.len() {
        all = f(all, x[k]);
    }
    all
}

#[device]
fn square<T: Num>(x: T) -> T {
    x * x
}

#[device]
fn sum<T: Num>(a: T, b: T) -> T {
    a + b
}

#[device]
fn halves(x: i32) -> f32 {
    x as f32 * 0.5
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Scale<T: Num> {
    by: T,
}

#[device]
impl<T: Num> Scale<T> {
    fn doubled<U: Num>(x: U) -> U {
        x + x
    }

    fn applied(&self, f: impl Fn(T) -> T) -> T {
        f(self.by)
    }
}

#[kernel]
fn named(x: &[i32], y: &mut [i32], z: &mut [f32]) {
    let i = global_idx_x();
    if i < y.len() {
        let v = x[i];
        let scale: Scale<i32> = Scale { by: v };
        let plain = apply(square, v) + map(square, v + 1) + scale.applied(square);
        let folded = fold(x, sum, 0) + apply(Scale::<f32>::doubled, v);
        y[i] = plain + 1000 * folded;
        let short = map(square, v as u8 & 15);
        z[i] = composed(square, halves, v) + composed(halves, square, v) + short as f32;
    }
}

fn values(device: &Device) -> Check {
    let x: Vec<i32> = (-20..25).collect();
    let n = x.len();
    let (mut y, mut z) = (sentinel_filled::<i32>(n), sentinel_filled::<f32>(n));
    named(&Vector::from_slice(&x), &mut y, &mut z)
        .over(n)
        .run_on(device)?;
    let all: i32 = x.iter().sum();
    let expected = |v: &i32| v * v + (v + 1) * (v + 1) + v * v + 1000 * (all + 2 * v);
    expect("integers", &y, &x.iter().map(expected).collect::<Vec<_>>())?;
    let expected = |v: &i32| {
        let short = (*v as u8 & 15) as f32;
        (v * v) as f32 * 0.75 + short * short
    };
    expect("floats", &z, &x.iter().map(expected).collect::<Vec<_>>())
}

#[kernel]
fn squares<T: Num>(x: &[T], y: &mut [T]) {
    let i = global_idx_x();
    if i < y.len() {
        y[i] = map(square, x[i]) + composed(square, Scale::<T>::doubled, x[i]);
    }
}

fn generic(device: &Device) -> Check {
    let ints: Vec<u32> = (0..70).collect();
    let floats: Vec<f32> = ints.iter().map(|v| *v as f32).collect();
    let (mut y, mut z) = (sentinel_filled::<u32>(70), sentinel_filled::<f32>(70));
    squares(&Vector::from_slice(&ints), &mut y)
        .over(70)
        .run_on(device)?;
    squares(&Vector::from_slice(&floats), &mut z)
        .over(70)
        .run_on(device)?;
    let expected: Vec<u32> = ints.iter().map(|v| 3 * v * v).collect();
    expect("of integers", &y, &expected)?;
    let expected: Vec<f32> = expected.iter().map(|v| *v as f32).collect();
    expect("of floats", &z, &expected)
}
