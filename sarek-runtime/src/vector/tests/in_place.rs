//! Tests of devices that work in the vector's own host memory.

use super::*;
use crate::plugin::tag::StorageKind;
use crate::testing::gpu::{GpuBackend, Stats};
use crate::testing::{device, devices};

/// A device that shares the host's memory.
fn unified() -> (Device, std::sync::Arc<Stats>) {
    device(&GpuBackend::with("unified", 9, |info| info.unified = true))
}

fn in_place(elements: Vec<f32>) -> Vector<f32> {
    let vector = Vector::from_vec(elements);
    vector.stored_in(&StorageKind::zero_copy()).unwrap()
}

fn moved(stats: &Stats) -> (usize, usize) {
    (stats.uploads.load(Relaxed), stats.downloads.load(Relaxed))
}

#[test]
fn nothing_is_copied() {
    let (device, stats) = unified();
    let (x, mut y) = (in_place(vec![2.0; 100]), in_place(vec![1.0; 100]));
    let at = y.as_slice().unwrap().as_ptr();
    for round in 1..4 {
        axpy(1.0, &x, &mut y).over(100).run_on(&device).unwrap();
        assert!(!device.stream().is_idle().unwrap());
        assert_eq!(y.get(99).unwrap(), 3.0 * round as f32);
        y.map_in_place(|v| v + round as f32).unwrap();
        axpy(0.5, &x, &mut y).over(99).run_on(&device).unwrap();
        y.set(99, 3.0 * round as f32).unwrap();
        y.fill(3.0 * round as f32).unwrap();
        assert_eq!(y.as_slice().unwrap().as_ptr(), at);
        y.fill(3.0 * round as f32 + 1.0).unwrap();
    }
    assert_eq!(moved(&stats), (0, 0));
    assert_eq!(stats.allocs.load(Relaxed), 0);
    drop((x, y));
    assert_eq!(stats.live.load(Relaxed), 0);
}

#[test]
fn the_host_waits_before_it_writes() {
    let (device, stats) = unified();
    let stream = device.new_stream().unwrap();
    type Write = fn(&mut Vector<f32>);
    let writes: [(&str, Write); 6] = [
        ("set", |x| x.set(0, 9.0).unwrap()),
        ("fill", |x| x.fill(9.0).unwrap()),
        ("write", |x| x.write(0, &[9.0]).unwrap()),
        ("copy_from_slice", |x| x.copy_from_slice(&[9.0; 4]).unwrap()),
        ("copy_from", |x| x.copy_from(0, &ones(1), ..).unwrap()),
        ("a launch on the host", |x| {
            let host = host();
            axpy(1.0, &ones(4), x).over(4).run_on(&host).unwrap();
        }),
    ];
    for (what, write) in writes {
        let (mut x, mut y) = (in_place(vec![2.0; 4]), ones(4));
        axpy(1.0, &x, &mut y).over(4).enqueue(&stream).unwrap();
        write(&mut x);
        assert_eq!(y.to_vec().unwrap(), [3.0; 4], "{what}");
        assert_ne!(x.get(0).unwrap(), 2.0, "{what}");
    }
    let (uploads, _) = moved(&stats);
    assert_eq!(uploads, 6, "those of `y` alone");
}

#[test]
fn what_comes_from_elsewhere_waits_as_well() {
    let gpus = devices(&GpuBackend::of_many("pair", 9, 2, |info| {
        info.unified = true
    }));
    let (mut x, mut y) = (in_place(vec![2.0; 4]), ones(4));
    // The first device still has to read what the second overwrites; the host downloads that
    // result.
    axpy(1.0, &x, &mut y).over(4).run_on(&gpus[0]).unwrap();
    axpy(1.0, &ones(4), &mut x)
        .over(4)
        .run_on(&gpus[1])
        .unwrap();
    assert_eq!(x.to_vec().unwrap(), [3.0; 4]);
    assert_eq!(y.to_vec().unwrap(), [3.0; 4]);
    // The vector returns to its host memory, and moves to the other device again.
    axpy(1.0, &ones(4), &mut x)
        .over(4)
        .run_on(&gpus[0])
        .unwrap();
    axpy(1.0, &ones(4), &mut x)
        .over(4)
        .run_on(&gpus[1])
        .unwrap();
    axpy(1.0, &ones(4), &mut x)
        .over(4)
        .run_on(&gpus[0])
        .unwrap();
    assert_eq!(x.read(1..2).unwrap(), [6.0]);
    assert_eq!(x.into_vec().unwrap(), [6.0; 4]);
}

#[test]
fn borrowed_elements_are_worked_on_where_they_are() {
    let (device, stats) = unified();
    let mut own = vec![1.0f32; 64];
    let at = own.as_ptr();
    let ran = Vector::with_slice_mut(&mut own, |v| {
        v.store_in(&StorageKind::zero_copy())?;
        axpy(2.0, &ones(64), v).over(64).run_on(&device)?;
        assert_eq!(v.as_slice()?.as_ptr(), at);
        // The work is still queued when the closure returns.
        axpy(2.0, &ones(64), v).over(63).run_on(&device)
    });
    ran.unwrap().unwrap();
    assert_eq!((own[0], own[62], own[63]), (5.0, 5.0, 3.0));
    let (_, downloads) = moved(&stats);
    assert_eq!(downloads, 0);
}

#[test]
fn a_vector_that_goes_waits_for_its_work() {
    let (device, _) = unified();
    let (x, mut y) = (in_place(vec![2.0; 4]), ones(4));
    axpy(1.0, &x, &mut y).over(4).run_on(&device).unwrap();
    drop(x);
    assert!(device.stream().is_idle().unwrap());
    assert_eq!(y.to_vec().unwrap(), [3.0; 4]);
    // So does a vector whose storage changes.
    let mut x = in_place(vec![2.0; 4]);
    axpy(1.0, &x, &mut y).over(4).run_on(&device).unwrap();
    x.store_in(&StorageKind::device()).unwrap();
    x.set(0, 0.0).unwrap();
    assert_eq!(y.to_vec().unwrap(), [5.0; 4]);
}

#[test]
fn what_bytes_are_not_is_copied() {
    let (device, stats) = unified();
    let flags = Vector::filled(4, true);
    let flags = flags.stored_in(&StorageKind::zero_copy()).unwrap();
    flags.prefetch(&device.stream()).unwrap();
    assert_eq!(moved(&stats), (1, 0));
    assert_eq!(*crate::sync::lock(&stats.storages), ["zero_copy"]);
    // Shared elements have other readers.
    let shared = Vector::from_shared(vec![1.0f32; 4].into());
    let shared = shared.stored_in(&StorageKind::zero_copy()).unwrap();
    shared.prefetch(&device.stream()).unwrap();
    assert_eq!(moved(&stats), (2, 0));
}
