//! Tests of device memory: placement, reuse, accounting, and running out of it.

use std::sync::atomic::Ordering::Relaxed;

use crate::device::{Block, Purpose};
use crate::plugin::claims::CopyAction;
use crate::plugin::tag::{self, StorageKind};
use crate::sync::lock;
use crate::testing::gpu::GpuBackend;
use crate::testing::kernels::axpy_call as axpy;
use crate::testing::{device, devices};
use crate::{Device, Error, MemoryUse, Vector};

fn gpu() -> Device {
    device(&GpuBackend::new("gpu", 9)).0
}

fn place(block: &Block) -> (*const u8, usize) {
    let slice = block.slice();
    (std::sync::Arc::as_ptr(&slice.mem).cast(), slice.offset)
}

#[test]
fn small_blocks_are_parts_of_slabs() {
    let (device, stats) = device(&GpuBackend::new("gpu", 9));
    let blocks: Vec<Block> = (1..=8)
        .map(|i| device.block(100 * i, Purpose::Working, None, None).unwrap())
        .collect();
    assert_eq!(stats.allocs.load(Relaxed), 1);
    let offsets: Vec<usize> = blocks.iter().map(|b| b.slice().offset).collect();
    assert!(offsets.iter().all(|offset| offset.is_multiple_of(256)));
    assert_eq!(offsets, [0, 256, 512, 1024, 1536, 2048, 2816, 3584]);
    let constant = device.block(100, Purpose::Constant, None, None).unwrap();
    assert_ne!(
        place(&constant).0,
        place(&blocks[0]).0,
        "constants are apart"
    );
    let large = device.block(1 << 20, Purpose::Working, None, None).unwrap();
    assert_eq!((large.slice().offset, large.slice().len), (0, 1 << 20));
    assert_eq!(stats.allocs.load(Relaxed), 3);
}

#[test]
fn the_same_history_gives_the_same_places() {
    let history = || {
        let device = gpu();
        let mut kept = Vec::new();
        let mut offsets = Vec::new();
        for i in 0..200usize {
            let block = device
                .block(1 + i * 7919 % 5000, Purpose::Working, None, None)
                .unwrap();
            offsets.push(block.slice().offset);
            kept.push(block);
            if i % 3 == 0 {
                kept.swap_remove(i * 31 % kept.len());
            }
        }
        offsets
    };
    assert_eq!(history(), history());
}

#[test]
fn what_is_freed_is_used_again_and_joined() {
    let device = gpu();
    let [a, b, c] = [(); 3].map(|()| device.block(1000, Purpose::Working, None, None).unwrap());
    let (first, second) = (place(&a), place(&b));
    drop(b);
    drop(a);
    // The two free parts were merged.
    let large = device.block(2048, Purpose::Working, None, None).unwrap();
    assert_eq!(place(&large), first);
    drop(large);
    assert_eq!(
        place(&device.block(300, Purpose::Working, None, None).unwrap()),
        first
    );
    drop(c);
    let whole = device
        .block(256 << 10, Purpose::Working, None, None)
        .unwrap();
    assert_eq!(place(&whole), first);
    assert_eq!(second.1, 1024);
}

#[test]
fn memory_is_counted() {
    let (device, stats) = device(&GpuBackend::new("gpu", 9));
    assert_eq!(device.memory_use(), MemoryUse::default());
    let large = 1 << 20;
    let a = device.block(large, Purpose::Working, None, None).unwrap();
    let b = device.block(large, Purpose::Working, None, None).unwrap();
    drop(a);
    let bytes = large as u64;
    let is = |used: u64, peak: u64, reserved: u64| MemoryUse {
        used,
        peak,
        reserved,
    };
    assert_eq!(device.memory_use(), is(bytes, 2 * bytes, 2 * bytes));
    assert_eq!(device.trim().unwrap(), bytes);
    assert_eq!(device.memory_use(), is(bytes, 2 * bytes, bytes));
    assert_eq!(stats.live.load(Relaxed), large);
    drop(b);
    device.trim().unwrap();
    assert_eq!(stats.live.load(Relaxed), 0);
}

