use super::{COUNTS, same};
use crate::Case;
use crate::check::Check;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("types/patterns/numbers", &[], numbers),
    Case::new("types/patterns/pairs", &[], pairs),
    Case::new("types/patterns/guards", &[], guards),
];

const LIMIT: i32 = 40;

// The arms overlap: the first that matches is taken.
#[kernel]
#[allow(clippy::match_overlapping_arm)]
fn classify(x: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    if i < x.len() && i < out.len() {
        const TWELVE: i32 = 12;
        out[i] = match x[i] {
            i32::MIN..=-20 => 1,
            -7 => 2,
            ..0 => 3,
            0 | 2 | 4 => 4,
            TWELVE => 5,
            n @ (1 | 3 | 5..=9) => 100 + n,
            self::LIMIT.. => 6,
            n => n * 1000,
        };
    }
}

#[allow(clippy::match_overlapping_arm)]
fn numbers(device: &Device) -> Check {
    for n in COUNTS {
        let x: Vec<i32> = (0..n as i32).map(|i| i - 30).collect();
        let mut out = Vector::zeros(n);
        classify(&Vector::from_slice(&x), &mut out)
            .over(n)
            .run_on(device)?;
        let class = |x: &i32| match *x {
            ..=-20 => 1,
            -7 => 2,
            ..0 => 3,
            0 | 2 | 4 => 4,
            12 => 5,
            n @ (1 | 3 | 5..=9) => 100 + n,
            LIMIT.. => 6,
            n => n * 1000,
        };
        let expected: Vec<i32> = x.iter().map(class).collect();
        same("classes", &out, &expected)?;
    }
    Ok(())
}

#[kernel]
fn fizz(out: &mut [u32]) {
    let i = global_idx_x();
    if i < out.len() {
        let n = i as u32;
        out[i] = match (n % 3, n % 5, n > 50) {
            (0, 0, big) => {
                if big {
                    15
                } else {
                    16
                }
            }
            (0, ..) => 3,
            (.., true) => 7,
            (_, 0, _) => 5,
            (a, b, false) => a * 10 + b,
        };
    }
}

fn pairs(device: &Device) -> Check {
    for n in COUNTS {
        let mut out = Vector::zeros(n);
        fizz(&mut out).over(n).run_on(device)?;
        let value = |n: u32| match (n % 3, n % 5, n > 50) {
            (0, 0, big) => 16 - u32::from(big),
            (0, ..) => 3,
            (.., true) => 7,
            (_, 0, _) => 5,
            (a, b, false) => a * 10 + b,
        };
        let expected: Vec<u32> = (0..n as u32).map(value).collect();
        same("out", &out, &expected)?;
    }
    Ok(())
}

#[kernel]
fn guarded(x: &[u32], y: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    if i < x.len() && i < y.len() && i < out.len() {
        out[i] = match (x[i], y[i]) {
            (a, b)
                if a > 3 && {
                    let c = a * b;
                    c % 7 == 2
                } =>
            {
                a
            }
            (n, 1) | (1, n) if n > 5 => n,
            (a, _) if a == 2 => a + 20,
            (_, b) => b + 100,
        };
    }
}

fn guards(device: &Device) -> Check {
    for n in COUNTS {
        let x: Vec<u32> = (0..n as u32).map(|i| i % 11).collect();
        let y: Vec<u32> = (0..n as u32).map(|i| i % 7).collect();
        let mut out = Vector::zeros(n);
        guarded(&Vector::from_slice(&x), &Vector::from_slice(&y), &mut out)
            .over(n)
            .run_on(device)?;
        let value = |(a, b): (&u32, &u32)| match (*a, *b) {
            (a, b) if a > 3 && (a * b) % 7 == 2 => a,
            (n, 1) | (1, n) if n > 5 => n,
            (2, _) => 22,
            (_, b) => b + 100,
        };
        let expected: Vec<u32> = x.iter().zip(&y).map(value).collect();
        same("out", &out, &expected)?;
    }
    Ok(())
}
