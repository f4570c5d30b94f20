//! Each launch checks the facts that its kernel needs to be free of races.

use crate::Case;
use crate::check::{CaseError, Check, ensure, expect, sentinel_filled, wrong};
use crate::input::Sample;
use sarek::prelude::*;
use sarek::{Error, Result};

pub const CASES: &[Case] = &[
    Case::new("launch/preconditions", &[], run),
    Case::new("launch/requires", &[], required),
    Case::new("launch/positive_stride", &[], strided),
];

/// Free of races only if the launch has one dimension.
#[kernel]
fn one_dimensional(out: &mut [u32]) {
    let i = global_idx_x();
    if i < out.len() {
        out[i] = 0;
    }
}

/// Free of races only if all threads lie along y.
#[kernel]
fn along_y(out: &mut [u32]) {
    let i = global_idx_y();
    out[i] = 1;
}

fn refused(what: &str, kernel: &str, result: Result<()>) -> Check {
    match result {
        Err(Error::Precondition { kernel: named, .. }) if named == kernel => Ok(()),
        Err(error) => Err(CaseError::Error(error)),
        Ok(()) => wrong(format!("{what} was launched although its threads race")),
    }
}

fn run(device: &Device) -> Check {
    let mut out = sentinel_filled(8);
    let name = "one_dimensional";
    refused(
        "over((8, 2))",
        name,
        one_dimensional(&mut out).over((8, 2)).run_on(device),
    )?;
    refused(
        "over((8, 1, 3))",
        name,
        one_dimensional(&mut out).over((8, 1, 3)).run_on(device),
    )?;
    let launch = one_dimensional(&mut out).grid((1, 2)).block(8);
    refused("grid((1, 2)).block(8)", name, launch.run_on(device))?;
    let launch = one_dimensional(&mut out).grid(1).block((4, 2));
    refused("block((4, 2))", name, launch.run_on(device))?;
    refused(
        "along_y over((2, 4))",
        "along_y",
        along_y(&mut out).over((2, 4)).run_on(device),
    )?;
    expect("refused launches", &out, &[u32::SENTINEL; 8])?;

    one_dimensional(&mut out).over((8, 1)).run_on(device)?;
    expect("over((8, 1))", &out, &[0; 8])?;
    along_y(&mut out).over((1, 8)).run_on(device)?;
    expect("along_y over((1, 8))", &out, &[1; 8])
}

/// Writes rows of `width` elements, `stride` apart. They are disjoint if `width <= stride`.
#[kernel(requires(width <= stride), requires(out.len() > 0))]
fn rows(width: usize, stride: usize, out: &mut [u32]) {
    let (col, row) = (global_idx_x(), global_idx_y());
    if col < width && row * stride + col < out.len() {
        out[row * stride + col] = (10 * row + col) as u32;
    }
}

/// Adds the second part of a vector to the first. The second part begins at the end of the first, or later.
#[kernel(requires(n <= half && half + n <= x.len()))]
fn fold(n: usize, half: usize, x: &mut [u32]) {
    let i = global_idx_x();
    if i < n {
        x[i] += x[i + half];
    }
}

fn required(device: &Device) -> Check {
    let mut out = sentinel_filled(12);
    let launch = rows(5, 4, &mut out).over((5, 3));
    let result = launch.run_on(device);
    let said = result.as_ref().err().map(Error::to_string);
    ensure(
        said.as_ref()
            .is_some_and(|said| said.contains("width <= stride")),
        || format!("{said:?} does not tell the requirement"),
    )?;
    refused("a stride below the width", "rows", result)?;
    expect("refused launches", &out, &[u32::SENTINEL; 12])?;
    rows(3, 4, &mut out).over((7, 3)).run_on(device)?;
    let nothing = u32::SENTINEL;
    let expected = [0, 1, 2, nothing, 10, 11, 12, nothing, 20, 21, 22, nothing];
    expect("rows", &out, &expected)?;

    let mut x = Vector::from_vec((0..9).collect::<Vec<u32>>());
    for (n, half) in [(4, 3), (4, 6), (usize::MAX, usize::MAX)] {
        let launch = fold(n, half, &mut x).over(4);
        refused(
            "halves that overlap, or end beyond",
            "fold",
            launch.run_on(device),
        )?;
    }
    fold(4, 5, &mut x).over(6).run_on(device)?;
    let expected = [5, 7, 9, 11, 4, 5, 6, 7, 8];
    ensure(x.to_vec()? == expected, || {
        format!("{:?} instead of {expected:?}", x.to_vec())
    })
}

/// Writes a column. All its elements are one if the stride is 0.
#[kernel]
fn column(height: usize, stride: i32, col: usize, out: &mut [u32]) {
    let row = global_idx_x();
    if row < height {
        out[row * stride as usize + col] = row as u32;
    }
}

fn strided(device: &Device) -> Check {
    let mut out = sentinel_filled(8);
    let result = column(3, 0, 1, &mut out).over(4).run_on(device);
    let said = result.as_ref().err().map(Error::to_string);
    ensure(
        said.as_ref()
            .is_some_and(|said| said.contains("only if `stride` is positive")),
        || format!("{said:?} does not tell the precondition"),
    )?;
    refused("a stride of 0", "column", result)?;
    let result = column(3, -2, 6, &mut out).over(4).run_on(device);
    refused("a negative stride", "column", result)?;
    column(3, 3, 1, &mut out).over(4).run_on(device)?;
    let mut expected = [u32::SENTINEL; 8];
    (expected[1], expected[4], expected[7]) = (0, 1, 2);
    expect("a column", &out, &expected)
}
