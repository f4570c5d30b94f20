//! Tests of streams, events, and faults on them.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::device::fault_records::Record;
use crate::device::{Pending, SideBuffers};
use crate::fault_decode::Sites;
use crate::sync::lock;

use crate::testing::gpu::GpuBackend;
use crate::testing::kernels::axpy_call as axpy;
use crate::testing::{device, devices, host, two_gpus};
use crate::{Device, Error, Stream, Vector};

fn gpu() -> Device {
    device(&GpuBackend::new("gpu", 9)).0
}

fn ones(len: usize) -> Vector<f32> {
    Vector::filled(len, 1.0)
}

/// Queues a launch that reads past the end of `x`.
fn fault(stream: &Stream) -> Vector<f32> {
    let (x, mut y) = (ones(1), ones(2));
    axpy(1.0, &x, &mut y).over(2).enqueue(stream).unwrap();
    y
}

#[test]
fn time_passes_between_events() {
    for device in [gpu(), host()] {
        let stream = device.new_stream().unwrap();
        let (x, mut y) = (ones(4), ones(4));
        let start = stream.record().unwrap();
        let end = axpy(1.0, &x, &mut y).over(4).enqueue(&stream).unwrap();
        let took = end.elapsed(&start).unwrap();
        assert!(took < Duration::from_secs(60));
        assert_eq!(
            start.elapsed(&end).unwrap(),
            Duration::ZERO,
            "never negative"
        );
        let later = stream.record().unwrap();
        assert!(later.elapsed(&start).unwrap() >= took);
    }
}

#[test]
fn time_between_devices_is_an_error() {
    let [(one, _), (two, _)] = two_gpus();
    let (a, b) = (
        one.stream().record().unwrap(),
        two.stream().record().unwrap(),
    );
    let error = a.elapsed(&b).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
}

#[test]
fn all_work_is_that_of_all_streams() {
    let device = gpu();
    let [a, b] = [device.new_stream().unwrap(), device.new_stream().unwrap()];
    let x = ones(4);
    let [mut y, mut z] = [ones(4), ones(4)];
    axpy(1.0, &x, &mut y).over(4).enqueue(&a).unwrap();
    axpy(1.0, &x, &mut z).over(4).enqueue(&b).unwrap();
    let all = device.record_all().unwrap();
    assert!(!all.is_done().unwrap() && !device.is_idle().unwrap());
    all.sync().unwrap();
    assert!(all.is_done().unwrap() && device.is_idle().unwrap());
    assert!(a.is_idle().unwrap() && b.is_idle().unwrap());
}

#[test]
fn an_event_orders_streams() {
    let device = gpu();
    let [a, b] = [device.new_stream().unwrap(), device.new_stream().unwrap()];
    let (x, mut y) = (ones(4), ones(4));
    let first = axpy(1.0, &x, &mut y).over(4).enqueue(&a).unwrap();
    b.wait(&first).unwrap();
    assert!(!first.is_done().unwrap());
    b.sync().unwrap();
    assert!(first.is_done().unwrap(), "`b` waited for it");
}

#[test]
fn streams_of_several_devices_wait_for_each_other() {
    let gpus = devices(&GpuBackend::of_many("gpu", 9, 2, |_| ()));
    let [a, b] = [0, 1].map(|i: usize| gpus[i].new_stream().unwrap());
    let x = ones(4);
    let mut y = ones(4);
    // Read after write, write after read and write after write, between two devices.
    axpy(1.0, &x, &mut y).over(4).enqueue(&a).unwrap();
    let mut z = ones(4);
    axpy(1.0, &y, &mut z).over(4).enqueue(&b).unwrap();
    axpy(10.0, &x, &mut y).over(4).enqueue(&a).unwrap();
    axpy(100.0, &y, &mut z).over(4).enqueue(&b).unwrap();
    assert_eq!(z.to_vec().unwrap(), [1203.0; 4]);
    assert_eq!(y.to_vec().unwrap(), [12.0; 4]);
}

