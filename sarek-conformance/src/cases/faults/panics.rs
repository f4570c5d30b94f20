//! `panic!` and similar macros, and assertions, in every kind of place.

use super::index::still_works;
use super::report::{Place, check_place, fault_of};
use crate::Case;
use crate::check::{Check, ensure, expect, sentinel_filled};
use sarek::prelude::*;
use sarek::{Fault, FaultKind};

pub const CASES: &[Case] = &[
    Case::new("faults/panic_in_match", &[], in_match),
    Case::new("faults/panic_in_function", &[], in_function),
    Case::new("faults/panic_before_barrier", &[], before_barrier),
    Case::new("faults/panic_messages", &[], messages),
    Case::new("faults/assertions", &[], assertions),
];

const FILE: &str = "src/cases/faults/panics.rs";

fn place(kernel: &'static str, line: u32) -> Place {
    Place {
        kernel,
        file: FILE,
        line,
    }
}

fn says(fault: &Fault, kind: &FaultKind, thread: u64) -> Check {
    ensure(fault.kind == *kind, || format!("{:?}", fault.kind))?;
    ensure(fault.thread == [thread, 0, 0], || {
        format!("thread {:?}", fault.thread)
    })
}

const MATCH: u32 = line!() + 7;
#[kernel]
fn match_kernel(which: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let value = match which[i] {
        0 => 10,
        1 => 20,
        _ => panic!("neither {{0}} nor {{1}}"),
    };
    out[i] = value;
}

