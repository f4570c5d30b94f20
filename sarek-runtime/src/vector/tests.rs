mod in_place;
mod late;

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
    // From here on the host copy of `y` is stale, and so is the copy of `y` that `two` holds.
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
    // `x` and the written vector are uploaded once each; nothing is downloaded before it is read.
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
    // The device's copy is still valid next to the host's.
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
    // Read after write, then write after read and write after write.
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
    // One event is the returned one; the event of `y`'s writer exists already.
    assert_eq!(events, [1, 1, 1]);
    axpy(1.0, &x, &mut y).over(4).run_on(&device).unwrap();
    let mut z = ones(4);
    axpy(1.0, &y, &mut z).over(4).run_on(&device).unwrap();
    let before = stats.events.load(Relaxed);
    for _ in 0..3 {
        axpy(1.0, &y, &mut z).over(4).run_on(&device).unwrap();
    }
    assert_eq!(stats.events.load(Relaxed), before, "one stream is in order");
    let mut w = ones(4);
    axpy(1.0, &x, &mut w).over(4).enqueue(&b).unwrap();
    let before = stats.events.load(Relaxed);
    axpy(1.0, &y, &mut w).over(4).enqueue(&b).unwrap();
    assert_eq!(
        stats.events.load(Relaxed) - before,
        2,
        "the event returned, and one behind what was run"
    );
}

