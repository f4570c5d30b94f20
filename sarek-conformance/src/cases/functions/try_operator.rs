//! `?` in functions: a value is passed on, and `None` or an error is returned at once.

use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("functions/try_operator/option", &[], option),
    Case::new("functions/try_operator/result", &[], result),
    Case::new("functions/try_operator/method", &[], method),
];

#[device]
fn odd(n: u32) -> Option<u32> {
    if n % 2 == 1 { Some(n / 2) } else { None }
}

/// Uses `?` in an operand, after effects, in a loop, and at the end.
#[device]
fn steps(n: u32, trace: &mut u32) -> Option<(u32, u32)> {
    *trace = 1;
    let first: u32 = odd(n)?;
    *trace = 2;
    let sum = n * 100 + odd(first)? * 10 + n.checked_sub(6)?;
    let mut count = 0;
    for k in 0..first {
        *trace += 10;
        count += k.checked_mul(n)?;
        7u32.checked_sub(k)?;
    }
    Some((sum, odd(count + 1)?))
}

#[kernel]
fn option_kernel(out: &mut [u32]) {
    let i = global_idx_x();
    let mut trace = 0;
    let found = steps(i as u32, &mut trace);
    out[3 * i + 2] = trace;
    match found {
        Some((sum, count)) => {
            out[3 * i] = sum;
            out[3 * i + 1] = count;
        }
        None => {
            out[3 * i] = 5;
            out[3 * i + 1] = 6;
        }
    }
}

fn option(device: &Device) -> Check {
    let expected = (0..64).flat_map(|n| {
        let mut trace = 0;
        let (sum, count) = steps(n, &mut trace).unwrap_or((5, 6));
        [sum, count, trace]
    });
    let expected: Vec<u32> = expected.collect();
    assert!((0..64).any(|n| steps(n, &mut 0).is_some()));
    let mut out = sentinel_filled(3 * 64);
    option_kernel(&mut out).over(64).run_on(device)?;
    expect("what `?` leaves", &out, &expected)
}

/// The reason why a number is rejected.
#[derive(Clone, Copy, KernelType)]
#[repr(C, u32)]
enum Wrong {
    Small(u32),
    Even { by: f32 },
}

#[device]
fn tested(n: u32) -> Result<u32, Wrong> {
    if n < 5 {
        return Err(Wrong::Small(5 - n));
    }
    if n % 2 == 0 {
        return Err(Wrong::Even { by: n as f32 / 2.0 });
    }
    Ok(n)
}

#[device]
fn both<const FIRST: bool>(a: u32, b: u32) -> Result<f32, Wrong> {
    if FIRST {
        return Ok(tested(a)? as f32);
    }
    Ok(tested(a)? as f32 * 64.0 + tested(b)? as f32)
}

#[device]
fn told(a: u32, b: u32) -> f32 {
    match both::<false>(a, b) {
        Ok(sum) => sum,
        Err(Wrong::Small(by)) => 0.0 - by as f32,
        Err(Wrong::Even { by }) => by + 0.25,
    }
}

#[kernel]
fn result_kernel(out: &mut [f32]) {
    let i = global_idx_x();
    let (a, b) = (i as u32 / 12, i as u32 % 12);
    out[2 * i] = told(a, b);
    out[2 * i + 1] = match both::<true>(a, b) {
        Ok(first) => first,
        Err(_) => -1.0,
    };
}

fn result(device: &Device) -> Check {
    let pairs = (0..144).flat_map(|n| {
        let (a, b) = (n / 12, n % 12);
        [told(a, b), both::<true>(a, b).unwrap_or(-1.0)]
    });
    let expected: Vec<f32> = pairs.collect();
    let mut out = sentinel_filled(2 * 144);
    result_kernel(&mut out).over(144).run_on(device)?;
    expect("what `?` leaves of a result", &out, &expected)
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Range {
    from: u32,
    to: u32,
}

#[device]
impl Range {
    fn at(self, n: u32) -> Option<u32> {
        let from: u32 = self.from;
        let at = from.checked_add(n)?;
        if at < self.to { Some(at) } else { None }
    }

    fn ends<T: Num>(self, n: u32, of: T) -> Option<(T, u32)> {
        let first = self.at(n)?;
        Some((of + of, first + self.at(n + 1)?))
    }
}

#[kernel]
fn method_kernel(ranges: &[Range], out: &mut [u32]) {
    let i = global_idx_x();
    out[i] = match ranges[i].ends(i as u32, 2i32) {
        Some((twice, ends)) => ends + twice as u32,
        None => 9,
    };
}

fn method(device: &Device) -> Check {
    let ranges: Vec<Range> = (0..40)
        .map(|from| Range {
            from: if from == 39 { u32::MAX - 3 } else { from },
            to: 50,
        })
        .collect();
    let expected = ranges.iter().zip(0..).map(|(range, n)| {
        let ends = range.ends(n, 2i32);
        ends.map_or(9, |(twice, ends)| ends + twice as u32)
    });
    let expected: Vec<u32> = expected.collect();
    let mut out = sentinel_filled(40);
    method_kernel(&Vector::from_slice(&ranges), &mut out)
        .over(40)
        .run_on(device)?;
    expect("what methods leave", &out, &expected)
}
