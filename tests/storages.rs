//! Vectors in other storages give the same results where a device supports the storage, and an error where it does not.

use std::sync::Mutex;

use sarek::prelude::*;
use sarek::tag::{self, StorageKind};
use sarek::{Error, Result, WorkKind};

#[kernel]
fn mix(from: &[u32], to: &mut [u32]) {
    let i = global_idx_x();
    to[i] = 3 * to[i] + from[i];
}

/// Held by each test, since a device's profile contains the work of all threads.
static ALONE: Mutex<()> = Mutex::new(());

/// Launches with host writes between them, copies to and from ordinary memory, and reads of parts.
fn program(device: &Device, storage: &tag::Tag<StorageKind>) -> Result<Vec<u32>> {
    let n = 5000;
    let from: Vector<u32> = (0..n as u32).collect();
    let from = from.stored_in(storage)?;
    let mut to = Vector::filled(n, 1).stored_in(storage)?;
    mix(&from, &mut to).over(n).run_on(device)?;
    to.write(7, &[100, 200])?;
    mix(&from, &mut to).over(n).run_on(device)?;
    let mut plain = Vector::zeros(n);
    plain.copy_from(0, &to, ..)?;
    mix(&from, &mut plain).over(n).run_on(device)?;
    to.copy_from(1, &plain, 1..n - 1)?;
    let mut recording = device.record_graph();
    recording.launch(mix(&plain, &mut to).over(n))?;
    recording.finish().replay((&plain, &mut to))?;
    assert_eq!(to.read(..1)?, [to.get(0)?]);
    to.to_vec()
}

#[test]
fn storages_change_no_result() -> Result<()> {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    for device in Device::all() {
        let expected = program(&device, &StorageKind::device())?;
        for storage in [StorageKind::pinned(), StorageKind::zero_copy()] {
            let info = device.info();
            let has = match device.backend() {
                "cuda" | "opencl" => storage == StorageKind::pinned() || info.unified,
                _ => info.host_memory,
            };
            match program(&device, &storage) {
                Ok(found) => assert!(has && found == expected, "{device}: {storage}"),
                Err(error) => {
                    assert!(!has, "{device}: {error}");
                    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
                    assert!(error.to_string().contains(&storage.to_string()), "{error}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn shared_memory_is_no_place_for_vectors() {
    let error = Vector::<u32>::zeros(4).stored_in(&StorageKind::shared());
    let text = error.expect_err("it ends with a block").to_string();
    assert!(text.contains("shared_array"), "{text}");
}

/// If host and device share memory, kernels work in place on borrowed elements.
#[test]
fn borrowed_elements_are_worked_on_where_they_are() -> Result<()> {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    for device in Device::all() {
        let n = 1 << 14;
        let mut own: Vec<u32> = (0..n as u32).collect();
        let ones = Vector::filled(n, 1);
        let at = own.as_ptr();
        let ran = Vector::with_slice_mut(&mut own, |v| {
            v.store_in(&StorageKind::zero_copy())?;
            // The first use returns an error if the device lacks such memory.
            mix(&ones, v).over(n).run_on(&device)?;
            let (first, profile) = device.profile(|| {
                for _ in 0..3 {
                    mix(&ones, v).over(n).run_on(&device)?;
                    v.as_mut_slice()?[0] += 1;
                }
                mix(&ones, v).over(n).run_on(&device)?;
                v.get(0)
            })?;
            assert_eq!(v.as_slice()?.as_ptr(), at);
            let of = |kind| profile.work.iter().filter(move |work| work.kind == kind);
            assert_eq!(of(WorkKind::Kernel).count(), 4, "{device}");
            let moved = of(WorkKind::Upload).chain(of(WorkKind::Download)).count();
            assert_eq!(moved, 0, "{device}: {profile}");
            Ok::<_, Error>(first)
        })?;
        match ran {
            Ok(first) => {
                let expected = |i: u32| (0..5).fold(i, |v, _| 3 * v + 1);
                assert_eq!(first, own[0]);
                assert_eq!(first, expected(0) + 3 + 9 + 27);
                let same = own[1..].iter().zip(1..).all(|(v, i)| *v == expected(i));
                assert!(same, "{device}");
                println!("{device}: in place");
            }
            Err(error) => {
                let shares = device.info().unified && device.backend() == "opencl";
                assert!(!device.info().host_memory && !shares, "{device}: {error}");
                assert!(matches!(error, Error::Unsupported { .. }), "{error}");
            }
        }
    }
    Ok(())
}