#[test]
fn a_vectors_memory_is_free_after_its_last_use() {
    let device = gpu();
    let [a, b] = [device.new_stream().unwrap(), device.new_stream().unwrap()];
    let n = 1 << 18;
    let x = Vector::filled(n, 1.0f32);
    let mut sums = Vec::new();
    for round in 0..4 {
        // The memory of the last round's vectors is reused while their work is still queued on
        // another stream.
        let mut y = Vector::filled(n, round as f32);
        let mut z = Vector::filled(n, 0.0f32);
        let stream = if round % 2 == 0 { &a } else { &b };
        axpy(1.0, &x, &mut y).over(n).enqueue(stream).unwrap();
        axpy(1.0, &y, &mut z).over(n).enqueue(stream).unwrap();
        drop(y);
        sums.push(z);
    }
    // The last stream first: it has to wait for the other one where both use the same memory.
    for (round, z) in sums.iter().enumerate().rev() {
        assert_eq!(z.read(n - 1..).unwrap(), [round as f32 + 1.0], "{round}");
    }
    assert_eq!(device.memory_use().used, 5 << 20);
    assert_eq!(
        device.memory_use().reserved,
        6 << 20,
        "one `y` served all rounds"
    );
}

#[test]
fn what_another_device_still_copies_from_is_not_given_back() {
    let gpus = devices(&GpuBackend::of_many("gpu", 9, 2, |_| ()));
    let other = gpus[1].new_stream().unwrap();
    let n = 1 << 18;
    let (x, mut y) = (Vector::filled(n, 1.0f32), Vector::filled(n, 2.0f32));
    axpy(1.0, &x, &mut y).over(n).run_on(&gpus[0]).unwrap();
    let mut z = Vector::filled(n, 0.0f32);
    axpy(1.0, &y, &mut z).over(n).enqueue(&other).unwrap();
    drop(y);
    assert!(!other.is_idle().unwrap());
    assert_eq!(gpus[0].trim().unwrap(), 1 << 20);
    assert!(other.is_idle().unwrap(), "it was waited for");
    assert_eq!(z.read(n - 1..).unwrap(), [3.0]);
}

#[test]
fn what_is_kept_is_given_back_before_memory_is_said_to_be_out() {
    let (device, stats) = device(&GpuBackend::new("gpu", 9));
    stats.capacity.store(3 << 20, Relaxed);
    let mut y = Vector::<f32>::zeros(1 << 19);
    let x = Vector::<f32>::zeros(1 << 18);
    axpy(1.0, &x, &mut y).over(1 << 18).run_on(&device).unwrap();
    drop((x, y));
    // The pool keeps 3 MiB in two buffers, neither of which is large enough.
    let (x, mut y) = (Vector::<f32>::zeros(1), Vector::<f32>::filled(5 << 17, 2.0));
    axpy(1.0, &x, &mut y).over(1).run_on(&device).unwrap();
    assert_eq!(y.read(5..6).unwrap(), [2.0]);
    let mut z = Vector::<f32>::zeros(1 << 20);
    let error = axpy(1.0, &x, &mut z).over(1).run_on(&device).unwrap_err();
    let asked = |bytes| matches!(error, Error::OutOfMemory { bytes: asked, .. } if asked == bytes);
    assert!(asked(4 << 20), "{error}");
    // No vector is lost, and the device still works.
    assert_eq!(z.to_vec().unwrap(), vec![0.0; 1 << 20]);
    axpy(1.0, &x, &mut y).over(1).run_on(&device).unwrap();
    drop(y);
}

