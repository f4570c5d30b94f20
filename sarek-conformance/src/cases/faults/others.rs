//! `clamp` with bounds out of order, a step of zero, and overflow in debug builds.

use super::index::still_works;
use super::report::{Place, check_place, fault_of};
use crate::Case;
use crate::check::{Check, ensure, expect, reports_overflow, sentinel_filled};
use sarek::FaultKind;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("faults/clamp", &[], clamp),
    Case::new("faults/clamp_float", &[], clamp_float),
    Case::new("faults/step_by_zero", &[], step_by_zero),
    Case::new("faults/overflow", &[], overflow),
];

const FILE: &str = "src/cases/faults/others.rs";

const CLAMP: u32 = line!() + 4;
#[kernel]
fn clamp_kernel(lo: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    out[i] = 5i32.clamp(lo[i], 10);
}

fn clamp(device: &Device) -> Check {
    let lo: Vec<i32> = (0..40).map(|k| if k == 21 { 11 } else { 8 }).collect();
    let mut out = sentinel_filled(40);
    let result = clamp_kernel(&Vector::from_vec(lo), &mut out)
        .over(40)
        .run_on(device);
    let fault = fault_of(result, &mut out)?;
    check_place(
        &fault,
        &Place {
            kernel: "clamp_kernel",
            file: FILE,
            line: CLAMP,
        },
    )?;
    ensure(matches!(fault.kind, FaultKind::Assert(_)), || {
        format!("{:?}", fault.kind)
    })?;
    ensure(fault.thread == [21, 0, 0], || {
        format!("thread {:?}", fault.thread)
    })?;
    still_works(device)
}

const CLAMP_FLOAT: u32 = line!() + 4;
#[kernel]
fn clamp_float_kernel(x: f32, hi: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = x.clamp(1.0, hi[i]);
}

/// A bound that is NaN counts as out of order.
fn clamp_float(device: &Device) -> Check {
    for bad in [0.5, f32::NAN] {
        let mut out = sentinel_filled(10);
        let hi = Vector::from_vec((0..10).map(|k| if k == 3 { bad } else { 2.0 }).collect());
        let result = clamp_float_kernel(9.0, &hi, &mut out)
            .over(10)
            .run_on(device);
        let fault = fault_of(result, &mut out)?;
        check_place(
            &fault,
            &Place {
                kernel: "clamp_float_kernel",
                file: FILE,
                line: CLAMP_FLOAT,
            },
        )?;
        ensure(matches!(fault.kind, FaultKind::Assert(_)), || {
            format!("{:?}", fault.kind)
        })?;
    }
    still_works(device)
}

const STEP: u32 = line!() + 5;
#[kernel]
fn step_kernel(step: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let mut count = 0;
    for _ in (0..10u32).step_by(step[i] as usize) {
        count += 1;
    }
    out[i] = count;
}

fn step_by_zero(device: &Device) -> Check {
    let mut out = sentinel_filled(3);
    step_kernel(&Vector::from_vec(vec![1, 3, 20]), &mut out)
        .over(3)
        .run_on(device)?;
    expect("good steps", &out, &[10, 4, 1])?;
    let mut out = sentinel_filled(3);
    let result = step_kernel(&Vector::from_vec(vec![1, 0, 20]), &mut out)
        .over(3)
        .run_on(device);
    let fault = fault_of(result, &mut out)?;
    let place = Place {
        kernel: "step_kernel",
        file: FILE,
        line: STEP,
    };
    check_place(&fault, &place)?;
    ensure(matches!(fault.kind, FaultKind::Assert(_)), || {
        format!("{:?}", fault.kind)
    })?;
    ensure(fault.thread == [1, 0, 0], || {
        format!("thread {:?}", fault.thread)
    })?;
    still_works(device)
}

#[kernel]
fn add_kernel(a: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    out[i] = a[i] + 1;
}

/// The line of the sum in `add_kernel`.
const LINE: u32 = line!() - 4;

/// An overflow wraps, or is reported in builds in which rustc reports it.
fn overflow(device: &Device) -> Check {
    let input = Vector::from_vec(vec![1, i32::MAX, 2]);
    let mut out = sentinel_filled(3);
    let result = add_kernel(&input, &mut out).over(3).run_on(device);
    if reports_overflow() {
        let fault = fault_of(result, &mut out)?;
        ensure(fault.kernel == "add_kernel", || format!("{fault}"))?;
        let operation = "+".to_owned();
        ensure(fault.kind == FaultKind::Overflow { operation }, || {
            format!("{:?}", fault.kind)
        })?;
        ensure(fault.line == LINE && fault.thread == [1, 0, 0], || {
            format!("{fault}")
        })?;
        return still_works(device);
    }
    result?;
    expect("wrapped", &out, &[2, i32::MIN, 3])
}
