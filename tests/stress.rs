//! Devices under load, and programs that exit with work in flight.
//!
//! `SAREK_STRESS_SECONDS` is the duration of the load in seconds; the default is 1.

use std::time::{Duration, Instant};

use sarek::prelude::*;
use sarek::{Error, Result};

#[kernel]
fn count(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] += x[i];
}

/// The load of one thread until `until`: launches on the default stream and its own, faults, and drops of vectors in use.
fn load(device: &Device, thread: usize, until: Instant) -> Result<usize> {
    let stream = device.new_stream()?;
    let n = 100 + 37 * thread;
    let ones = Vector::filled(n, 1);
    let mut rounds = 0;
    while Instant::now() < until {
        let mut y = Vector::zeros(n);
        for round in 0..8 {
            match round % 2 {
                0 => count(&ones, &mut y).over(n).run_on(device)?,
                _ => drop(count(&ones, &mut y).over(n).enqueue(&stream)?),
            }
        }
        let mut dropped = Vector::zeros(n);
        count(&y, &mut dropped).over(n).run_on(device)?;
        drop(dropped);
        if rounds % 4 == 0 {
            let mut lost = Vector::zeros(n + 1);
            // The device stays usable, and other vectors keep their values.
            let faulted = count(&ones, &mut lost).over(n + 1).enqueue(&stream);
            let faulted = faulted.and_then(|event| event.sync());
            assert!(matches!(faulted, Err(Error::Fault(_))), "{faulted:?}");
        }
        assert_eq!(y.to_vec()?, vec![8; n], "thread {thread}, round {rounds}");
        rounds += 1;
    }
    Ok(rounds)
}

#[test]
fn sixteen_threads_share_each_device() {
    let seconds = std::env::var("SAREK_STRESS_SECONDS").ok();
    let seconds = seconds.and_then(|s| s.parse().ok()).unwrap_or(1);
    for device in Device::all() {
        let until = Instant::now() + Duration::from_secs(seconds);
        let rounds: usize = std::thread::scope(|scope| {
            let spawn = |thread| {
                let device = &device;
                scope.spawn(move || load(device, thread, until).expect("a round"))
            };
            let threads: Vec<_> = (0..16).map(spawn).collect();
            threads
                .into_iter()
                .map(|t| t.join().expect("a thread"))
                .sum()
        });
        println!("{device}: {rounds} rounds");
        assert!(rounds > 0);
        device.sync().expect("every fault was reported");
    }
}

/// Runs in a child process, which exits while work is queued.
#[test]
fn a_program_may_end_with_work_queued() {
    const CHILD: &str = "SAREK_STRESS_CHILD";
    if let Ok(backend) = std::env::var(CHILD) {
        let device = Device::of(&backend).expect("the parent has seen it");
        let n = 1 << 20;
        let (ones, mut y) = (Vector::filled(n, 1), Vector::zeros(n));
        let stream = device.new_stream().expect("a stream");
        for _ in 0..20 {
            count(&ones, &mut y)
                .over(n)
                .run_on(&device)
                .expect("a launch");
            count(&ones, &mut y)
                .over(n)
                .enqueue(&stream)
                .expect("a launch");
        }
        std::process::exit(0);
    }
    let mut backends: Vec<_> = Device::all().iter().map(Device::backend).collect();
    backends.dedup();
    for backend in backends {
        // The interpreter is slow and queues no work.
        if backend == "interpreter" {
            continue;
        }
        let this = std::env::current_exe().expect("this test");
        let child = std::process::Command::new(this)
            .args(["a_program_may_end_with_work_queued", "--exact"])
            .env(CHILD, backend)
            .status();
        assert!(child.expect("it runs").success(), "{backend}");
    }
}
