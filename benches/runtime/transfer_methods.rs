//! Compares ways to transfer a large vector: `cargo bench --bench runtime -- transfers`.

use std::time::Instant;

use cudarc::driver::result;
use cudarc::driver::sys::{cuMemHostRegister_v2, cuMemHostUnregister};
use sarek::prelude::*;
use sarek_backends::cuda::transfer::{TransferConfig, set_transfer_config};

use super::LARGE;
use crate::common::Fallible;
use crate::common::input::floats;
use crate::common::runner::Runner;
use crate::saxpy;

/// The number of timed transfers. The row shows their median.
const ROUNDS: usize = 15;

const MIB: usize = 1 << 20;

/// The ways: threads, bytes of a slot, bytes of a piece, and true to bypass the caches.
const METHODS: [(usize, usize, usize, bool); 12] = [
    (8, 4 * MIB, MIB / 4, false),
    (8, 4 * MIB, MIB / 4, true),
    (8, 2 * MIB, MIB / 4, false),
    (8, 8 * MIB, MIB / 4, false),
    (8, 4 * MIB, MIB / 2, false),
    (8, 4 * MIB, MIB / 8, false),
    (6, 4 * MIB, MIB / 4, false),
    (10, 4 * MIB, MIB / 4, false),
    (12, 4 * MIB, MIB / 4, false),
    (12, 8 * MIB, MIB / 4, false),
    (12, 8 * MIB, MIB / 2, true),
    (15, 4 * MIB, MIB / 4, false),
];

/// Times `once` several times. Returns the median and the best rate in GB/s for the large vector.
fn rates(mut once: impl FnMut() -> Fallible) -> Fallible<String> {
    for _ in 0..2 {
        once()?;
    }
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        once()?;
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    let rate = |seconds: f64| 4.0 * LARGE as f64 / seconds / 1e9;
    let (median, best) = (rate(times[ROUNDS / 2]), rate(times[0]));
    Ok(format!("{median:>6.1} ({best:>5.1})"))
}

pub fn run(runner: &Runner, device: &Device) -> Fallible {
    if !runner.wants("cuda transfers") {
        return Ok(());
    }
    let mut host = floats(LARGE, 0.1, 2.0);
    let mut vector = Vector::zeros(LARGE);
    // Only the device has a current copy.
    saxpy(0.0, &Vector::zeros(LARGE), &mut vector)
        .over(LARGE)
        .run_on(device)?;
    println!("\ncuda transfers: GB/s of 256 MiB, median and best of {ROUNDS}: upload, download");
    for (threads, slot, piece, past_caches) in METHODS {
        set_transfer_config(Some(TransferConfig {
            threads,
            slot,
            piece,
            past_caches,
        }));
        let up = rates(|| {
            vector.write(0, &host)?;
            Ok(device.sync()?)
        })?;
        let down = rates(|| Ok(vector.read_into(0, &mut host)?))?;
        let caches = if past_caches { "past caches" } else { "" };
        let (kib, each) = (slot >> 10, piece >> 10);
        println!(
            "{threads:>3} threads, {kib:>5} KiB, {each:>4} a piece, {caches:<12} {up}   {down}"
        );
    }
    set_transfer_config(None);
    fresh(&vector)?;
    registered(device, &mut host)
}

/// Times reads into newly allocated memory, for which the system must provide pages first.
fn fresh(vector: &Vector<f32>) -> Fallible {
    let rate = rates(|| {
        let fresh = vector.read(0..LARGE)?;
        std::hint::black_box(fresh);
        Ok(())
    })?;
    println!("into memory just allocated, which is given back          -              {rate}");
    Ok(())
}

/// Times page-locking of ordinary memory, and transfers of page-locked memory.
fn registered(device: &Device, host: &mut [f32]) -> Fallible {
    let (at, bytes) = (host.as_mut_ptr(), size_of_val(host));
    let (mut lock, mut unlock) = (0.0, 0.0);
    for _ in 0..3 {
        let start = Instant::now();
        // SAFETY: the context of the device is current on this thread, which made the vectors. The memory is registered only
        // while it is borrowed, and no transfer uses it.
        unsafe { cuMemHostRegister_v2(at.cast(), bytes, 0) }.result()?;
        lock = start.elapsed().as_secs_f64() * 1e3;
        let start = Instant::now();
        // SAFETY: as above; it was registered.
        unsafe { cuMemHostUnregister(at.cast()) }.result()?;
        unlock = start.elapsed().as_secs_f64() * 1e3;
    }
    println!("locking the pages takes {lock:.1} ms, unlocking {unlock:.1} ms");
    // SAFETY: as above.
    unsafe { cuMemHostRegister_v2(at.cast(), bytes, 0) }.result()?;
    // SAFETY: the context is current.
    let memory = unsafe { result::malloc_sync(bytes) }?;
    let up = rates(|| {
        // SAFETY: the memory has the same size, and the call returns when the copy is finished.
        Ok(unsafe { result::memcpy_htod_sync(memory, host) }?)
    });
    // SAFETY: as above.
    let down = rates(|| Ok(unsafe { result::memcpy_dtoh_sync(host, memory) }?));
    // SAFETY: nothing uses the memory any more.
    unsafe {
        result::free_sync(memory)?;
        cuMemHostUnregister(at.cast()).result()?;
    }
    println!(
        "of locked pages, on {:<36} {}   {}",
        device.backend(),
        up?,
        down?
    );
    Ok(())
}
