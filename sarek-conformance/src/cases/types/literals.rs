//! Literals of generic types whose arguments follow only from the fields.

use super::{COUNTS, same};
use crate::Case;
use crate::check::Check;
use crate::input::Random;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("types/literals/structs", &[], structs),
    Case::new("types/literals/rests", &[], rests),
    Case::new("types/literals/enums", &[], enums),
];

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Complex<T> {
    re: T,
    im: T,
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C, u32)]
enum Reading<T> {
    Missing,
    Exact(T),
    Between { low: T, high: T, steps: u32 },
}

/// Literals with floats, integers and complex numbers as fields; one that uses a field of another; one that takes its rest
/// (`..z`) from another; and an array of literals.
#[kernel]
fn assemble(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    if i < out.len() && i < x.len() {
        let mut z = Complex { re: 0.5, im: 1.0 };
        z = Complex { re: x[i], im: z.re };
        z = Complex {
            im: z.im + 0.5,
            ..z
        };
        let whole = Complex {
            re: 2,
            im: i as u32,
        };
        let nested = Complex {
            re: Complex { re: z.im, im: 0.25 },
            im: z,
        };
        let many = [nested.im, nested.re, Complex { re: 1.0, im: x[i] }];
        let mut sum = 0.0;
        for k in 0..3 {
            sum += many[k].re * many[k].im;
        }
        out[i] = sum + (whole.re * whole.im) as f32;
    }
}

fn structs(device: &Device) -> Check {
    for n in COUNTS {
        let x = eighths(n);
        let mut out = Vector::zeros(n);
        assemble(&Vector::from_slice(&x), &mut out)
            .over(n)
            .run_on(device)?;
        let each = x.iter().enumerate();
        let expected: Vec<f32> = each.map(|(i, x)| x + 0.25 + x + (2 * i) as f32).collect();
        same("sums", &out, &expected)?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Wave<T, const N: usize> {
    at: Complex<T>,
    steps: [u32; N],
}

#[device]
fn turned<T: Float>(wave: Wave<T, 2>, by: T) -> Wave<T, 2> {
    Wave {
        at: Complex { re: by, ..wave.at },
        ..wave
    }
}

/// The rest of a literal is a field, an element or a function's result, whose type only rustc knows.
#[kernel]
fn renew(waves: &[Wave<f32, 2>], out: &mut [f32]) {
    let i = global_idx_x();
    if i < out.len() && i < waves.len() {
        let first = turned(waves[i], 2.0);
        let second = Wave {
            steps: [1, 2],
            ..turned(first, 3.0)
        };
        let third = Complex {
            im: 0.5,
            ..second.at
        };
        let fourth = Complex {
            re: 4.0,
            ..waves[i].at
        };
        let steps = first.steps[0] * 100 + second.steps[1];
        out[i] =
            first.at.re + second.at.re * third.re + third.im + fourth.re * fourth.im + steps as f32;
    }
}

fn rests(device: &Device) -> Check {
    for n in COUNTS {
        let x = eighths(n);
        let of = |(i, x): (usize, &f32)| Wave {
            at: Complex { re: -1.0, im: *x },
            steps: [i as u32, 7],
        };
        let waves: Vec<Wave<f32, 2>> = x.iter().enumerate().map(of).collect();
        let mut out = Vector::zeros(n);
        renew(&Vector::from_slice(&waves), &mut out)
            .over(n)
            .run_on(device)?;
        let each = x.iter().enumerate();
        let expected: Vec<f32> = each
            .map(|(i, x)| 2.0 + 9.0 + 0.5 + 4.0 * x + (i as u32 * 100 + 2) as f32)
            .collect();
        same("sums", &out, &expected)?;
    }
    Ok(())
}

#[kernel]
fn read(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    if i < out.len() && i < x.len() {
        let mut reading = Reading::Between {
            low: x[i],
            high: x[i] + 4.0,
            steps: 3,
        };
        if i % 3 == 0 {
            reading = Reading::Exact(x[i]);
        }
        if i % 7 == 1 {
            reading = Reading::Missing;
        }
        out[i] = match reading {
            Reading::Missing => -1.0,
            Reading::Exact(value) => value,
            Reading::Between { low, high, steps } => (high - low) * steps as f32 + low,
        };
    }
}

fn enums(device: &Device) -> Check {
    for n in COUNTS {
        let x = eighths(n);
        let mut out = Vector::zeros(n);
        read(&Vector::from_slice(&x), &mut out)
            .over(n)
            .run_on(device)?;
        let each = x.iter().enumerate();
        let expected: Vec<f32> = each
            .map(|(i, x)| match (i % 7, i % 3) {
                (1, _) => -1.0,
                (_, 0) => *x,
                _ => (x + 4.0 - x) * 3.0 + x,
            })
            .collect();
        same("readings", &out, &expected)?;
    }
    Ok(())
}

/// Multiples of 1/8, for which all of this is exact.
fn eighths(n: usize) -> Vec<f32> {
    let mut random = Random::new(n as u64);
    let mut next = || (random.below(2000) as f32 - 1000.0) / 8.0;
    (0..n).map(|_| next()).collect()
}
