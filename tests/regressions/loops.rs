//! Long loops. Mesa's software device silently leaves all loops of a thread after 65535 iterations, which must be an error.

use sarek::prelude::*;
use sarek::{Error, FaultKind};

/// Runs on each device. The result must be right, or on a software device of wgpu the launch must fail at a line of this file.
fn right_or_refused(
    expected: &[u32],
    launch: impl Fn(&mut Vector<u32>, &Device) -> sarek::Result<()>,
) {
    for device in super::devices() {
        let mut y = Vector::filled(expected.len(), 7);
        let found = launch(&mut y, &device).and_then(|()| y.to_vec());
        match found {
            Ok(found) => assert_eq!(found, expected, "{device}"),
            Err(Error::Fault(fault)) if device.backend() == "wgpu" => {
                assert_eq!(fault.kind, FaultKind::TooManyIterations, "{device}");
                assert!(
                    fault.file.ends_with("loops.rs") && fault.line > 20,
                    "{fault}"
                );
            }
            Err(error) => panic!("{device}: {error}"),
        }
    }
}

#[kernel]
fn count(n: u32, y: &mut [u32]) {
    let i = global_idx_x();
    let mut k = 0u32;
    while k < n {
        k += 1;
    }
    y[i] = k;
}

#[kernel]
fn cells(rows: u32, y: &mut [u32]) {
    let i = global_idx_x();
    let mut sum = 0u32;
    for row in 0..rows {
        for column in 0..rows {
            sum += (row | column) / (row | column).max(1) + ((row | column) == 0) as u32;
        }
    }
    y[i] = sum;
}

/// A loop in a helper function adds its iterations to those of the kernel.
#[kernel]
fn powers(n: u32, exponent: i32, y: &mut [u32]) {
    let i = global_idx_x();
    let mut sum = 0u32;
    for k in 0..n {
        let base = 1.0 + (k & 1) as f32 * 0.0;
        sum += base.powi(exponent + (k & 1) as i32) as u32;
    }
    y[i] = sum;
}

/// A long loop with barriers.
#[kernel(block = 8)]
fn turns(n: u32, y: &mut [u32]) {
    let t = thread_idx_x();
    let sum = shared_array::<u32, 8>();
    sum[t] = 0;
    barrier();
    for _ in 0..n {
        let next = sum[(t + 1) % 8];
        barrier();
        sum[t] = next + 1;
        barrier();
    }
    y[global_idx_x()] = sum[t];
}

#[test]
fn a_long_loop() {
    for n in [59_000, 70_000] {
        right_or_refused(&[n; 4], |y, d| count(n, y).over(4).run_on(d));
    }
}

#[test]
fn loops_that_are_long_together() {
    right_or_refused(&[90_000; 4], |y, d| cells(300, y).over(4).run_on(d));
    right_or_refused(&[10_000; 4], |y, d| cells(100, y).over(4).run_on(d));
}

#[test]
fn loops_of_helpers_count() {
    right_or_refused(&[30_000; 4], |y, d| {
        powers(30_000, 500, y).over(4).run_on(d)
    });
    right_or_refused(&[100; 4], |y, d| powers(100, 500, y).over(4).run_on(d));
}

#[test]
fn a_long_loop_with_barriers() {
    right_or_refused(&[66_000; 8], |y, d| turns(66_000, y).grid(1).run_on(d));
    right_or_refused(&[1_000; 8], |y, d| turns(1_000, y).grid(1).run_on(d));
}

/// The software device still runs loops below the limit.
#[test]
fn loops_that_fit_are_run() {
    for device in super::devices() {
        let mut y = Vector::filled(4, 7);
        cells(200, &mut y).over(4).run_on(&device).expect("it fits");
        assert_eq!(y.to_vec().expect("it fits"), [40_000; 4], "{device}");
    }
}