#[test]
fn empty_vectors_are_vectors() {
    let [(device, stats), _] = two_gpus();
    let x = Vector::zeros(0);
    let mut y = ones(1);
    // Threads run, and every index is out of bounds.
    axpy(1.0, &x, &mut y).over(1).run_on(&device).unwrap();
    assert!(y.to_vec().is_err());
    assert_eq!(stats.launches.load(Relaxed), 1);
    let mut empty = Vector::<f32>::default();
    axpy(1.0, &x, &mut empty).over(0).run_on(&device).unwrap();
    assert!(empty.to_vec().unwrap().is_empty());
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

#[test]
fn ranges_are_read_and_written_where_the_vector_is() {
    let [(device, stats), _] = two_gpus();
    let x = ones(100);
    let mut y = Vector::from_vec((0..100).map(|i| i as f32).collect());
    assert_eq!(y.read(3..5).unwrap(), [3.0, 4.0]);
    y.write(10, &[-10.0]).unwrap();
    axpy(1.0, &x, &mut y).over(100).run_on(&device).unwrap();
    assert_eq!(y.read(9..=11).unwrap(), [10.0, -9.0, 12.0]);
    y.write(98, &[7.0, 8.0]).unwrap();
    // The other elements stay on the device, where the next launch uses them.
    axpy(1.0, &x, &mut y).over(100).run_on(&device).unwrap();
    assert_eq!(stats.uploads.load(Relaxed), 3);
    let mut due: Vec<f32> = (0..100).map(|i| i as f32 + 2.0).collect();
    (due[10], due[98], due[99]) = (-8.0, 8.0, 9.0);
    assert_eq!(y.to_vec().unwrap(), due);
    let mut two = [0.0; 2];
    y.read_into(98, &mut two).unwrap();
    assert_eq!(two, [8.0, 9.0]);
    assert_eq!(y.read(..).unwrap().len(), 100);
    assert!(y.read(100..).unwrap().is_empty());
}

#[test]
fn ranges_are_checked() {
    let mut x = ones(4);
    let [a, b] = [ones(3), ones(0)];
    let bad = |error: Error| matches!(error, Error::Range { len: 4, .. });
    assert!(bad(x.read(3..5).unwrap_err()));
    #[allow(clippy::reversed_empty_ranges)]
    let reversed = x.read(3..2);
    assert!(bad(reversed.unwrap_err()));
    assert!(bad(x.read(..=usize::MAX).unwrap_err()));
    assert!(bad(x.write(usize::MAX, &[1.0, 2.0]).unwrap_err()));
    assert!(bad(x.copy_from(2, &a, ..).unwrap_err()));
    assert!(bad(x.part_mut(4..5).map(drop).unwrap_err()));
    assert!(x.copy_from(0, &a, 3..4).is_err() && x.copy_from(0, &b, 0..1).is_err());
    x.copy_from(4, &b, ..).unwrap();
    assert_eq!(x.to_vec().unwrap(), [1.0; 4]);
}

#[test]
fn copies_between_vectors_stay_on_the_device() {
    let [(device, stats), _] = two_gpus();
    let x = ones(8);
    let [mut y, mut z] = [Vector::zeros(8), Vector::zeros(8)];
    axpy(2.0, &x, &mut y).over(8).run_on(&device).unwrap();
    axpy(3.0, &x, &mut z).over(8).run_on(&device).unwrap();
    z.copy_from(1, &y, 4..7).unwrap();
    assert_eq!(
        (stats.copies.load(Relaxed), stats.downloads.load(Relaxed)),
        (1, 0)
    );
    // The copy is ordered with other work on both vectors.
    axpy(5.0, &x, &mut y).over(8).run_on(&device).unwrap();
    let mut due = [3.0; 8];
    due[1..4].fill(2.0);
    assert_eq!(z.to_vec().unwrap(), due);
    // The same for a clone, a complete overwrite, and a part.
    let mut w = ones(8);
    w.copy_from(0, &y, ..).unwrap();
    assert_eq!((w.devices(), stats.copies.load(Relaxed)), (vec![device], 2));
    assert_eq!(w.to_vec().unwrap(), [7.0; 8]);
}

#[test]
fn copies_between_places() {
    let gpus = crate::testing::devices(&crate::testing::gpu::GpuBackend::of_many(
        "gpu",
        9,
        2,
        |_| (),
    ));
    let [(foreign, _), _] = two_gpus();
    let on = |device: &Device, value: f32| {
        let mut v = Vector::zeros(4);
        axpy(value, &ones(4), &mut v)
            .over(4)
            .run_on(device)
            .unwrap();
        v
    };
    let places = [Some(&gpus[0]), Some(&gpus[1]), Some(&foreign), None];
    for (from, to) in places
        .iter()
        .flat_map(|f| places.iter().map(move |t| (f, t)))
    {
        let source = from.map_or_else(|| Vector::filled(4, 5.0), |d| on(d, 5.0));
        let mut target = to.map_or_else(|| Vector::filled(4, 6.0), |d| on(d, 6.0));
        target.copy_from(3, &source, 0..1).unwrap();
        target.copy_from(0, &source, 2..4).unwrap();
        assert_eq!(
            target.to_vec().unwrap(),
            [5.0, 5.0, 6.0, 5.0],
            "{from:?} to {to:?}"
        );
        assert_eq!(source.to_vec().unwrap(), [5.0; 4]);
        // A vector that is overwritten completely stays on the device of its source.
        target.copy_from(0, &source, ..).unwrap();
        if let Some(from) = from {
            assert_eq!(target.devices(), [to.unwrap_or(from).clone()]);
        }
        assert_eq!(target.to_vec().unwrap(), [5.0; 4]);
    }
}

#[test]
fn parts_are_vectors_and_are_put_back() {
    let [(one, stats), (two, _)] = two_gpus();
    let x = ones(10);
    let mut y = Vector::zeros(10);
    axpy(1.0, &x, &mut y).over(10).run_on(&one).unwrap();
    {
        let mut parts = y.parts_mut(3).unwrap();
        assert_eq!(parts.iter().map(Vector::len).collect::<Vec<_>>(), [4, 3, 3]);
        for (part, device) in parts.iter_mut().zip([&one, &two, &host()]) {
            let n = part.len();
            let value = n as f32 + device.priority() as f32;
            axpy(value, &x, part).over(n).run_on(device).unwrap();
        }
    }
    let due = [[105.0; 4].as_slice(), &[94.0; 3], &[54.0; 3]].concat();
    assert_eq!(y.to_vec().unwrap(), due);
    {
        let mut part = y.part_mut(2..5).unwrap();
        axpy(1.0, &x, &mut part).over(3).run_on(&one).unwrap();
        part.set(0, -1.0).unwrap();
    }
    assert_eq!(y.read(1..6).unwrap(), [105.0, -1.0, 106.0, 95.0, 94.0]);
    let part = y.part(8..).unwrap();
    let mut sum = Vector::zeros(2);
    axpy(1.0, &part, &mut sum).over(2).run_on(&one).unwrap();
    assert_eq!(sum.to_vec().unwrap(), [54.0; 2]);
    // On a single device nothing goes through the host.
    axpy(0.0, &x, &mut y).over(10).run_on(&one).unwrap();
    let before = (stats.uploads.load(Relaxed), stats.downloads.load(Relaxed));
    let mut part = y.part_mut(2..5).unwrap();
    axpy(1.0, &sum, &mut part).over(2).run_on(&one).unwrap();
    drop(part);
    assert_eq!(
        (stats.uploads.load(Relaxed), stats.downloads.load(Relaxed)),
        before
    );
    assert_eq!(y.read(2..4).unwrap(), [53.0, 160.0]);
}

#[test]
fn partition_and_gather_are_inverse() {
    let x: Vector<u32> = (0..11).collect();
    for count in 1..13 {
        let parts = x.partition(count).unwrap();
        assert_eq!(parts.len(), count);
        let lens: Vec<usize> = parts.iter().map(Vector::len).collect();
        assert!(lens.is_sorted_by(|a, b| a >= b) && lens[0] - lens[count - 1] <= 1);
        assert_eq!(
            Vector::gather(&parts).unwrap().to_vec().unwrap(),
            x.to_vec().unwrap()
        );
    }
    assert!(x.partition(0).unwrap().is_empty());
    assert!(Vector::<u32>::gather([]).unwrap().is_empty());
    let [(device, stats), _] = two_gpus();
    let mut y = ones(6);
    axpy(1.0, &ones(6), &mut y).over(6).run_on(&device).unwrap();
    let whole = Vector::gather(&y.partition(4).unwrap()).unwrap();
    assert_eq!(
        (whole.devices(), stats.downloads.load(Relaxed)),
        (vec![device], 0)
    );
    assert_eq!(whole.to_vec().unwrap(), [2.0; 6]);
    assert_eq!(x.sub_vector(3..5).unwrap().to_vec().unwrap(), [3, 4]);
}

#[test]
fn a_fault_in_a_part_is_one_of_the_whole() {
    let [(device, _), _] = two_gpus();
    let mut y = ones(10);
    let mut part = y.part_mut(0..5).unwrap();
    axpy(1.0, &ones(2), &mut part)
        .over(5)
        .run_on(&device)
        .unwrap();
    drop(part);
    assert!(matches!(y.to_vec(), Err(Error::Fault(_))));
    assert!(matches!(y.read(7..8), Err(Error::Fault(_))));
    assert!(y.sub_vector(7..8).is_err() && y.write(0, &[1.0]).is_err());
    y.copy_from(0, &ones(10), ..).unwrap();
    assert_eq!(y.to_vec().unwrap(), [1.0; 10], "all of it was rewritten");
}

#[test]
fn fills_stand_in_the_order_of_their_stream() {
    let [(device, stats), _] = two_gpus();
    let stream = device.new_stream().unwrap();
    let x = ones(4);
    let [mut y, mut z] = [ones(4), ones(4)];
    axpy(1.0, &x, &mut y).over(4).enqueue(&stream).unwrap();
    axpy(1.0, &y, &mut z).over(4).enqueue(&stream).unwrap();
    let uploads = stats.uploads.load(Relaxed);
    y.fill_on(&stream, 0.0).unwrap();
    axpy(1.0, &x, &mut y).over(4).enqueue(&stream).unwrap();
    assert_eq!(stats.uploads.load(Relaxed), uploads, "zeros are made there");
    assert_eq!(z.to_vec().unwrap(), [3.0; 4], "read before the fill");
    assert_eq!(y.to_vec().unwrap(), [1.0; 4]);
    y.fill_on(&stream, 2.5).unwrap();
    axpy(1.0, &x, &mut y).over(2).enqueue(&stream).unwrap();
    assert_eq!(y.to_vec().unwrap(), [3.5, 3.5, 2.5, 2.5]);
    z.fill_on(&host().stream(), 1.0).unwrap();
    assert_eq!(z.to_vec().unwrap(), [1.0; 4]);
    // Dirty memory from another vector is filled as well.
    drop(y);
    let mut clean = Vector::<f32>::filled(4, 9.0);
    clean.fill_on(&stream, 0.0).unwrap();
    assert_eq!(clean.to_vec().unwrap(), [0.0; 4]);
}

#[test]
fn prefetched_vectors_are_not_uploaded_again() {
    let [(device, stats), _] = two_gpus();
    let x = ones(4);
    x.prefetch(&device.stream()).unwrap();
    assert_eq!(
        (x.devices(), stats.uploads.load(Relaxed)),
        (vec![device.clone()], 1)
    );
    axpy(1.0, &x, &mut ones(4)).over(4).run_on(&device).unwrap();
    assert_eq!(stats.uploads.load(Relaxed), 2);
}

#[test]
fn the_host_maps_and_iterates() {
    let mut x: Vector<i32> = (1..4).collect();
    assert_eq!(x.iter().unwrap().sum::<i32>(), 6);
    x.iter_mut().unwrap().for_each(|v| *v *= 2);
    x.map_in_place(|v| v + 1).unwrap();
    assert_eq!(x.map(f64::from).unwrap().to_vec().unwrap(), [3.0, 5.0, 7.0]);
}
