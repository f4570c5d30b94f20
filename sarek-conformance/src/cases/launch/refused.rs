//! Launches that no device can run: they are typed errors, and change nothing.

use crate::Case;
use crate::check::{CaseError, Check, expect, sentinel_filled, wrong};
use sarek::prelude::*;
use sarek::{Error, Result};

pub const CASES: &[Case] = &[Case::new("launch/refused", &[], run)];

#[kernel]
fn mark(out: &mut [u32]) {
    let i = global_idx_x();
    if i < out.len() {
        out[i] = 1;
    }
}

#[kernel(block = 64)]
fn mark_64(out: &mut [u32]) {
    let i = global_idx_x();
    if i < out.len() {
        out[i] = 2;
    }
}

fn refused(what: &str, result: Result<()>) -> Check {
    match result {
        Err(Error::Launch { .. }) => Ok(()),
        Err(error) => Err(CaseError::Error(error)),
        Ok(()) => wrong(format!("{what} was launched")),
    }
}

fn run(device: &Device) -> Check {
    let mut out = sentinel_filled(4);
    out.fill(0)?;
    let too_many = device.info().max_block_threads as usize + 1;
    refused(
        "too large a block",
        mark(&mut out).grid(1).block(too_many).run_on(device),
    )?;
    refused(
        "an empty block",
        mark(&mut out).grid(1).block(0).run_on(device),
    )?;
    let all: Vec<u32> = out.to_vec()?;
    if all.iter().any(|&x| x != 0) {
        return wrong("a refused launch wrote");
    }
    let mut out = sentinel_filled(4);
    mark_64(&mut out).grid(0).run_on(device)?;
    mark(&mut out).over(4).run_on(device)?;
    expect("afterwards", &out, &[1; 4])
}
