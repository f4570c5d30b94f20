//! Constants of types that no vector here stores: tuples, `usize` arrays, `Option` and `Result`.

use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("constants/tuples", &[], tuples),
    Case::new("constants/usize_arrays", &[], sizes),
    Case::new("constants/options", &[], options),
];

const WAYS: [(i32, i32); 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];
const SCALE: (f32, u32) = (2.5, 7);
const DEEP: [((u8, [u32; 2]), Part); 2] = [
    ((1, [20, 300]), Part { at: 4, of: [5, 6] }),
    (
        (7, [80, 900]),
        Part {
            at: 10,
            of: [11, 12],
        },
    ),
];

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Part {
    at: u32,
    of: [i16; 2],
}

struct Holder;

impl Holder {
    const PAIRS: [[(u32, bool); 2]; 2] = [[(1, true), (2, false)], [(3, false), (4, true)]];
}

#[device]
fn along(a: i32, way: usize) -> i32 {
    const TURN: [(i32, i32); 2] = [(3, 5), (-7, 11)];
    let (dx, dy) = WAYS[way % 4];
    let turn = TURN[way % 2];
    dx * a - dy * turn.0 + turn.1
}

#[kernel]
fn tuples_kernel(x: &[i32], out: &mut [i32]) {
    const OWN: [(i32, f32); 3] = [(1, 0.5), (2, 1.5), (-3, 4.0)];
    let i = global_idx_x();
    let a = x[i];
    let mut sum = along(a, i);
    for k in 0..4 {
        let (dx, dy) = WAYS[k];
        sum += dx * a - dy * k as i32;
    }
    let scale: (f32, u32) = SCALE;
    sum += (scale.0 * 4.0) as i32 + scale.1 as i32;
    let (own, half) = OWN[i % 3];
    sum += own * (half * 2.0) as i32;
    let ((byte, words), part) = DEEP[i % 2];
    sum += byte as i32 + words[(i + 1) % 2] as i32 + part.at as i32;
    sum += DEEP[(i + 1) % 2].1.of[i % 2] as i32;
    let pair = Holder::PAIRS[i % 2][(i / 2) % 2];
    if pair.1 {
        sum += 1000 * pair.0 as i32;
    }
    out[i] = sum;
}

fn tuples_expected(i: usize, a: i32) -> i32 {
    let (dx, dy) = WAYS[i % 4];
    let turn = [(3, 5), (-7, 11)][i % 2];
    let mut sum = dx * a - dy * turn.0 + turn.1;
    for (k, (dx, dy)) in WAYS.into_iter().enumerate() {
        sum += dx * a - dy * k as i32;
    }
    sum += 10 + 7 + [1, 6, -24][i % 3];
    let ((byte, words), part) = DEEP[i % 2];
    sum += i32::from(byte) + words[(i + 1) % 2] as i32 + part.at as i32;
    sum += i32::from(DEEP[(i + 1) % 2].1.of[i % 2]);
    let (value, is_counted) = Holder::PAIRS[i % 2][(i / 2) % 2];
    sum + if is_counted { 1000 * value as i32 } else { 0 }
}

fn tuples(device: &Device) -> Check {
    let x: Vec<i32> = (0..67).map(|i| i * 13 - 400).collect();
    let expected = x.iter().enumerate().map(|(i, a)| tuples_expected(i, *a));
    let expected: Vec<i32> = expected.collect();
    let mut out = sentinel_filled(expected.len());
    tuples_kernel(&Vector::from_slice(&x), &mut out)
        .over(x.len())
        .run_on(device)?;
    expect("tuples", &out, &expected)
}

const STEPS: [usize; 3] = [1, 2, 1 << 20];
const GRID: [[usize; 2]; 2] = [[5, 0], [3, 7]];
const NAMED: [(usize, f32); 2] = [(2, 0.25), (9, 8.0)];

#[kernel]
fn sizes_kernel(x: &[f32], out: &mut [f32]) {
    const OWN: [usize; 4] = [3, 1, 0, 2];
    let i = global_idx_x();
    let mut sum = x[OWN[i % 4]] + x[GRID[i % 2][(i / 2) % 2]];
    for k in 0..STEPS.len() {
        sum += (i / STEPS[k]) as f32;
    }
    let (at, weight) = NAMED[i % 2];
    out[i] = sum + x[at] * weight + OWN[GRID[1][0]] as f32;
}

fn sizes(device: &Device) -> Check {
    let x: Vec<f32> = (0..70u8).map(|n| f32::from(n) / 2.0).collect();
    let expected = (0..x.len()).map(|i| {
        let (at, weight) = NAMED[i % 2];
        let steps: usize = STEPS.iter().map(|step| i / step).sum();
        let read = x[[3, 1, 0, 2][i % 4]] + x[GRID[i % 2][(i / 2) % 2]];
        read + steps as f32 + x[at] * weight + 2.0
    });
    let expected: Vec<f32> = expected.collect();
    let mut out = sentinel_filled(expected.len());
    sizes_kernel(&Vector::from_slice(&x), &mut out)
        .over(x.len())
        .run_on(device)?;
    expect("sizes", &out, &expected)
}

const MAYBE: [Option<(u32, [u32; 2])>; 3] = [None, Some((1, [2, 3])), Some((40, [50, 60]))];
const TRIED: (Result<i32, u32>, Result<i32, u32>) = (Ok(5), Err(9));
const LIMIT: Option<u32> = Some(70);

#[kernel]
fn options_kernel(out: &mut [u32]) {
    let i = global_idx_x();
    let mut sum = match MAYBE[i % 3] {
        Some((first, rest)) => first + rest[i % 2],
        None => 1000,
    };
    let tried = if i % 2 == 0 { TRIED.0 } else { TRIED.1 };
    sum += match tried {
        Ok(value) => value as u32,
        Err(error) => 100 * error,
    };
    if let Some(limit) = LIMIT {
        sum = sum.min(limit + 1000);
    }
    out[i] = sum;
}

fn options(device: &Device) -> Check {
    let expected = (0..50).map(|i| {
        let first = [1000, 1 + [2, 3][i % 2], 40 + [50, 60][i % 2]][i % 3];
        (first + [5, 900][i % 2]).min(1070)
    });
    let expected: Vec<u32> = expected.collect();
    let mut out = sentinel_filled(expected.len());
    options_kernel(&mut out)
        .over(expected.len())
        .run_on(device)?;
    expect("options", &out, &expected)
}
