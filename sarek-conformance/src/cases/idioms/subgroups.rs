//! One thread of each subgroup stores its result. The proof relies on the size of the device's subgroups, which each launch
//! checks.

use super::{in_place, random};
use crate::check::{CaseError, Check, ensure, wrong};
use crate::{Capability, Case};
use sarek::Error;
use sarek::prelude::*;

const NEEDS: &[Capability] = &[Capability::Subgroups];

pub const CASES: &[Case] = &[
    Case::new("idioms/sums_of_subgroups", NEEDS, sums),
    Case::new("idioms/sums_of_any_subgroups", NEEDS, any_sums),
    Case::new("idioms/sums_of_subgroups_by_a_constant", NEEDS, named_sums),
    Case::new("idioms/partial_sums_of_subgroups", NEEDS, partial),
    Case::new(
        "idioms/rows_of_subgroups",
        &[Capability::Subgroups, Capability::ShapedSubgroups],
        rows,
    ),
];

/// Checks a launch whose kernel needs subgroups of 32 threads. False if the device has others; then it was refused for that
/// reason.
fn has_32(device: &Device, run: impl FnOnce() -> sarek::Result<()>) -> Result<bool, CaseError> {
    if !device.info().features.subgroups {
        return Ok(run().map(|()| false)?);
    }
    match (run(), device.info().subgroup) {
        (result, 32) => result.map(|()| true).map_err(Into::into),
        (Err(Error::NotEligible { reasons, .. }), size) => {
            let is_named = |reason: &String| {
                reason.contains("subgroups have 32 threads, but")
                    && reason.contains(&size.to_string())
            };
            ensure(reasons.iter().any(is_named), || format!("{reasons:?}"))?;
            Ok(false)
        }
        (other, size) => wrong(format!("subgroups of {size}: {other:?}")),
    }
}

fn sums_of(x: &[u32], size: usize) -> impl Iterator<Item = u32> + '_ {
    x.chunks(size).map(|part| part.iter().sum())
}

#[kernel]
fn sums_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let sum = subgroup_sum(if i < x.len() { x[i] } else { 0 });
    if subgroup_lane() == 0 {
        y[i / 32] = sum;
    }
}

fn sums(device: &Device) -> Check {
    for n in [1, 31, 32, 100, 192] {
        let values = random(11, n);
        let x = Vector::from_slice(&values);
        let mut y = Vector::zeros(6);
        if !has_32(device, || {
            sums_kernel(&x, &mut y).grid(3).block(64).run_on(device)
        })? {
            return Ok(());
        }
        let all: Vec<u32> = sums_of(&values, 32).chain([0; 6]).take(6).collect();
        ensure(y.to_vec()? == all, || format!("{n}: {all:?}"))?;
    }
    let (x, mut y) = (Vector::from_vec(vec![1; 20]), Vector::zeros(1));
    sums_kernel(&x, &mut y).over(20).run_on(device)?;
    ensure(y.to_vec()? == [20], || "20 threads".into())?;
    // The second block would begin within a subgroup of the launch.
    let mut y = Vector::zeros(4);
    let error = sums_kernel(&x, &mut y).grid(2).block(48).run_on(device);
    let is_refused = matches!(&error, Err(Error::Precondition { requirement, .. })
        if requirement.contains("blocks have 48 threads along x, and subgroups have 32"));
    ensure(is_refused, || format!("blocks of 48: {error:?}"))?;
    let explained = sums_kernel(&x, &mut y).over(20).explain();
    ensure(explained.contains("subgroups have 32 threads"), || {
        explained
    })
}

#[kernel]
fn any_sums_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let sum = subgroup_sum(x[i]);
    if subgroup_lane() == subgroup_size() - 1 {
        y[i / subgroup_size()] = sum;
    }
}

fn any_sums(device: &Device) -> Check {
    let size = device.info().subgroup as usize;
    let n = 6 * size.max(1);
    let (values, mut y) = (random(12, n), Vector::zeros(6));
    let x = Vector::from_slice(&values);
    let run = any_sums_kernel(&x, &mut y)
        .grid(3)
        .block(n / 3)
        .run_on(device);
    if size == 0 && device.info().features.subgroups {
        return ensure(matches!(run, Err(Error::NotEligible { .. })), || {
            format!("{run:?}")
        });
    }
    run?;
    let all: Vec<u32> = sums_of(&values, size).collect();
    ensure(y.to_vec()? == all, || format!("{all:?}"))
}

/// The threads of a subgroup.
const WARP: usize = 32;

#[kernel]
fn named_sums_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let sum = subgroup_sum(x[i]);
    if subgroup_lane() == 0 {
        y[i / WARP] = sum;
    }
}

fn named_sums(device: &Device) -> Check {
    let (values, mut y) = (random(13, 192), Vector::zeros(6));
    let x = Vector::from_slice(&values);
    let run = || {
        named_sums_kernel(&x, &mut y)
            .grid(3)
            .block(64)
            .run_on(device)
    };
    if has_32(device, run)? {
        let all: Vec<u32> = sums_of(&values, 32).collect();
        ensure(y.to_vec()? == all, || format!("{all:?}"))?;
    }
    Ok(())
}

/// The first subgroup of a block adds the sums of all.
#[kernel(block = 128)]
fn partial_kernel(x: &[u32], y: &mut [u32]) {
    let partial = shared_array::<u32, 4>();
    let t = thread_idx_x();
    let (subgroup, lane) = (t / 32, subgroup_lane());
    let sum = subgroup_sum(x[global_idx_x()]);
    if lane == 0 {
        partial[subgroup] = sum;
    }
    barrier();
    if subgroup == 0 {
        let all = subgroup_sum(if lane < 4 { partial[lane] } else { 0 });
        if lane == 0 {
            y[block_idx_x()] = all;
        }
    }
}

fn partial(device: &Device) -> Check {
    let (values, mut y) = (random(14, 384), Vector::zeros(3));
    let x = Vector::from_slice(&values);
    if has_32(device, || {
        partial_kernel(&x, &mut y).cover(384).run_on(device)
    })? {
        let all: Vec<u32> = sums_of(&values, 128).collect();
        ensure(y.to_vec()? == all, || format!("{all:?}"))?;
    }
    Ok(())
}

/// Each row of a block is a subgroup.
#[kernel(block = (32, 4))]
fn rows_kernel(w: usize, h: usize, y: &mut [u32]) {
    let first = shared_array::<u32, 4>();
    let (c, r) = (global_idx_x(), global_idx_y());
    if subgroup_lane() == 0 {
        first[thread_idx_y()] = if c < w && r < h { y[r * w + c] } else { 0 };
    }
    barrier();
    if c < w && r < h {
        y[r * w + c] += first[thread_idx_y()];
    }
}

fn rows(device: &Device) -> Check {
    if device.info().subgroup != 32 {
        let mut y = Vector::zeros(1);
        return has_32(device, || {
            rows_kernel(1, 1, &mut y).cover((1, 1)).run_on(device)
        })
        .map(|_| ());
    }
    for (w, h) in [(1, 1), (20, 3), (32, 4), (70, 9)] {
        let run = |y: &mut Vector<u32>| rows_kernel(w, h, y).cover((w, h)).run_on(device);
        in_place("rows", w * h, run, |y| {
            for row in y.chunks_mut(w) {
                let old = row.to_vec();
                for (c, value) in row.iter_mut().enumerate() {
                    *value += old[c / 32 * 32];
                }
            }
        })?;
    }
    Ok(())
}
