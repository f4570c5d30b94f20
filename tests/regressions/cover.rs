//! `.cover(n)` with a kernel that has no bounds guard.
//!
//! Once each device chose its own block size, so some had threads beyond the vector and others had none. Now the block size depends
//! only on the extent, so all devices have the same threads.

use sarek::prelude::*;
use sarek::tag::ScheduleKind;
use sarek::{Error, FaultKind};

use crate::devices;

#[kernel]
fn ones(y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = 1;
}

#[kernel]
fn threads(counts: &mut [u32]) {
    let i = global_idx_x();
    if i < counts.len() {
        counts[i] = (global_dim_x() * 1000 + block_dim_x()) as u32;
    }
}

/// The out-of-bounds index that the device reports, if there is one.
fn beyond(device: &Device, n: usize) -> Option<u64> {
    let mut y = Vector::zeros(n);
    let ran = ones(&mut y).cover(n).run_on(device);
    match ran.and_then(|()| y.to_vec()) {
        Ok(y) => {
            assert_eq!(y, vec![1; n], "{device}");
            None
        }
        Err(Error::Fault(fault)) => match fault.kind {
            FaultKind::Index { index, len, .. } => {
                assert_eq!(len, n as u64, "{device}");
                assert_eq!(fault.thread[0], index, "{device}");
                Some(index)
            }
            other => panic!("{device}: {other:?}"),
        },
        Err(error) => panic!("{device}: {error}"),
    }
}

#[test]
fn threads_past_the_extent_are_the_same_everywhere() {
    for device in devices() {
        for (n, whole) in [(100, 128), (128, 128), (1000, 1024), (5, 32), (512, 512)] {
            // The device may report any of the threads beyond the vector.
            let found = beyond(&device, n);
            let expected = n as u64..whole;
            assert_eq!(found.is_some(), !expected.is_empty(), "{device}: {n}");
            assert!(
                found.is_none_or(|index| expected.contains(&index)),
                "{device}: {found:?}"
            );
        }
    }
}

#[test]
fn extents_and_blocks_are_the_same_everywhere() {
    for device in devices() {
        for (n, expected) in [(100, 128_128), (5, 32_032), (1000, 1_024_256)] {
            let mut counts = Vector::zeros(n);
            let ran = threads(&mut counts).cover(n).run_on(&device);
            let counts = ran.and_then(|()| counts.to_vec()).expect("it is guarded");
            assert_eq!(counts, vec![expected; n], "{device}");
        }
        for schedule in [ScheduleKind::grid_stride(), ScheduleKind::single_thread()] {
            let mut counts = Vector::zeros(100);
            let launch = threads(&mut counts).schedule(&schedule).cover(100);
            let ran = match launch.run_on(&device) {
                Err(Error::NotEligible { .. }) => continue,
                other => other,
            };
            let counts = ran.and_then(|()| counts.to_vec()).expect("it is guarded");
            assert_eq!(counts[0] / 1000, 128, "{device}: {schedule}");
        }
    }
}