#[test]
fn a_fault_loses_what_follows_on_its_stream_and_is_delivered_once() {
    let device = gpu();
    let [stream, other] = [device.new_stream().unwrap(), device.new_stream().unwrap()];
    let (x, mut z, mut w) = (ones(4), ones(4), ones(4));
    let y = fault(&stream);
    let after = axpy(1.0, &x, &mut z).over(4).enqueue(&stream).unwrap();
    axpy(1.0, &x, &mut w).over(4).enqueue(&other).unwrap();
    assert!(after.sync().is_err(), "the event behind it tells");
    after.sync().unwrap();
    stream.sync().unwrap();
    device.sync().unwrap();
    // The vectors keep the fault until they are rewritten; other streams are not affected.
    assert!(y.to_vec().is_err() && z.to_vec().is_err());
    assert_eq!(w.to_vec().unwrap(), [2.0; 4]);
    z.fill(1.0).unwrap();
    axpy(1.0, &x, &mut z).over(4).enqueue(&stream).unwrap();
    assert_eq!(z.to_vec().unwrap(), [2.0; 4]);
    stream.sync().unwrap();
}

#[test]
fn a_known_fault_is_told_by_the_next_launch() {
    let device = gpu();
    let stream = device.new_stream().unwrap();
    let (x, mut z, mut short) = (ones(4), ones(4), ones(5));
    let y = fault(&stream);
    // Another fault on the stream: the first one counts. From here on it is known, though not yet
    // reported.
    axpy(1.0, &x, &mut short).over(5).enqueue(&stream).unwrap();
    stream.queue().bound_log().unwrap();
    drop(y);
    let clone = short.clone();
    let (Err(Error::Fault(fault)), Err(Error::Fault(same))) = (short.to_vec(), clone.to_vec())
    else {
        panic!("`short` was lost");
    };
    assert_eq!(
        (fault.thread, same.thread),
        ([1, 0, 0], [1, 0, 0]),
        "the first error"
    );
    let y = self::fault(&stream);
    stream.queue().resolve_all().unwrap();
    let launch = axpy(1.0, &x, &mut z).over(4).enqueue(&stream);
    assert!(matches!(launch, Err(Error::Fault(_))), "{launch:?}");
    axpy(1.0, &x, &mut z).over(4).enqueue(&stream).unwrap();
    assert_eq!(z.to_vec().unwrap(), [2.0; 4]);
    assert!(y.to_vec().is_err());
    device.sync().unwrap();
}

#[test]
fn on_the_default_stream_a_fault_concerns_its_vectors_alone() {
    let device = gpu();
    let stream = device.stream();
    let y = fault(&stream);
    let (x, mut z) = (ones(4), ones(4));
    axpy(1.0, &x, &mut z).over(4).enqueue(&stream).unwrap();
    assert_eq!(z.to_vec().unwrap(), [2.0; 4]);
    axpy(1.0, &x, &mut z).over(4).run_on(&device).unwrap();
    assert_eq!(z.to_vec().unwrap(), [3.0; 4]);
    assert!(device.sync().is_err() && y.to_vec().is_err());
    device.sync().unwrap();
}

#[test]
fn a_read_waits_for_its_own_writer() {
    let (device, _) = device(&GpuBackend::new("gpu", 9));
    let [a, b] = [device.new_stream().unwrap(), device.new_stream().unwrap()];
    let x = ones(4);
    let [mut y, mut z, mut w] = [ones(4), ones(4), ones(4)];
    axpy(1.0, &x, &mut y).over(4).enqueue(&a).unwrap();
    let behind = axpy(1.0, &x, &mut w).over(4).enqueue(&a).unwrap();
    let elsewhere = axpy(1.0, &x, &mut z).over(4).enqueue(&b).unwrap();
    assert_eq!(y.to_vec().unwrap(), [2.0; 4]);
    assert!(!elsewhere.is_done().unwrap(), "another stream");
    assert!(!behind.is_done().unwrap(), "later work of the same stream");
    assert_eq!(w.to_vec().unwrap(), [2.0; 4]);
    assert!(behind.is_done().unwrap());
}

#[test]
fn a_lost_device_tells_so_and_hurts_no_other() {
    let [(one, stats), (two, _)] = two_gpus();
    let x = ones(4);
    let [mut y, mut z] = [ones(4), ones(4)];
    axpy(1.0, &x, &mut y).over(4).run_on(&one).unwrap();
    axpy(1.0, &x, &mut z).over(4).run_on(&one).unwrap();
    assert_eq!(z.to_vec().unwrap(), [2.0; 4]);
    stats.lost.store(true, Relaxed);
    let lost = |error| matches!(error, Error::Device { .. });
    assert!(lost(y.to_vec().unwrap_err()));
    assert!(lost(
        axpy(1.0, &x, &mut z).over(4).run_on(&one).unwrap_err()
    ));
    assert!(lost(one.sync().unwrap_err()) && lost(one.stream().sync().unwrap_err()));
    // The host's copies are not lost, and a rewritten vector is readable again.
    axpy(1.0, &x, &mut z).over(4).run_on(&two).unwrap();
    assert_eq!(z.to_vec().unwrap(), [3.0; 4]);
    y.fill(0.0).unwrap();
    axpy(1.0, &x, &mut y).over(4).run_on(&two).unwrap();
    assert_eq!(y.to_vec().unwrap(), [1.0; 4]);
}

