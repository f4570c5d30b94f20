//! Faults beyond the kernel's slices: indices out of bounds of shared and local arrays, arrays in values, constants, atomics and views;
//! and divisions by zero of integers whose type needs no buffer on the device.

use super::index::still_works;
use super::report::{Place, check_place, fault_of};
use crate::Case;
use crate::check::{Check, ensure, expect, sentinel_filled};
use sarek::FaultKind;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("faults/arrays", &[], arrays),
    Case::new("faults/planes", &[], planes),
    Case::new("faults/small_divisions", &[], divisions),
];

const FILE: &str = "src/cases/faults/arrays.rs";

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Row {
    of: [u32; 4],
    at: u32,
}

const PRIMES: [u32; 5] = [2, 3, 5, 7, 11];

/// The line of the first access in `arrays_kernel`. Each further access is two lines below the one before.
const FIRST: u32 = line!() + 20;
/// Thread 37 of 64 makes access number `which` with the index `bad`; the other threads use index 0.
// SAFETY: unless an index is out of bounds, each thread has its own elements of the shared arrays, or no thread reads them.
#[kernel(block = 32)]
unsafe fn arrays_kernel(
    which: u32,
    bad: usize,
    rows: &[Row],
    counts: &[Atomic<u32>],
    out: &mut [u32],
) {
    let tile = shared_array::<u32, 32>();
    let grid = shared_array::<[u32; 3], 4>();
    let flags = shared_array::<Atomic<u32>, 2>();
    let sized = shared_slice::<u32>(block_dim_x() + 1);
    let (t, i) = (thread_idx_x(), global_idx_x());
    let mut own = [1u32, 2, 3];
    let mut value = 0;
    let far = if i == 37 { bad } else { 0 };
    if which == 0 {
        tile[t + far] = 1;
    } else if which == 1 {
        grid[t % 4][far] = 1;
    } else if which == 2 {
        flags[far].fetch_add(1);
    } else if which == 3 {
        sized[t + far] = 5;
    } else if which == 4 {
        own[far] = 9;
    } else if which == 5 {
        value = own[far];
    } else if which == 6 {
        value = rows[i].of[far];
    } else if which == 7 {
        value = PRIMES[far];
    } else if which == 8 {
        value = counts[far].fetch_add(0);
    } else if which == 9 {
        value = rows[i + far].at;
    } else if which == 10 {
        value = grid[far].len() as u32;
    }
    barrier();
    out[i] = value + own[0];
}

/// For each access: the name of the array, its first index that is out of bounds, and the thread's own part of the index.
const PLACES: [(&str, usize, usize); 11] = [
    ("tile", 32, 5),
    ("grid", 3, 0),
    ("flags", 2, 0),
    ("sized", 33, 5),
    ("own", 3, 0),
    ("own", 3, 0),
    ("rows", 4, 0),
    ("PRIMES", 5, 0),
    ("counts", 6, 0),
    ("rows", 64, 37),
    ("grid", 4, 0),
];

fn arrays(device: &Device) -> Check {
    let row = Row { of: [7; 4], at: 8 };
    let rows = Vector::filled(64, row);
    for (which, (name, len, own)) in (0..).zip(PLACES) {
        let run = |bad: usize, out: &mut Vector<u32>| {
            let mut counts = Vector::filled(6, 3u32);
            // SAFETY: see the kernel.
            let launch = unsafe { arrays_kernel(which, bad, &rows, &mut counts, out) };
            launch.grid(2).run_on(device)
        };
        let mut out = sentinel_filled(64);
        run(0, &mut out)?;
        let value = [1, 1, 1, 1, 9, 2, 8, 3, 4, 9, 4][which as usize];
        expect(name, &out, &[value; 64])?;
        for bad in [len, len + 1000, 1 << 31] {
            let result = run(bad - own, &mut out);
            let fault = fault_of(result, &mut out)?;
            let line = FIRST + 2 * which;
            let kernel = "arrays_kernel";
            check_place(
                &fault,
                &Place {
                    kernel,
                    file: FILE,
                    line,
                },
            )?;
            let found = match &fault.kind {
                FaultKind::Index {
                    argument, index, ..
                }
                | FaultKind::Dimension {
                    argument, index, ..
                } => argument == name && *index == bad as u64,
                _ => false,
            };
            ensure(found && fault.thread == [37, 0, 0], || {
                format!(
                    "{name} at {bad}: {:?} of thread {:?}",
                    fault.kind, fault.thread
                )
            })?;
        }
    }
    still_works(device)
}

