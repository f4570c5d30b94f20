//! Functions of the standard library by full path, destructuring assignments of structs, and vectors from arrays.

use super::swaps::same;
use crate::Case;
use crate::check::{Check, Expected, binary};
use crate::input::pairs;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("std_functions/min_max", &[], min_max),
    Case::new("std_functions/swap", &[], swap),
    Case::new("assigned_structs", &[], assigned_structs),
    Case::new("vectors_from_arrays", &[], vectors_from_arrays),
];

#[kernel]
fn min_max_kernel(a: &[i32], b: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    out[4 * i] = std::cmp::min(a[i], b[i]);
    out[4 * i + 1] = core::cmp::max(a[i], b[i]);
    out[4 * i + 2] = ::std::cmp::min(7, a[i]);
    out[4 * i + 3] = std::cmp::max(a[i], std::cmp::min(b[i], 3));
}

fn min_max(device: &Device) -> Check {
    binary(
        ["min", "max", "of 7", "of both"],
        &pairs::<i32, i32>(81, 200),
        |a, b, out, n| min_max_kernel(a, b, out).over(n).run_on(device),
        |a, b| [a.min(b), a.max(b), a.min(7), a.max(b.min(3))].map(Expected::Exactly),
    )
}

#[derive(Clone, Copy, Debug, PartialEq, KernelType)]
#[repr(C)]
struct Item {
    key: u32,
    at: [f32; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, KernelType)]
#[repr(C)]
struct Pair(u32, u32);

#[device]
fn sorted(a: &mut u32, b: &mut u32) {
    if *a > *b {
        std::mem::swap(a, b);
    }
}

#[kernel]
fn swap_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let (mut a, mut b) = (x[2 * i], x[2 * i + 1]);
    sorted(&mut a, &mut b);
    y[7 * i] = a;
    y[7 * i + 1] = b;
    let mut pair = Pair(a, b);
    core::mem::swap(&mut pair.0, &mut pair.1);
    y[7 * i + 2] = pair.0;
    let mut first = [a, b];
    let mut second = [b, 5];
    std::mem::swap(&mut first, &mut second);
    y[7 * i + 3] = 1000 * first[1] + second[1];
    y[7 * i + 4] = std::mem::replace(&mut a, b + 1) + a;
    y[7 * i + 5] = pair.1;
    let old = std::mem::replace(&mut pair.0, 8);
    y[7 * i + 6] = old + pair.0;
}

fn swap(device: &Device) -> Check {
    let x: Vec<u32> = (0..100u32).map(|n| n * 37 % 101).collect();
    let expected = x.chunks(2).flat_map(|pair| {
        let (a, b) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
        [a, b, b, 5000 + b, a + b + 1, a, b + 8]
    });
    let expected: Vec<u32> = expected.collect();
    let mut y = Vector::filled(expected.len(), 0);
    swap_kernel(&Vector::from_slice(&x), &mut y)
        .over(50)
        .run_on(device)?;
    same(&y, &expected)
}

/// The right side is complete before anything is assigned, even if it reads the assigned variables.
#[kernel]
fn assigned_kernel(x: &[Item], y: &mut [f32], z: &mut [u32]) {
    let i = global_idx_x();
    let (mut key, mut at) = (1, [0.0; 2]);
    if x[i].key % 3 > 0 {
        Item { key, at } = x[i];
    }
    let (mut low, mut high) = (key, key + 1);
    Pair(low, high) = Pair(high, low);
    let mut sum = 0.5;
    (
        Item {
            key: z[2 * i],
            at: [y[i], _],
        },
        (_, sum),
    ) = (Item { key: low, at }, (high, sum + at[1]));
    Item { at, .. } = Item {
        key,
        at: [sum, sum],
    };
    z[2 * i + 1] = high;
    y[i] += at[1];
}

fn assigned_structs(device: &Device) -> Check {
    let item = |key: u32| Item {
        key,
        at: [key as f32 * 2.0, 0.25],
    };
    let data: Vec<Item> = (0..64).map(item).collect();
    let taken = |item: &Item| match item.key % 3 {
        0 => (1, [0.0; 2]),
        _ => (item.key, item.at),
    };
    let floats: Vec<f32> = data
        .iter()
        .map(|item| taken(item).1.iter().sum::<f32>() + 0.5)
        .collect();
    let keys: Vec<u32> = data
        .iter()
        .flat_map(|item| [taken(item).0 + 1, taken(item).0])
        .collect();
    let (mut y, mut z) = (Vector::filled(64, 0.0), Vector::filled(128, 0));
    assigned_kernel(&Vector::from_slice(&data), &mut y, &mut z)
        .over(64)
        .run_on(device)?;
    same(&y, &floats)?;
    same(&z, &keys)
}

#[kernel]
fn from_kernel(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let v = f32x4::from([x[i], x[i] + 1.0, 2.0, 3.0]);
    let parts = [x[i], 0.5, v.y];
    let w = f32x3::from(parts);
    y[i] = v.dot(f32x4::new(1.0, 2.0, 4.0, 8.0)) + 64.0 * w.z + 0.5 * w.y;
}

fn vectors_from_arrays(device: &Device) -> Check {
    let x: Vec<f32> = (0..32).map(|n| n as f32).collect();
    let expected: Vec<f32> = x
        .iter()
        .map(|x| 3.0 * x + 34.0 + 64.0 * (x + 1.0) + 0.25)
        .collect();
    let mut y = Vector::filled(32, 0.0);
    from_kernel(&Vector::from_slice(&x), &mut y)
        .over(32)
        .run_on(device)?;
    same(&y, &expected)
}
