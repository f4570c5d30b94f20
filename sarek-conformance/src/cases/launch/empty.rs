//! Empty index spaces and empty vectors.

use crate::Case;
use crate::check::{Check, ensure, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("launch/empty_space", &[], space),
    Case::new("launch/empty_vector", &[], vector),
];

#[kernel]
fn bump(by: u32, v: &mut [u32]) {
    let i = global_idx_x();
    v[i] += by;
}

fn space(device: &Device) -> Check {
    let mut v = sentinel_filled(3);
    v.set(0, 10)?;
    v.set(1, 20)?;
    v.set(2, 30)?;
    bump(1, &mut v).over(0).run_on(device)?;
    bump(1, &mut v).cover(0).run_on(device)?;
    bump(1, &mut v).grid(0).block(32).run_on(device)?;
    bump(1, &mut v).over((0, 1)).run_on(device)?;
    bump(1, &mut v).over((0, 5, 7)).run_on(device)?;
    expect("untouched", &v, &[10, 20, 30])?;
    bump(1, &mut v).over(3).run_on(device)?;
    expect("afterwards", &v, &[11, 21, 31])
}

#[kernel]
fn lengths(a: &[f32], b: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    out[i] = a.len() as u32 * 100 + b.len() as u32;
}

fn vector(device: &Device) -> Check {
    let empty = Vector::<f32>::from_vec(vec![]);
    let three = Vector::from_vec(vec![1u32, 2, 3]);
    let mut out = sentinel_filled(2);
    lengths(&empty, &three, &mut out).over(2).run_on(device)?;
    expect("lengths", &out, &[3, 3])?;

    let mut nothing = Vector::<u32>::zeros(0);
    bump(1, &mut nothing).over(0).run_on(device)?;
    ensure(nothing.to_vec()?.is_empty(), || {
        "an empty vector came back longer".into()
    })
}
