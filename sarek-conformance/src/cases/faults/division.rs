//! Division by zero, and `MIN / -1`.

use super::index::still_works;
use super::report::{Place, check_place, fault_of};
use crate::check::{Check, ensure, sentinel_filled};
use crate::input::Sample;
use crate::{Capability, Case};
use sarek::prelude::*;
use sarek::{FaultKind, Result};

pub const CASES: &[Case] = &[
    Case::new("faults/division/i8", &[Capability::Storage8], i8_case),
    Case::new("faults/division/i16", &[Capability::Storage16], i16_case),
    Case::new("faults/division/i32", &[], i32_case),
    Case::new("faults/division/u8", &[Capability::Storage8], u8_case),
    Case::new("faults/division/u16", &[Capability::Storage16], u16_case),
    Case::new("faults/division/u32", &[], u32_case),
    Case::new("faults/division/i64", &[Capability::I64], i64_case),
    Case::new("faults/division/u64", &[Capability::I64], u64_case),
    Case::new("faults/division/discarded", &[], discarded),
    Case::new("faults/division/behind_a_difference", &[], compared),
];

const FILE: &str = "src/cases/faults/division.rs";

const OPERATIONS: u32 = 4;

/// Defines one kernel for the four operations, each of them on a line of its own.
macro_rules! divide {
    ($t:ident $case:ident $kernel:ident $name:literal) => {
        #[kernel]
        fn $kernel(operation: u32, a: &[$t], b: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            out[i] = if operation == 0 {
                a[i] / b[i]
            } else if operation == 1 {
                a[i] % b[i]
            } else if operation == 2 {
                a[i].div_euclid(b[i])
            } else {
                a[i].rem_euclid(b[i])
            };
        }

        fn $case(device: &Device) -> Check {
            for operation in 0..OPERATIONS {
                let run = |a: &Vector<$t>, b: &Vector<$t>, out: &mut Vector<$t>| {
                    $kernel(operation, a, b, out).over(64).run_on(device)
                };
                provoke($name, (5, 0), FaultKind::DivisionByZero, run)?;
                provoke($name, (0, 0), FaultKind::DivisionByZero, run)?;
                if $t::MIN != 0 {
                    provoke($name, ($t::MIN, !0), FaultKind::DivisionOverflow, run)?;
                }
                still_works(device)?;
            }
            Ok(())
        }
    };
}

divide!(i8 i8_case divide_i8 "divide_i8");
divide!(i16 i16_case divide_i16 "divide_i16");
divide!(i32 i32_case divide_i32 "divide_i32");
divide!(u8 u8_case divide_u8 "divide_u8");
divide!(u16 u16_case divide_u16 "divide_u16");
divide!(u32 u32_case divide_u32 "divide_u32");
divide!(i64 i64_case divide_i64 "divide_i64");
divide!(u64 u64_case divide_u64 "divide_u64");

/// Thread 37 divides `a` by `b`; the other threads make harmless divisions.
fn provoke<T: Sample>(
    kernel: &'static str,
    (a, b): (T, T),
    expected: FaultKind,
    run: impl Fn(&Vector<T>, &Vector<T>, &mut Vector<T>) -> Result<()>,
) -> Check {
    let harmless = T::edges()
        .into_iter()
        .find(|&x| x != T::default())
        .unwrap_or(a);
    let (mut left, mut right) = (vec![T::default(); 64], vec![harmless; 64]);
    (left[37], right[37]) = (a, b);
    let mut out = sentinel_filled::<T>(64);
    let result = run(&Vector::from_vec(left), &Vector::from_vec(right), &mut out);
    let fault = fault_of(result, &mut out)?;
    ensure(fault.kernel == kernel, || {
        format!("the fault names kernel `{}`", fault.kernel)
    })?;
    ensure(fault.kind == expected, || {
        format!("{:?} for {a:?} by {b:?}", fault.kind)
    })?;
    ensure(fault.thread == [37, 0, 0], || {
        format!("thread {:?}", fault.thread)
    })
}

const DISCARDED: u32 = line!() + 5;
#[kernel]
fn discarded_kernel(a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    out[i] = a[i];
    let _unused = 100 / a[i];
}

/// An operation whose value is unused faults all the same.
fn discarded(device: &Device) -> Check {
    let mut data = vec![1u32; 50];
    data[49] = 0;
    let mut out = sentinel_filled(50);
    let result = discarded_kernel(&Vector::from_vec(data), &mut out)
        .over(50)
        .run_on(device);
    let fault = fault_of(result, &mut out)?;
    let place = Place {
        kernel: "discarded_kernel",
        file: FILE,
        line: DISCARDED,
    };
    check_place(&fault, &place)?;
    ensure(fault.kind == FaultKind::DivisionByZero, || {
        format!("{:?}", fault.kind)
    })
}

const COMPARED: u32 = line!() + 6;
#[kernel]
fn compared_kernel(a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let first = u32x2::splat(7);
    // The first components differ.
    out[i] = (u32x2::new(a[i], 100 / a[i]) == first) as u32;
}

const DIFFERENT: u32 = line!() + 5;
#[kernel]
fn different_kernel(a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let first = u32x2::splat(7);
    out[i] = (first != u32x2::new(a[i], 100 / a[i])) as u32;
}

/// A comparison of vectors computes all components, even if the first ones differ.
fn compared(device: &Device) -> Check {
    let mut data = vec![1u32; 50];
    data[49] = 0;
    let data = Vector::from_vec(data);
    let mut out = sentinel_filled(50);
    let result = compared_kernel(&data, &mut out).over(50).run_on(device);
    let fault = fault_of(result, &mut out)?;
    let (kernel, line) = ("compared_kernel", COMPARED);
    let file = FILE;
    check_place(&fault, &Place { kernel, file, line })?;
    let mut out = sentinel_filled(50);
    let result = different_kernel(&data, &mut out).over(50).run_on(device);
    let fault = fault_of(result, &mut out)?;
    let (kernel, line) = ("different_kernel", DIFFERENT);
    check_place(&fault, &Place { kernel, file, line })
}