#[test]
fn lines_of_a_launch_are_printed_whoever_learned_its_outcome() {
    let (device, stats) = device(&GpuBackend::new("gpu", 9));
    let stream = device.new_stream().unwrap();
    let lost = fault(&stream);
    // While the fault is read, a launch that prints is queued after it.
    let queue = stream.queue().clone();
    let output = queue.output(&device).unwrap();
    let queued = Arc::new(Mutex::new(None));
    let tell = queued.clone();
    *lock(&stats.meanwhile) = Some(Box::new(move || {
        let side_buffers = SideBuffers {
            faults: None,
            output: Some(output),
        };
        let sites = Sites {
            kernel: Arc::new(sarek_ir::Kernel::new("says")),
            lens: Arc::default(),
            shared: Arc::default(),
        };
        *lock(&tell) = Some(queue.watch(side_buffers, sites, &mut Vec::new()));
    }));
    assert!(matches!(lost.to_vec(), Err(Error::Fault(_))));
    let behind: Pending = lock(&queued).take().unwrap();
    assert!(matches!(behind.known(), Some(Err(_))), "it is lost as well");
    let before = stats.downloads.load(Relaxed);
    assert!(behind.outcome().is_err());
    let read = || stats.downloads.load(Relaxed) - before;
    assert_eq!(read(), 1, "its lines were read");
    assert!(behind.outcome().is_err());
    assert_eq!(read(), 1, "once");
}

#[test]
fn memory_is_used_again_behind_those_who_used_it() {
    let device = gpu();
    let [a, b] = [device.new_stream().unwrap(), device.new_stream().unwrap()];
    let (x, mut y) = (ones(1 << 18), ones(1 << 18));
    x.prefetch(&b).unwrap();
    axpy(1.0, &x, &mut y).over(4).enqueue(&a).unwrap();
    drop(y);
    assert!(!a.is_idle().unwrap());
    ones(1 << 18).prefetch(&b).unwrap();
    b.sync().unwrap();
    assert!(a.is_idle().unwrap(), "its memory has a new owner");
}

#[test]
fn memory_keeps_few_streams_that_are_idle() {
    let device = gpu();
    let x = ones(8);
    let use_ = |stream: &Stream| {
        let mut y = ones(8);
        axpy(1.0, &x, &mut y).over(4).enqueue(stream).unwrap();
        drop(y);
        assert!(!stream.is_idle().unwrap());
    };
    let streams: Vec<_> = (0..20).map(|_| device.new_stream().unwrap()).collect();
    streams.iter().for_each(use_);
    let queues: Vec<_> = streams.iter().map(|s| Arc::downgrade(s.queue())).collect();
    let kept = || queues.iter().filter(|q| q.strong_count() > 0).count();
    device.sync().unwrap();
    drop(streams);
    assert_eq!(kept(), 20, "the memory had work queued");
    use_(&device.new_stream().unwrap());
    // Making another stream drops the streams that are no longer used.
    device.new_stream().unwrap();
    assert_eq!(kept(), 1, "the one that wrote `x`");
}

#[test]
fn a_record_that_is_never_read_is_no_good_outcome() {
    let device = gpu();
    let queue = device.stream().queue().clone();
    let slot = queue.fault_record(&device).unwrap();
    let sites = Sites {
        kernel: Arc::new(sarek_ir::Kernel::new("lost")),
        lens: Arc::default(),
        shared: Arc::default(),
    };
    // The stream does not know of the launch, so that it reads no record for it.
    let record = Arc::new(Record::new(Some(slot), vec![], false, sites));
    let outcome = Pending::new(queue, record).outcome();
    let Err(Error::Device { device, message }) = outcome else {
        panic!("{outcome:?}");
    };
    assert!(device.contains("`lost`") && message.contains("launch it again"));
}