fn in_match(device: &Device) -> Check {
    let which: Vec<u32> = (0..100).map(|k| k % 2).collect();
    let expected: Vec<u32> = which.iter().map(|w| 10 * (w + 1)).collect();
    let mut out = sentinel_filled(100);
    match_kernel(&Vector::from_slice(&which), &mut out)
        .over(100)
        .run_on(device)?;
    expect("no panic", &out, &expected)?;
    let mut wrong = which;
    wrong[70] = 2;
    let result = match_kernel(&Vector::from_vec(wrong), &mut out)
        .over(100)
        .run_on(device);
    let fault = fault_of(result, &mut out)?;
    check_place(&fault, &place("match_kernel", MATCH))?;
    says(&fault, &FaultKind::Panic("neither {0} nor {1}".into()), 70)?;
    still_works(device)
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Pair {
    low: u32,
    high: u32,
}

const FUNCTION: u32 = line!() + 6;
/// Returns a struct, so that no literal can serve as a harmless result of the panic.
#[device]
fn split(x: u32, by: u32) -> Pair {
    let Some(half) = (if by == 2 { Some(x / 2) } else { None }) else {
        // Reached for `by == 3`, for example.
        panic!("cannot split");
    };
    Pair {
        low: half,
        high: x - half,
    }
}

/// A thread that panics stores nothing, whatever the function would have returned.
#[kernel]
fn function_kernel(by: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let pair = split(i as u32, by[i]);
    out[i] = pair.low * 1000 + pair.high;
}

fn in_function(device: &Device) -> Check {
    let mut by = vec![2u32; 50];
    let mut out = sentinel_filled(50);
    let expected: Vec<u32> = (0..50).map(|i| (i / 2) * 1000 + i - i / 2).collect();
    function_kernel(&Vector::from_slice(&by), &mut out)
        .over(50)
        .run_on(device)?;
    expect("no panic", &out, &expected)?;
    by[33] = 3;
    let result = function_kernel(&Vector::from_vec(by), &mut out)
        .over(50)
        .run_on(device);
    let fault = fault_of(result, &mut out)?;
    check_place(&fault, &place("function_kernel", FUNCTION))?;
    says(&fault, &FaultKind::Panic("cannot split".into()), 33)?;
    still_works(device)
}

const BARRIER: u32 = line!() + 7;
#[kernel(block = 64)]
fn barrier_kernel(x: &[u32], out: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    let t = thread_idx_x();
    let i = global_idx_x();
    if x[i] > 1000 {
        panic!("too large");
    }
    tile[t] = x[i];
    barrier();
    out[i] = tile[63 - t];
}

/// The other threads of the block do not wait for a thread that has panicked.
fn before_barrier(device: &Device) -> Check {
    let mut x: Vec<u32> = (0..128).collect();
    let expected: Vec<u32> = (0..128).map(|i| i / 64 * 64 + 63 - i % 64).collect();
    let mut out = sentinel_filled(128);
    barrier_kernel(&Vector::from_slice(&x), &mut out)
        .grid(2)
        .run_on(device)?;
    expect("no panic", &out, &expected)?;
    x[99] = 1001;
    let result = barrier_kernel(&Vector::from_vec(x), &mut out)
        .grid(2)
        .run_on(device);
    let fault = fault_of(result, &mut out)?;
    check_place(&fault, &place("barrier_kernel", BARRIER))?;
    says(&fault, &FaultKind::Panic("too large".into()), 99)?;
    still_works(device)
}

const MESSAGES: u32 = line!() + 5;
#[kernel]
fn messages_kernel(which: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let value: u32 = match which[i] {
        0 => panic!(),
        1 => unreachable!(),
        2 => unreachable!("here"),
        3 => todo!(),
        4 => unimplemented!("there"),
        5 => {
            assert!(i > 1000);
            1
        }
        6 => {
            assert!(i > 1000, "i is small");
            1
        }
        7 => {
            assert_eq!(i + 1, 3);
            1
        }
        8 => {
            assert_ne!(which[i], 8, "they are");
            1
        }
        w => w,
    };
    out[i] = value;
}

fn messages(device: &Device) -> Check {
    let panic = |text: &str| FaultKind::Panic(text.into());
    let assert = |text: &str| FaultKind::Assert(text.into());
    let lines = [0, 1, 2, 3, 4, 6, 10, 14, 18];
    let kinds = [
        panic("explicit panic"),
        panic("internal error: entered unreachable code"),
        panic("internal error: entered unreachable code: here"),
        panic("not yet implemented"),
        panic("not implemented: there"),
        assert("assertion failed: i > 1000"),
        assert("i is small"),
        assert("assertion `left == right` failed"),
        assert("assertion `left != right` failed: they are"),
    ];
    for ((which, kind), line) in (0u32..).zip(&kinds).zip(lines) {
        let mut input = vec![9u32; 4];
        input[3] = which;
        let mut out = sentinel_filled(4);
        let result = messages_kernel(&Vector::from_vec(input), &mut out)
            .over(4)
            .run_on(device);
        let fault = fault_of(result, &mut out)?;
        check_place(&fault, &place("messages_kernel", MESSAGES + line))?;
        says(&fault, kind, 3)?;
    }
    still_works(device)
}

const ASSERTIONS: u32 = line!() + 4;
#[kernel]
fn assertions_kernel(n: usize, x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    debug_assert!(x[i] < 50.0, "large");
    debug_assert_eq!(n, x.len());
    assert!(i < n && x[i] >= 0.0);
    out[i] = x[i].sqrt();
}

/// `debug_assert!` and the like are checked in debug builds only.
fn assertions(device: &Device) -> Check {
    let mut out = sentinel_filled(10);
    let x = Vector::from_vec((0..10).map(|k| (k * k) as f32 / 4.0).collect());
    assertions_kernel(10, &x, &mut out)
        .over(10)
        .run_on(device)?;
    let expected: Vec<f32> = (0..10).map(|k| k as f32 / 2.0).collect();
    expect("no failure", &out, &expected)?;
    let large = Vector::from_vec(vec![49.0f32, 100.0]);
    let result = assertions_kernel(2, &large, &mut out)
        .over(2)
        .run_on(device);
    if cfg!(debug_assertions) {
        let fault = fault_of(result, &mut out)?;
        check_place(&fault, &place("assertions_kernel", ASSERTIONS))?;
        says(&fault, &FaultKind::Assert("large".into()), 1)?;
    } else {
        result?;
        ensure(out.get(1)? == 10.0, || "it was not run".into())?;
    }
    let mut out = sentinel_filled(2);
    let negative = Vector::from_vec(vec![1.0f32, -1.0]);
    let result = assertions_kernel(2, &negative, &mut out)
        .over(2)
        .run_on(device);
    let fault = fault_of(result, &mut out)?;
    check_place(&fault, &place("assertions_kernel", ASSERTIONS + 2))?;
    let text = "assertion failed: i < n && x[i] >= 0.0";
    says(&fault, &FaultKind::Assert(text.into()), 1)?;
    still_works(device)
}
