//! Closures and functions passed to functions.

use crate::Case;
use crate::cases::faults::report::{Place, check_place, fault_of};
use crate::check::{Check, ensure, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("functions/closure_arguments", &[], values),
    Case::new("functions/closure_arguments_of_structs", &[], types),
    Case::new("functions/faults_in_closure_arguments", &[], faults),
];

/// Calls any function of one number.
#[device]
fn apply(f: impl Fn(f32) -> f32, x: f32) -> f32 {
    f(x)
}

#[device]
fn twice<T: Num, F: Fn(T) -> T>(x: T, f: F) -> T {
    f(f(x))
}

/// Finds a root by Newton's method.
#[device]
fn root<F, G>(f: F, slope: &G, start: f32) -> f32
where
    F: Fn(f32) -> f32,
    G: Fn(f32) -> f32,
{
    let mut x = start;
    for _ in 0..8 {
        let at = f(x);
        if at == 0.0 {
            return x;
        }
        x -= at / slope(x);
    }
    x
}

#[device]
fn fold<A, F: Fn(A, usize) -> A>(n: usize, start: A, f: F) -> A
where
    A: Num,
{
    let mut sum = start;
    for k in 0..n {
        sum = f(sum, k);
    }
    sum
}

#[device]
fn each(n: usize, mut f: impl FnMut(usize)) {
    for k in 0..n {
        f(k);
    }
}

#[device]
fn both(x: f32, f: impl Fn(f32) -> f32, g: impl Fn(f32) -> f32) -> f32 {
    // Passes `f` on, by reference and inside another closure.
    apply(&f, apply(|v| g(f(v)), x))
}

#[device]
fn square(x: f32) -> f32 {
    x * x
}

#[kernel]
fn closures(x: &[f32], by: f32, y: &mut [f32], n: &mut [u32]) {
    let i = global_idx_x();
    if i < x.len() {
        let half = 0.5;
        let v = x[i];
        let scaled = apply(|v| v * by + half, v);
        let f = |v| v + 1.0;
        let two = twice(v, f) + twice(v, &f);
        let r = root(|x| x * x - v, &|x| 2.0 * x, 1.0 + v);
        let sum = fold(i, 0.0, |sum, k| sum + x[k]);
        let mut count = 0u32;
        let mut last = 7;
        each(i, |k| {
            if x[k] > v {
                count += 1;
            }
            last = k;
        });
        y[i] = scaled + 10.0 * two + 100.0 * sum + both(v, square, |v| apply(|w| w - v, 3.0)) + r;
        n[i] = count * 1000 + last as u32;
    }
}

fn values(device: &Device) -> Check {
    let count = 100;
    let x: Vec<f32> = (0..count)
        .map(|i| (i * 37 % 16 + 1) as f32 * 0.25)
        .collect();
    let (mut y, mut n) = (sentinel_filled::<f32>(count), sentinel_filled::<u32>(count));
    closures(&Vector::from_slice(&x), 2.0, &mut y, &mut n)
        .over(count)
        .run_on(device)?;
    let found = y.to_vec()?;
    let mut expected_n = vec![];
    for i in 0..count {
        let v = x[i];
        let sum: f32 = x[..i].iter().sum();
        let g = 3.0 - v * v;
        let expected = v * 2.0 + 0.5 + 20.0 * (v + 2.0) + 100.0 * sum + g * g + v.sqrt();
        ensure(
            (found[i] - expected).abs() < 1e-4 * expected.abs().max(1.0),
            || format!("element {i} is {}, not {expected}", found[i]),
        )?;
        let more = x[..i].iter().filter(|u| **u > v).count() as u32;
        let last = if i == 0 { 7 } else { i as u32 - 1 };
        expected_n.push(more * 1000 + last);
    }
    expect("counts", &n, &expected_n)
}

/// A pair of numbers.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Pair {
    a: f32,
    b: u32,
}

#[device]
impl Pair {
    fn map(&self, f: impl Fn(f32) -> f32, g: impl Fn(u32) -> u32) -> Pair {
        Pair {
            a: f(self.a),
            b: g(self.b),
        }
    }

    fn change(&mut self, f: impl FnOnce(Pair) -> Pair) {
        *self = f(*self);
    }
}

#[device]
fn best<T: KernelType + Copy>(n: usize, first: T, better: impl Fn(T, usize) -> Option<T>) -> T {
    let mut found = first;
    for k in 0..n {
        if let Some(next) = better(found, k) {
            found = next;
        }
    }
    found
}

#[kernel]
fn of_types<const SHIFT: u32>(x: &[u32], y: &mut [Pair]) {
    let tile = shared_array::<u32, 64>();
    let t = thread_idx_x();
    let i = global_idx_x();
    tile[t] = x[i] << SHIFT;
    barrier();
    let start = Pair { a: 0.5, b: tile[t] };
    let most: Pair = best(block_dim_x(), start, |p, k| {
        if tile[k] > p.b {
            Some(Pair {
                b: tile[k],
                a: p.a + 1.0,
            })
        } else {
            None
        }
    });
    let mut own: Pair = most.map(|a| a * 2.0, |b| b + SHIFT);
    own.change(|p| Pair { a: -p.a, ..p });
    y[i] = own;
}

fn types(device: &Device) -> Check {
    let n = 128;
    let x: Vec<u32> = (0..n).map(|i| i * 29 % 97).collect();
    let mut y = Vector::filled(n as usize, Pair { a: 0.0, b: 0 });
    of_types::<3>(&Vector::from_slice(&x), &mut y)
        .grid(2)
        .block(64)
        .run_on(device)?;
    for (i, found) in y.to_vec()?.into_iter().enumerate() {
        let (mut a, mut b) = (0.5, x[i] << 3);
        for v in &x[i / 64 * 64..][..64] {
            if v << 3 > b {
                (a, b) = (a + 1.0, v << 3);
            }
        }
        ensure((found.a, found.b) == (-2.0 * a, b + 3), || {
            format!("element {i} is {:?}", (found.a, found.b))
        })?;
    }
    Ok(())
}

#[device]
fn sum_of(n: usize, f: impl Fn(usize) -> u32) -> u32 {
    let mut sum = 0;
    for k in 0..n {
        sum += f(k);
    }
    sum
}

const LINE: u32 = line!() + 6;
#[kernel]
fn past(x: &[u32], n: usize, y: &mut [u32]) {
    let i = global_idx_x();
    if i < y.len() {
        let by = x[0];
        y[i] = sum_of(n, |k| x[i + k] / by);
    }
}

fn faults(device: &Device) -> Check {
    let (x, mut y) = (Vector::from_vec(vec![2u32; 20]), sentinel_filled::<u32>(10));
    past(&x, 11, &mut y).over(10).run_on(device)?;
    expect("sums", &y, &[11; 10])?;
    let result = past(&x, 12, &mut y).over(10).run_on(device);
    let fault = fault_of(result, &mut y)?;
    let (kernel, file) = ("past", "src/cases/functions/callable_arguments.rs");
    let line = LINE;
    check_place(&fault, &Place { kernel, file, line })
}
