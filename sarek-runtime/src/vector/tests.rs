use std::sync::atomic::Ordering::Relaxed;

use super::*;
use crate::testing::kernels::axpy_call as axpy;
use crate::testing::{host, two_gpus};

fn ones(len: usize) -> Vector<f32> {
    Vector::filled(len, 1.0)
}

#[test]
fn a_vector_fresh_on_one_device_reaches_the_other() {
    let [(one, _), (two, _)] = two_gpus();
    let x = ones(3);
    let mut y = Vector::zeros(3);
    let mut z = Vector::zeros(3);
    // The host copy of `y` is stale from here on, and so is what `two` first got.
    axpy(1.0, &y, &mut z).over(3).run_on(&two).unwrap();
    axpy(5.0, &x, &mut y).over(3).run_on(&one).unwrap();
    axpy(2.0, &y, &mut z).over(3).run_on(&two).unwrap();
    assert_eq!(z.to_vec().unwrap(), [10.0; 3]);
    axpy(1.0, &z, &mut y).over(3).run_on(&host()).unwrap();
    axpy(1.0, &x, &mut y).over(3).run_on(&one).unwrap();
    assert_eq!(y.to_vec().unwrap(), [16.0; 3]);
}

#[test]
fn host_writes_are_never_lost() {
    let [(one, _), (two, _)] = two_gpus();
    let x = ones(3);
    let mut y = Vector::zeros(3);
    axpy(1.0, &x, &mut y).over(3).run_on(&one).unwrap();
    y.set(1, 40.0).unwrap();
    axpy(1.0, &x, &mut y).over(3).run_on(&two).unwrap();
    y.as_mut_slice().unwrap()[2] = 7.0;
    axpy(1.0, &x, &mut y).over(3).run_on(&one).unwrap();
    assert_eq!(y.to_vec().unwrap(), [3.0, 42.0, 8.0]);
    y.fill(0.5).unwrap();
    assert_eq!(y.get(0).unwrap(), 0.5);
    axpy(1.0, &x, &mut y).over(3).run_on(&one).unwrap();
    y.copy_from_slice(&[1.0, 2.0, 3.0]).unwrap();
    axpy(1.0, &x, &mut y).over(3).run_on(&one).unwrap();
    assert_eq!(y.into_vec().unwrap(), [2.0, 3.0, 4.0]);
}

#[test]
fn reading_makes_no_copy_stale() {
    let [(one, first), (two, second)] = two_gpus();
    let x = ones(8);
    let mut y = Vector::zeros(8);
    let mut z = Vector::zeros(8);
    for _ in 0..3 {
        axpy(1.0, &x, &mut y).over(8).run_on(&one).unwrap();
        axpy(1.0, &x, &mut z).over(8).run_on(&two).unwrap();
    }
    assert_eq!(x.to_vec().unwrap(), [1.0; 8]);
    // `x` and the vector written there, once each; nothing comes back before it is asked for.
    assert_eq!(
        (first.uploads.load(Relaxed), first.downloads.load(Relaxed)),
        (2, 0)
    );
    assert_eq!(
        (second.uploads.load(Relaxed), second.downloads.load(Relaxed)),
        (2, 0)
    );
    assert_eq!((y.get(7).unwrap(), y.get(0).unwrap()), (3.0, 3.0));
    assert_eq!(first.downloads.load(Relaxed), 1);
    // The device's copy is as good as the host's.
    axpy(1.0, &x, &mut y).over(8).run_on(&one).unwrap();
    assert_eq!(first.uploads.load(Relaxed), 2);
}

#[test]
fn work_on_other_streams_waits() {
    let [(device, _), _] = two_gpus();
    let [a, b] = [device.new_stream().unwrap(), device.new_stream().unwrap()];
    let x = ones(4);
    let mut y = Vector::zeros(4);
    let mut z = Vector::zeros(4);
    axpy(1.0, &x, &mut y).over(4).enqueue(&a).unwrap();
    // Read after write, then write after read and after write.
    axpy(1.0, &y, &mut z).over(4).enqueue(&b).unwrap();
    axpy(1.0, &x, &mut y).over(4).enqueue(&a).unwrap();
    a.sync().unwrap();
    assert_eq!(
        z.to_vec().unwrap(),
        [1.0; 4],
        "`b` read `y` before `a` wrote it again"
    );
    y.fill(9.0).unwrap();
    axpy(1.0, &y, &mut z).over(4).enqueue(&b).unwrap();
    assert_eq!(z.to_vec().unwrap(), [10.0; 4]);
}