const PLANES: u32 = line!() + 6;
#[kernel]
fn planes_kernel(far: usize, x: View3<u32>, y: &mut [u32]) {
    let i = global_idx_x();
    if i < y.len() {
        let up = if i == 3 { far } else { 0 };
        y[i] = x[[up, 0, 1]] + x[[0, up / 2, 1]];
    }
}

/// An index out of bounds in the first of three dimensions.
fn planes(device: &Device) -> Check {
    let x = Vector::from_vec(vec![4u32; 60]);
    let mut y = sentinel_filled::<u32>(7);
    planes_kernel(2, x.view3(3, 4, 5)?, &mut y)
        .over(7)
        .run_on(device)?;
    expect("planes", &y, &[8; 7])?;
    let result = planes_kernel(3, x.view3(3, 4, 5)?, &mut y)
        .over(7)
        .run_on(device);
    let fault = fault_of(result, &mut y)?;
    let (kernel, file) = ("planes_kernel", FILE);
    check_place(
        &fault,
        &Place {
            kernel,
            file,
            line: PLANES,
        },
    )?;
    let expected = FaultKind::Dimension {
        argument: "x".into(),
        dimension: 0,
        index: 3,
    };
    ensure(fault.kind == expected, || format!("{:?}", fault.kind))
}

#[kernel]
fn divisions_kernel(which: u32, a: &[i32], b: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    let (x, y) = (a[i], b[i]);
    let mut small = x as i8;
    let mut short = x as u16;
    out[i] = match which {
        0 => (x as u8 / y as u8) as i32,
        1 => (x as usize % (y as u8 as usize)) as i32,
        2 => small.rem_euclid(y as i8) as i32,
        3 => {
            small /= y as i8;
            small as i32
        }
        4 => {
            short %= y as u16;
            short as i32
        }
        5 => (x as u32).div_ceil(y as u32) as i32,
        _ => (x as i16 % y as i16) as i32,
    };
}

fn divisions(device: &Device) -> Check {
    let run = |which: u32, a: i32, b: i32, out: &mut Vector<i32>| {
        let (mut left, mut right) = (vec![1; 20], vec![1; 20]);
        (left[11], right[11]) = (a, b);
        let (left, right) = (Vector::from_vec(left), Vector::from_vec(right));
        divisions_kernel(which, &left, &right, out)
            .over(20)
            .run_on(device)
    };
    let mut out = sentinel_filled(20);
    for which in 0..7 {
        run(which, 14, 7, &mut out)?;
        let got = out.get(11)?;
        ensure(got == [2, 0, 0, 2, 0, 2, 0][which as usize], || {
            format!("{which}: {got}")
        })?;
        let mut faults = vec![(5, 0, FaultKind::DivisionByZero)];
        match which {
            2 | 3 => faults.push((-128, -1, FaultKind::DivisionOverflow)),
            6 => faults.push((-32_768, -1, FaultKind::DivisionOverflow)),
            _ => {}
        }
        for (a, b, expected) in faults {
            let result = run(which, a, b, &mut out);
            let fault = fault_of(result, &mut out)?;
            ensure(fault.kind == expected && fault.thread == [11, 0, 0], || {
                format!("{which}: {a} by {b}: {fault}")
            })?;
        }
    }
    still_works(device)
}