/// A program that allocates in every way that a device offers; returns its result.
fn program(device: &Device) -> crate::Result<Vec<f32>> {
    let stream = device.new_stream()?;
    let x = Vector::filled(8, 1.0);
    let mut y = Vector::zeros(8);
    axpy(1.0, &x, &mut y).over(8).enqueue(&stream)?;
    let mut lost = Vector::zeros(9);
    axpy(1.0, &x, &mut lost).over(9).run_on(device)?;
    assert!(matches!(lost.to_vec(), Err(Error::Fault(_))));
    let mut large = Vector::filled(1 << 18, 1.0);
    axpy(1.0, &y, &mut large).over(8).enqueue(&stream)?;
    let mut parts = large.parts_mut(2)?;
    let mut z = Vector::zeros(8);
    z.fill_on(&stream, 0.0)?;
    axpy(1.0, &x, &mut parts[1]).over(8).run_on(device)?;
    drop(parts);
    axpy(1.0, &large, &mut z).over(8).run_on(device)?;
    let mut recording = device.record_graph();
    let mut filled = Vector::zeros(8);
    recording.fill(&mut filled, 1.0)?;
    recording.launch(axpy(1.0, &filled, &mut lost).over(9))?;
    let graph = recording.finish();
    lost.fill(0.0)?;
    graph.replay((&mut filled, &mut lost))?;
    assert!(matches!(filled.to_vec(), Err(Error::Fault(_))));
    let mut whole = Vector::gather([&z, &y])?.to_vec()?;
    whole.extend(large.read(1 << 17..(1 << 17) + 1)?);
    Ok(whole)
}

#[test]
fn every_allocation_may_fail() {
    let mut failed = 0;
    for first in 1.. {
        let (device, stats) = device(&GpuBackend::with("gpu", 9, |info| {
            info.slabs = first % 2 == 0
        }));
        stats.fail_from.store(first, Relaxed);
        let tried = program(&device);
        stats.fail_from.store(0, Relaxed);
        let due: Vec<f32> = [[2.0; 8], [1.0; 8]]
            .concat()
            .into_iter()
            .chain([2.0])
            .collect();
        // After any failure, the device still works and keeps no memory.
        assert_eq!(program(&device).unwrap(), due);
        let Err(error) = tried else {
            assert_eq!(tried.unwrap(), due);
            // No allocation failed, neither with slabs nor without.
            if failed == first - 2 {
                break;
            }
            continue;
        };
        assert!(
            matches!(error, Error::OutOfMemory { .. }),
            "{first}: {error}"
        );
        failed = first;
        device.trim().unwrap();
        assert_eq!(device.memory_use().used, 0, "allocation {first}");
    }
    assert!(failed >= 6, "{failed}");
}

#[test]
fn memory_of_other_storage_is_the_backends_to_give() {
    let backend = GpuBackend::new("banked", 9);
    let unknown: tag::Tag<StorageKind> = tag::lookup("memory/bank");
    backend.claim(move |claims| {
        claims.storage(unknown.clone());
    });
    let bank: tag::Tag<StorageKind> = tag::register("memory/bank").unwrap();
    let (device, stats) = device(&backend);
    let other = gpu();
    let x = Vector::filled(4, 1.0);
    let mut y = Vector::zeros(4).stored_in(&bank).unwrap();
    let error = axpy(1.0, &x, &mut y).over(4).run_on(&device).unwrap_err();
    assert!(
        matches!(error, Error::NotEligible { .. }),
        "the tag was unknown then: {error}"
    );
    let backend = GpuBackend::new("banked", 9);
    let claimed = bank.clone();
    backend.claim(move |claims| {
        claims.storage(claimed.clone());
    });
    let (device, later) = crate::testing::device(&backend);
    axpy(1.0, &x, &mut y).over(4).run_on(&device).unwrap();
    assert_eq!(*crate::sync::lock(&later.storages), ["memory/bank"]);
    assert!(stats.storages.lock().unwrap().is_empty());
    assert_eq!(y.to_vec().unwrap(), [1.0; 4]);
    let error = axpy(1.0, &x, &mut y).over(4).run_on(&other).unwrap_err();
    assert!(
        error.to_string().contains("the storage `memory/bank`"),
        "{error}"
    );
    // The memory is reused for the same storage only.
    drop(y);
    let y = Vector::<f32>::zeros(4).stored_in(&bank).unwrap();
    y.prefetch(&device.stream()).unwrap();
    assert_eq!(crate::sync::lock(&later.storages).len(), 1);
}