#[test]
fn a_stream_waits_once_for_what_it_reads_often() {
    let [(device, stats), _] = two_gpus();
    let [a, b] = [device.new_stream().unwrap(), device.new_stream().unwrap()];
    let x = ones(4);
    let mut y = Vector::zeros(4);
    axpy(1.0, &x, &mut y).over(4).enqueue(&a).unwrap();
    let mut events = Vec::new();
    for _ in 0..3 {
        let before = stats.events.load(Relaxed);
        axpy(1.0, &y, &mut ones(4)).over(4).enqueue(&b).unwrap();
        events.push(stats.events.load(Relaxed) - before);
    }
    // One for the event that is returned, the first time one for the writer of `y`.
    assert_eq!(events, [2, 1, 1]);
}

#[test]
fn empty_vectors_are_vectors() {
    let [(device, stats), _] = two_gpus();
    let x = Vector::zeros(0);
    let mut y = ones(1);
    // Threads run, and find every index out of bounds.
    axpy(1.0, &x, &mut y).over(1).run_on(&device).unwrap();
    assert!(y.to_vec().is_err());
    assert_eq!(stats.launches.load(Relaxed), 1);
    let mut empty = Vector::<f32>::default();
    axpy(1.0, &x, &mut empty).over(0).run_on(&device).unwrap();
    assert_eq!(empty.to_vec().unwrap(), []);
    empty.fill(1.0).unwrap();
    assert!(empty.is_empty() && empty.get(0).is_err());
}

#[test]
fn a_failed_download_loses_nothing() {
    let [(device, stats), _] = two_gpus();
    let x = ones(2);
    let mut y = Vector::zeros(2);
    axpy(3.0, &x, &mut y).over(2).run_on(&device).unwrap();
    stats.broken.store(true, Relaxed);
    assert!(matches!(y.to_vec(), Err(Error::Device { .. })));
    assert!(matches!(y.clone().to_vec(), Err(Error::Device { .. })));
    stats.broken.store(false, Relaxed);
    assert_eq!(y.to_vec().unwrap(), [3.0; 2]);
}

#[test]
fn clones_are_deep_and_debug_copies_nothing() {
    let [(device, stats), _] = two_gpus();
    let x = ones(2);
    let mut y = Vector::zeros(2);
    axpy(3.0, &x, &mut y).over(2).run_on(&device).unwrap();
    assert_eq!(format!("{y:?}"), "Vector(<2 elements on fake GPU (one:0)>)");
    assert_eq!(stats.downloads.load(Relaxed), 0);
    let mut clone = y.clone();
    clone.set(0, 0.0).unwrap();
    assert_eq!(y.to_vec().unwrap(), [3.0, 3.0]);
    assert_eq!(format!("{clone:?}"), "Vector([0.0, 3.0])");
}

#[test]
fn host_accesses_are_checked() {
    let mut x = Vector::from_slice(&[1u64, 2]);
    let bounds = |error| matches!(error, Error::Bounds { index: 2, len: 2 });
    assert!(bounds(x.get(2).unwrap_err()));
    assert!(bounds(x.set(2, 0).unwrap_err()));
    let length = x.copy_from_slice(&[1]).unwrap_err();
    assert!(matches!(
        length,
        Error::Length {
            expected: 2,
            found: 1
        }
    ));
    assert_eq!(x.to_vec().unwrap(), [1, 2]);
}

#[test]
fn the_host_copys_storage_is_used_again() {
    let [(device, _), _] = two_gpus();
    let x = ones(2);
    let mut y = Vector::zeros(2);
    let before = y.as_slice().unwrap().as_ptr();
    axpy(3.0, &x, &mut y).over(2).run_on(&device).unwrap();
    assert_eq!(y.as_slice().unwrap().as_ptr(), before);
    axpy(3.0, &x, &mut y).over(2).run_on(&device).unwrap();
    y.fill(1.0).unwrap();
    assert_eq!(y.as_slice().unwrap().as_ptr(), before);
}
