//! Indices out of bounds, in reads and writes.

use super::report::{Place, check_place, fault_of};
use crate::Case;
use crate::check::{Check, ensure, expect, sentinel_filled};
use sarek::FaultKind;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("faults/read", &[], read),
    Case::new("faults/write", &[], write),
    Case::new("faults/indirect", &[], indirect),
    Case::new("faults/in_loop", &[], in_loop),
    Case::new("faults/inputs_untouched", &[], inputs_untouched),
];

const FILE: &str = "src/cases/faults/index.rs";

const READ: u32 = line!() + 5;
#[kernel]
fn read_kernel(input: &[u32], output: &mut [u32]) {
    let i = global_idx_x();
    if i < output.len() {
        output[i] = input[i];
    }
}

fn read(device: &Device) -> Check {
    let input = Vector::from_vec(vec![7u32; 100]);
    let mut output = Vector::zeros(101);
    let result = read_kernel(&input, &mut output).over(101).run_on(device);
    let fault = fault_of(result, &mut output)?;
    check_place(
        &fault,
        &Place {
            kernel: "read_kernel",
            file: FILE,
            line: READ,
        },
    )?;
    expect_index(&fault, "input", 100, 100)?;
    ensure(fault.thread == [100, 0, 0], || {
        format!("thread {:?}", fault.thread)
    })?;
    still_works(device)
}

const WRITE: u32 = line!() + 6;
#[kernel]
fn write_kernel(shift: usize, output: &mut [u32]) {
    let x = global_idx_x();
    let y = global_idx_y();
    if x == 2 && y == 3 {
        output[x + shift] = 1;
    }
}

fn write(device: &Device) -> Check {
    for shift in [8, 1 << 20, (1 << 32) + 1, usize::MAX >> 3] {
        if shift >= 1 << 32 && !device.info().features.i64 {
            continue;
        }
        let mut output = Vector::zeros(10);
        let result = write_kernel(shift, &mut output).over((4, 5)).run_on(device);
        let fault = fault_of(result, &mut output)?;
        check_place(
            &fault,
            &Place {
                kernel: "write_kernel",
                file: FILE,
                line: WRITE,
            },
        )?;
        expect_index(&fault, "output", shift as u64 + 2, 10)?;
        ensure(fault.thread == [2, 3, 0], || {
            format!("thread {:?}", fault.thread)
        })?;
        still_works(device)?;
    }
    Ok(())
}

const INDIRECT: u32 = line!() + 6;
#[kernel]
fn indirect_kernel(at: &[i32], table: &[u32], output: &mut [u32]) {
    let i = global_idx_x();
    output[i] = 1;
    let k = at[i];
    let value = table[k as usize];
    output[i] = value;
}

/// The data decides which indices are bad. One of several faults is reported.
fn indirect(device: &Device) -> Check {
    let table = Vector::from_vec((0..50u32).collect());
    let mut at: Vec<i32> = (0..200).map(|k| k % 50).collect();
    let mut output = sentinel_filled(200);
    indirect_kernel(&Vector::from_slice(&at), &table, &mut output)
        .over(200)
        .run_on(device)?;
    expect(
        "good indices",
        &output,
        &at.iter().map(|&k| k as u32).collect::<Vec<_>>(),
    )?;

    at[60] = 50;
    at[150] = 51;
    let result = indirect_kernel(&Vector::from_slice(&at), &table, &mut output)
        .over(200)
        .run_on(device);
    let fault = fault_of(result, &mut output)?;
    check_place(
        &fault,
        &Place {
            kernel: "indirect_kernel",
            file: FILE,
            line: INDIRECT,
        },
    )?;
    match fault.thread {
        [60, 0, 0] => expect_index(&fault, "table", 50, 50)?,
        [150, 0, 0] => expect_index(&fault, "table", 51, 50)?,
        thread => return crate::check::wrong(format!("thread {thread:?}")),
    }
    still_works(device)
}

const IN_LOOP: u32 = line!() + 8;
/// The faulting read feeds the loop's condition. Unless a fault leaves the loop, the device hangs.
#[kernel]
fn loop_kernel(next: &[u32], output: &mut [u32]) {
    let i = global_idx_x();
    let mut at = i as u32;
    let mut steps = 0;
    while at != 1_000_000 {
        at = next[at as usize];
        steps += 1;
    }
    output[i] = steps;
}

fn in_loop(device: &Device) -> Check {
    // The last element points beyond the vector: 0, 1, … 19, 20.
    let next: Vec<u32> = (1..=20).collect();
    let mut output = Vector::zeros(20);
    let result = loop_kernel(&Vector::from_vec(next), &mut output)
        .over(20)
        .run_on(device);
    let fault = fault_of(result, &mut output)?;
    check_place(
        &fault,
        &Place {
            kernel: "loop_kernel",
            file: FILE,
            line: IN_LOOP,
        },
    )?;
    expect_index(&fault, "next", 20, 20)?;
    still_works(device)
}

/// Vectors that a launch only reads stay readable and unchanged.
fn inputs_untouched(device: &Device) -> Check {
    let data: Vec<u32> = (0..64).collect();
    let input = Vector::from_slice(&data);
    let mut output = Vector::zeros(65);
    let result = read_kernel(&input, &mut output).over(65).run_on(device);
    fault_of(result, &mut output)?;
    ensure(input.to_vec()? == data, || "the input changed".into())
}

fn expect_index(fault: &sarek::Fault, argument: &str, index: u64, len: u64) -> Check {
    let expected = FaultKind::Index {
        argument: argument.into(),
        index,
        len,
    };
    ensure(fault.kind == expected, || {
        format!("{:?} instead of {expected:?}", fault.kind)
    })
}

/// Checks that the device runs the next launch correctly.
pub(super) fn still_works(device: &Device) -> Check {
    let data: Vec<u32> = (0..100).map(|k| k * 3).collect();
    let mut output = sentinel_filled(100);
    read_exactly(&Vector::from_slice(&data), &mut output)
        .over(100)
        .run_on(device)?;
    expect("a launch after a fault", &output, &data)
}

#[kernel]
fn read_exactly(input: &[u32], output: &mut [u32]) {
    let i = global_idx_x();
    output[i] = input[i];
}
