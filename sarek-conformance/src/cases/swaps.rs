//! `swap` of elements: of slices, of local arrays, and of shared ones.

use super::faults::fault_of;
use crate::Case;
use crate::check::{Check, ensure, expect, sentinel_filled};
use sarek::FaultKind;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("swaps/slices", &[], slices),
    Case::new("swaps/structs", &[], structs),
    Case::new("swaps/arrays", &[], arrays),
    Case::new("swaps/shared", &[], shared),
    Case::new("swaps/faults", &[], faults),
];

/// Swaps neighbours, and an element with itself.
#[kernel]
fn slices_kernel(y: &mut [u32]) {
    let i = global_idx_x();
    let first = 2 * i;
    if first + 1 < y.len() {
        y.swap(first, first + 1);
        y.swap(first, first);
    }
}

fn slices(device: &Device) -> Check {
    let data: Vec<u32> = (0..202).map(|n| n * n).collect();
    let mut y = Vector::from_slice(&data);
    slices_kernel(&mut y).over(101).run_on(device)?;
    let expected: Vec<u32> = data.chunks(2).flat_map(|pair| [pair[1], pair[0]]).collect();
    same(&y, &expected)
}

/// Checks that the vector holds exactly these elements.
pub(super) fn same<T: sarek::Element + PartialEq + std::fmt::Debug>(
    got: &Vector<T>,
    expected: &[T],
) -> Check {
    let got = got.to_vec()?;
    ensure(got == expected, || {
        format!("{got:?} instead of {expected:?}")
    })
}

#[derive(Clone, Copy, Debug, PartialEq, KernelType)]
#[repr(C)]
struct Item {
    key: u32,
    at: [f32; 2],
}

#[kernel]
fn structs_kernel(y: &mut [Item]) {
    let i = global_idx_x();
    y.swap(2 * i + 1, 2 * i);
    y[2 * i].key += 1;
}

fn structs(device: &Device) -> Check {
    let item = |key: u32| Item {
        key,
        at: [key as f32, -0.5],
    };
    let data: Vec<Item> = (0..64).map(item).collect();
    let mut y = Vector::from_slice(&data);
    structs_kernel(&mut y).over(32).run_on(device)?;
    let expected = data.chunks(2).flat_map(|pair| {
        let key = pair[1].key + 1;
        [Item { key, ..pair[1] }, pair[0]]
    });
    same(&y, &expected.collect::<Vec<Item>>())
}

/// Sorts a few numbers.
#[device]
fn sort(a: &mut [u32]) {
    for end in (1..a.len()).rev() {
        for k in 0..end {
            if a[k] > a[k + 1] {
                a.swap(k, k + 1);
            }
        }
    }
}

#[kernel]
fn arrays_kernel(x: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let mut own = [0u32; 5];
    for k in 0..5 {
        own[k] = x[5 * i + k];
    }
    sort(&mut own);
    let mut k = 0;
    own.swap(
        {
            k += 3;
            k
        },
        k - 3,
    );
    own.swap(1, 4);
    for k in 0..5 {
        out[5 * i + k] = own[k];
    }
}

fn arrays(device: &Device) -> Check {
    let data: Vec<u32> = (0..500u32)
        .map(|n| n.wrapping_mul(2_654_435_761) >> 7)
        .collect();
    let mut out = sentinel_filled(500);
    arrays_kernel(&Vector::from_slice(&data), &mut out)
        .over(100)
        .run_on(device)?;
    let expected = data.chunks(5).flat_map(|five| {
        let mut five = five.to_vec();
        five.sort_unstable();
        five.swap(3, 0);
        five.swap(1, 4);
        five
    });
    expect("sorted", &out, &expected.collect::<Vec<u32>>())
}

#[kernel(block = 32)]
fn shared_kernel(out: &mut [u32]) {
    let tile = shared_array::<u32, 32>();
    let t = thread_idx_x();
    tile[t] = t as u32;
    barrier();
    if t == 0 {
        for k in 0..16 {
            tile.swap(k, 31 - k);
        }
    }
    barrier();
    out[global_idx_x()] = tile[t];
}

fn shared(device: &Device) -> Check {
    let mut out = sentinel_filled(64);
    shared_kernel(&mut out).grid(2).run_on(device)?;
    let expected: Vec<u32> = (0..64).map(|n| 31 - n % 32).collect();
    expect("reversed", &out, &expected)
}

/// One thread swaps. The fault names the first index that is out of bounds, and nothing is exchanged.
#[kernel]
fn faults_kernel(first: usize, second: usize, y: &mut [u32]) {
    if global_idx_x() == 0 {
        y.swap(first, second);
    }
}

fn faults(device: &Device) -> Check {
    for (first, second, expected) in [(9, 0, 9), (0, 8, 8), (12, 11, 12)] {
        let mut y = Vector::from_slice(&[1u32; 8]);
        let result = faults_kernel(first, second, &mut y).over(1).run_on(device);
        let fault = fault_of(result, &mut y)?;
        let is_expected =
            matches!(&fault.kind, FaultKind::Index { index, .. } if *index == expected);
        ensure(is_expected, || {
            format!("{:?} of {first} and {second}", fault.kind)
        })?;
    }
    Ok(())
}
