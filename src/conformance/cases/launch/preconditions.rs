//! Facts that make a kernel free of races are checked at each launch.

use crate::conformance::Case;
use crate::conformance::check::{Check, Stop, expect, poisoned, wrong};
use crate::conformance::input::Sample;
use crate::prelude::*;
use crate::{Error, Result};

pub const CASES: &[Case] = &[Case::new("launch/preconditions", &[], run)];

/// Free of races over one dimension only.
#[kernel]
fn one_dimensional(out: &mut [u32]) {
    let i = global_idx_x();
    if i < out.len() {
        out[i] = global_idx_y() as u32;
    }
}

/// Free of races if all threads stand along y.
#[kernel]
fn along_y(out: &mut [u32]) {
    let i = global_idx_y();
    out[i] = 1;
}

fn refused(what: &str, kernel: &str, result: Result<()>) -> Check {
    match result {
        Err(Error::Precondition { kernel: named, .. }) if named == kernel => Ok(()),
        Err(error) => Err(Stop::Error(error)),
        Ok(()) => wrong(format!("{what} was launched although its threads race")),
    }
}

fn run(device: &Device) -> Check {
    let mut out = poisoned(8);
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