#[test]
fn copies_take_the_route_that_is_claimed() {
    let [a, b]: [tag::Tag<StorageKind>; 2] =
        ["route/a", "route/b"].map(|name| tag::register(name).unwrap());
    let backend = GpuBackend::new("routed", 9);
    let tags = [a.clone(), b.clone()];
    backend.claim(move |claims| {
        let [a, b] = tags.clone();
        claims
            .storage(a.clone())
            .storage(b.clone())
            .copies(a.clone(), b.clone(), CopyAction::StageViaHost)
            .copies(b.clone(), a.clone(), CopyAction::Illegal("b is write-only"));
    });
    let (device, stats) = device(&backend);
    let there = |tag: &tag::Tag<StorageKind>| {
        let mut v = Vector::zeros(4).stored_in(tag).unwrap();
        axpy(1.0, &Vector::filled(4, 2.0), &mut v)
            .over(4)
            .run_on(&device)
            .unwrap();
        v
    };
    let (mut x, mut y, mut z) = (there(&a), there(&b), there(&a));
    y.copy_from(0, &x, 0..2).unwrap();
    assert_eq!(
        (stats.copies.load(Relaxed), stats.downloads.load(Relaxed)),
        (0, 1)
    );
    z.copy_from(0, &x, 0..2).unwrap();
    assert_eq!(
        (stats.copies.load(Relaxed), stats.downloads.load(Relaxed)),
        (1, 1)
    );
    let error = x.copy_from(0, &y, 0..2).unwrap_err();
    assert!(matches!(error, Error::IllegalCopy { .. }), "{error}");
    assert_eq!(y.to_vec().unwrap(), [2.0; 4]);
}

/// A backend sees the type of what it allocates, and a buffer has that type until it is freed.
#[test]
fn buffers_carry_their_element_type() {
    let (device, stats) = device(&GpuBackend::new("typed", 9));
    stats.types_buffers.store(true, Relaxed);
    let told = || std::mem::take(&mut *lock(&stats.elements));

    let x = Vector::filled(8, 2.0f32);
    let mut y = Vector::<f32>::zeros(8);
    // The fake GPU compares the types of the buffers with those of the kernel's parameters.
    axpy(3.0, &x, &mut y).over(8).run_on(&device).unwrap();
    assert_eq!(y.to_vec().unwrap(), [6.0; 8]);
    assert_eq!(told(), ["8 elements of 1 f32", "8 elements of 1 f32"]);

    // Elements of several scalars.
    let pairs = Vector::from_vec(vec![[1u32, 2], [3, 4], [5, 6]]);
    pairs.prefetch(&device.stream()).unwrap();
    let arrays = Vector::<[i64; 2]>::zeros(4);
    arrays.prefetch(&device.stream()).unwrap();
    assert_eq!(told(), ["3 elements of 2 u32", "4 elements of 2 i64"]);

    // Memory is used again for elements of the same type, and for no others of that size.
    let allocs = || stats.elements.lock().unwrap().len();
    drop((x, pairs));
    let ints = Vector::filled(8, 1u32);
    ints.prefetch(&device.stream()).unwrap();
    assert_eq!(told(), ["8 elements of 1 u32"]);
    let floats = Vector::filled(8, 1.0f32);
    floats.prefetch(&device.stream()).unwrap();
    assert_eq!(allocs(), 0, "the memory of `x` was free");

    // Storages see it, too. A device that does not ask is told nothing.
    let storage = tag::register::<StorageKind>("typed storage").unwrap();
    let backend = GpuBackend::new("stored", 9);
    let owned = storage.clone();
    backend.claim(move |claims| {
        claims.storage(owned.clone());
    });
    let (device, stats) = crate::testing::device(&backend);
    let stored = || Vector::filled(5, 1u64).stored_in(&storage).unwrap();
    stored().prefetch(&device.stream()).unwrap();
    assert!(lock(&stats.elements).is_empty());
    stats.types_buffers.store(true, Relaxed);
    stored().prefetch(&device.stream()).unwrap();
    assert_eq!(*lock(&stats.elements), ["5 elements of 1 u64"]);
    assert_eq!(lock(&stats.storages).len(), 2);
}
