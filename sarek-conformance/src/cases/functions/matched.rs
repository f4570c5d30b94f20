//! Results of functions, matched at the call.

use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[Case::new("functions/matched_results", &[], matched)];

/// A position and a count.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct Place {
    x: f32,
    n: u32,
}

#[device]
fn root(x: f32) -> Option<f32> {
    if x >= 2.0 { Some(x * 0.5) } else { None }
}

#[device]
fn read(x: f32) -> core::result::Result<(f32, u32), u8> {
    if x >= 4.0 { Ok((x, x as u32)) } else { Err(7) }
}

#[device]
fn place(x: f32) -> Option<Place> {
    if x < 6.0 {
        Some(Place { x, n: 3 })
    } else {
        None
    }
}

#[device]
fn above<T: Num>(x: T, least: T) -> Option<T> {
    if x > least { Some(x - least) } else { None }
}

#[device]
fn both(x: f32) -> (f32, Option<u32>) {
    (x + 1.0, if x > 3.0 { Some(x as u32) } else { None })
}

#[device]
impl Place {
    fn next(&self) -> Option<Place> {
        if self.n > 0 {
            Some(Place {
                x: self.x + 1.0,
                n: self.n - 1,
            })
        } else {
            None
        }
    }
}

#[device]
fn sum(x: f32) -> f32 {
    let mut sum = 0.0;
    if let Some(v) = root(x) {
        sum += v.max(1.5) - -v;
    }
    sum += match root(x) {
        Some(v) if v > 2.0 => v * 2.0,
        Some(v) => v,
        None => -1.0,
    };
    match read(x) {
        Ok((v, n)) => sum += v.ceil() + n as f32,
        Err(code) => sum += code as f32,
    }
    if let Some(p) = place(x)
        && p.n == 3
    {
        sum += p.x;
    }
    if let Some(v) = root(x) {
        if let Some(w) = root(v) {
            sum += w.abs();
        }
    }
    if let Some(v) = above(x, 2.0) {
        sum += v;
    }
    if let Some(n) = above(x as u32, 1) {
        sum += n.count_ones() as f32;
    }
    let (more, count) = both(x);
    sum += more.floor();
    if let Some(n) = count {
        sum += n as f32;
    }
    let mut p = Place { x, n: 2 };
    while let Some(next) = p.next() {
        p = next;
        sum += p.x;
    }
    let Some(v) = root(x) else {
        return sum;
    };
    sum + v
}

#[kernel]
fn sums(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    if i < y.len() {
        y[i] = sum(x[i]);
        if let Err(code) = read(x[i]) {
            y[i] += code as f32;
        }
        let Some(v) = root(x[i]) else {
            return;
        };
        y[i] += v.min(3.0);
    }
}

fn matched(device: &Device) -> Check {
    let x: Vec<f32> = (0..9).map(|i| (i * i) as f32 * 0.25).collect();
    let expected = |x: &f32| {
        let mut expected = sum(*x);
        if let Err(code) = read(*x) {
            expected += f32::from(code);
        }
        match root(*x) {
            Some(v) => expected + v.min(3.0),
            None => expected,
        }
    };
    let expected: Vec<f32> = x.iter().map(expected).collect();
    let mut y = sentinel_filled::<f32>(x.len());
    sums(&Vector::from_slice(&x), &mut y)
        .over(x.len())
        .run_on(device)?;
    expect("y", &y, &expected)
}
