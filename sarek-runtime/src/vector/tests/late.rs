//! Tests of calls that fail after their work may have been queued.

use super::*;
use crate::device::StreamRef;
use crate::plugin::tag::StorageKind;
use crate::testing::device;
use crate::testing::gpu::{GpuBackend, Stats};

/// A device that shares the host's memory.
fn unified() -> (Device, std::sync::Arc<Stats>) {
    device(&GpuBackend::with("unified", 9, |info| info.unified = true))
}

fn in_place(elements: Vec<f32>) -> Vector<f32> {
    let vector = Vector::from_vec(elements);
    vector.stored_in(&StorageKind::zero_copy()).unwrap()
}

fn is_late<R>(result: Result<R>) -> bool {
    result.is_err_and(|error| error.to_string().contains("failed late"))
}

fn is_idle(stream: StreamRef<'_>) -> bool {
    stream.queue().raw.is_idle().unwrap()
}

#[test]
fn a_launch_is_waited_for_where_it_works_in_the_hosts_memory() {
    let (device, stats) = unified();
    let stream = device.new_stream().unwrap();
    let (x, mut y) = (ones(4), in_place(vec![1.0; 4]));
    x.prefetch(&stream).unwrap();
    stats.late.store(true, Relaxed);
    assert!(is_late(axpy(1.0, &x, &mut y).over(4).enqueue(&stream)));
    stats.late.store(false, Relaxed);
    assert!(is_idle(stream.by_ref()));
    // The launch may or may not have run.
    assert!(is_late(y.as_slice()));
    y.fill(5.0).unwrap();
    axpy(1.0, &x, &mut y).over(4).enqueue(&stream).unwrap();
    assert_eq!(y.to_vec().unwrap(), [6.0; 4]);
}

#[test]
fn after_a_launch_a_vector_holds_what_another_copy_does() {
    let (device, stats) = device(&GpuBackend::new("gpu", 9));
    let (x, mut y, mut z) = (ones(4), ones(4), ones(4));
    for (v, kept) in [(&mut y, true), (&mut z, false)] {
        axpy(1.0, &x, v).over(4).run_on(&device).unwrap();
        if kept {
            assert_eq!(v.get(0).unwrap(), 2.0);
        }
        stats.late.store(true, Relaxed);
        assert!(is_late(axpy(1.0, &x, v).over(4).run_on(&device)));
        stats.late.store(false, Relaxed);
    }
    // The contents of `y` were on the host; those of `z`, which only the device had, are unknown.
    axpy(1.0, &x, &mut y).over(4).run_on(&device).unwrap();
    assert_eq!(y.to_vec().unwrap(), [3.0; 4]);
    assert!(is_late(z.to_vec()));
}

#[test]
fn a_launch_that_a_profile_fails_to_measure_is_known_all_the_same() {
    let (device, stats) = unified();
    let x = ones(4);
    let mut y = in_place(vec![1.0; 4]);
    let measured = device.profile(|| {
        let next = stats.events.load(Relaxed) + 1;
        stats.fail_time.store(next + 1, Relaxed);
        let launched = axpy(1.0, &x, &mut y).over(4).run_on(&device);
        assert!(launched.unwrap_err().to_string().contains("clock"));
        assert!(!is_idle(device.default_stream()));
        assert_eq!(y.to_vec()?, [2.0; 4], "the read waits for the launch");
        Ok(())
    });
    measured.unwrap();
    // The same for a launch that failed on the host.
    let host = host();
    let (short, mut z) = (ones(1), ones(2));
    let (lost, _) = host
        .profile(|| Ok(axpy(1.0, &short, &mut z).over(2).run_on(&host)))
        .unwrap();
    assert!(matches!(lost, Err(Error::Fault(_))) && z.to_vec().is_err());
}

#[test]
fn fills_and_copies_are_waited_for_where_they_work_in_the_hosts_memory() {
    let (device, stats) = unified();
    let stream = device.new_stream().unwrap();
    let default = device.default_stream();
    let (mut x, from) = (in_place(vec![1.0; 4]), ones(4));
    from.prefetch(&device.stream()).unwrap();
    x.prefetch(&device.stream()).unwrap();
    device.sync().unwrap();
    stats.late.store(true, Relaxed);
    assert!(is_late(x.fill_on(&stream, 0.0)));
    assert!(is_idle(stream.by_ref()));
    assert!(x.as_slice().is_ok());
    x.prefetch(&device.stream()).unwrap();
    assert!(is_late(x.copy_from(0, &from, ..2)));
    assert!(is_idle(default));
    assert!(x.as_slice().is_ok());
    stats.late.store(false, Relaxed);
    // In the device's own memory, the host's copy stays valid.
    let mut y = ones(4);
    y.prefetch(&device.stream()).unwrap();
    stats.late.store(true, Relaxed);
    assert!(is_late(y.fill_on(&stream, 0.0)));
    stats.late.store(false, Relaxed);
    let mut z = Vector::zeros(4);
    axpy(1.0, &y, &mut z).over(4).run_on(&device).unwrap();
    assert_eq!(z.to_vec().unwrap(), [1.0; 4]);
}

#[test]
fn memory_is_used_again_behind_work_that_failed_late() {
    let (device, stats) = device(&GpuBackend::new("gpu", 9));
    let stream = device.new_stream().unwrap();
    // Only the device holds it, so nothing is uploaded.
    let mut x = ones(1 << 17);
    axpy(1.0, &ones(1 << 17), &mut x)
        .over(1 << 17)
        .run_on(&device)
        .unwrap();
    device.sync().unwrap();
    let mut copies = Vector::zeros(1 << 17);
    copies.copy_from(0, &x, ..).unwrap();
    device.sync().unwrap();
    stats.late.store(true, Relaxed);
    // It is uploaded on a stream that has not used it before.
    let host = ones(1 << 17);
    assert!(is_late(host.prefetch(&stream)));
    stats.late.store(false, Relaxed);
    assert!(!is_idle(stream.by_ref()));
    drop(host);
    // The next user of the memory waits for the upload to it.
    let mut next = Vector::zeros(1 << 17);
    axpy(3.0, &x, &mut next)
        .over(1 << 17)
        .run_on(&device)
        .unwrap();
    assert_eq!(next.get(7).unwrap(), 6.0);
    assert!(is_idle(stream.by_ref()));
}

#[test]
fn the_host_waits_for_all_users_also_where_one_fails() {
    let (device, stats) = unified();
    let [a, b] = [device.new_stream().unwrap(), device.new_stream().unwrap()];
    let (mut x, mut y, mut z) = (in_place(vec![2.0; 4]), ones(4), ones(4));
    axpy(1.0, &x, &mut y).over(4).enqueue(&a).unwrap();
    axpy(1.0, &x, &mut z).over(4).enqueue(&b).unwrap();
    stats.fail_sync.store(true, Relaxed);
    x.set(0, 9.0).unwrap();
    assert!(!stats.fail_sync.load(Relaxed) && is_idle(a.by_ref()) && is_idle(b.by_ref()));
    assert_eq!(z.to_vec().unwrap(), [3.0; 4]);
}
