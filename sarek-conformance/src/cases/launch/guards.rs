//! Guards against threads beyond the data, in several forms: exactly the threads that pass do the guarded
//! work, and the kernel's other effects are kept.

use crate::Case;
use crate::cases::faults::fault_of;
use crate::check::{Check, ensure, expect, sentinel_filled};
use sarek::FaultKind;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("launch/guards", &[], guards),
    Case::new("launch/guards_2d", &[], guards_2d),
    Case::new("faults/before_guard", &[], behind_fault),
];

#[kernel]
fn below(n: usize, out: &mut [u32]) {
    let i = global_idx_x();
    if n > i {
        out[i] = 1;
    }
}

#[kernel]
fn returning(n: usize, out: &mut [u32]) {
    let i = global_idx_x();
    if n <= i {
        return;
    }
    out[i] = 1;
}

#[kernel]
fn half(n: usize, out: &mut [u32]) {
    let i = global_idx_x();
    let half = n / 2;
    if i % 2 == 0 && i < half && i != 4 {
        out[i] = 1;
    }
}

#[kernel]
fn store_first(n: usize, out: &mut [u32]) {
    let i = global_idx_x();
    out[i] = 2;
    if i < n {
        out[i] = 1;
    }
}

#[kernel]
fn otherwise(n: usize, out: &mut [u32]) {
    let i = global_idx_x();
    if i < n {
        out[i] = 1;
    } else {
        out[i] = 2;
    }
}

#[kernel]
fn store_last(n: usize, out: &mut [u32]) {
    let i = global_idx_x();
    if i < n {
        out[i] = 1;
    }
    if i >= n {
        out[i] = 2;
    }
}

fn guards(device: &Device) -> Check {
    const LEN: usize = 5000;
    for n in [0, 1, 7, 256, 300, 4096, 4097, LEN, LEN + 1] {
        let expected = |past: Option<u32>, at_work: &dyn Fn(usize) -> bool| -> Vec<u32> {
            let one = |i| if at_work(i) { Some(1) } else { past };
            (0..LEN).map(|i| one(i).unwrap_or(0)).collect()
        };
        let run = |what: &str,
                   kernel: fn(usize, &mut Vector<u32>, &Device) -> sarek::Result<()>,
                   expected: &[u32]| {
            let mut out = sentinel_filled(LEN);
            for (i, &value) in expected.iter().enumerate() {
                if value == 0 {
                    out.set(i, 0)?;
                }
            }
            kernel(n, &mut out, device)?;
            expect(&format!("{what}, {n}"), &out, expected)
        };
        let inside = |i: usize| i < n;
        run(
            "below",
            |n, out, d| below(n, out).over(LEN).run_on(d),
            &expected(None, &inside),
        )?;
        run(
            "returning",
            |n, out, d| returning(n, out).over(LEN).run_on(d),
            &expected(None, &inside),
        )?;
        let some = |i: usize| i.is_multiple_of(2) && i < n / 2 && i != 4;
        run(
            "half",
            |n, out, d| half(n, out).over(LEN).run_on(d),
            &expected(None, &some),
        )?;
        let both = expected(Some(2), &inside);
        run(
            "store first",
            |n, out, d| store_first(n, out).over(LEN).run_on(d),
            &both,
        )?;
        run(
            "otherwise",
            |n, out, d| otherwise(n, out).over(LEN).run_on(d),
            &both,
        )?;
        run(
            "store last",
            |n, out, d| store_last(n, out).over(LEN).run_on(d),
            &both,
        )?;
    }
    Ok(())
}

#[kernel]
fn window(width: usize, height: usize, limit: usize, out: &mut [u32]) {
    let x = global_idx_x();
    let y = global_idx_y();
    if x >= width || y >= height || y > limit {
        return;
    }
    out[y * width + x] = 1;
}

fn guards_2d(device: &Device) -> Check {
    let (width, height) = (37, 11);
    for limit in [0, 4, 100] {
        for space in [(width, height), (width + 9, height + 3), (5, 50), (100, 2)] {
            let mut out = sentinel_filled(width * height);
            for i in 0..width * height {
                out.set(i, 0)?;
            }
            window(width, height, limit, &mut out)
                .over(space)
                .run_on(device)?;
            let at_work = |i: usize| {
                let (x, y) = (i % width, i / width);
                x < space.0 && y < space.1 && y <= limit
            };
            let expected: Vec<u32> = (0..width * height).map(|i| at_work(i).into()).collect();
            expect(&format!("{space:?}, {limit}"), &out, &expected)?;
        }
    }
    Ok(())
}

#[kernel]
fn reads_first(n: usize, input: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    if input[i] > 0 && i < n {
        out[i] = 1;
    }
}

/// A thread that the guard would stop faults before it reaches the guard.
fn behind_fault(device: &Device) -> Check {
    let input = Vector::from_vec(vec![1u32; 10]);
    let mut out = Vector::zeros(10);
    let result = reads_first(10, &input, &mut out).over(11).run_on(device);
    let fault = fault_of(result, &mut out)?;
    ensure(
        matches!(fault.kind, FaultKind::Index { index: 10, .. }) && fault.thread == [10, 0, 0],
        || format!("{fault:?}"),
    )
}
