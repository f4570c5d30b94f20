//! Native launches together with other threads of the program.

use std::sync::{Mutex, mpsc};
use std::time::Duration;

use rayon::prelude::*;
use sarek::prelude::*;
use sarek::{Error, FaultKind};

use super::{in_child_process, tripled};

/// Four threads, so launches are divided among several on any machine.
const FOUR: (&str, &str) = ("RAYON_NUM_THREADS", "4");

#[kernel]
fn work(y: &mut [u32]) {
    let i = global_idx_x();
    let mut s = i as u32;
    for k in 0..100u32 {
        s = s.wrapping_mul(3) ^ k;
    }
    y[i] = s;
}

/// While a task holds a lock during a launch, its thread must not run another task of the same pool, which could wait for that lock.
#[test]
fn launches_under_a_lock_end() {
    in_child_process(
        "native::launches_under_a_lock_end",
        &["native"],
        &[FOUR],
        |_| {
            let done = Mutex::new(0);
            rayon::in_place_scope(|scope| {
                for _ in 0..100 {
                    scope.spawn(|_| {
                        let mut done = done.lock().expect("no launch panics");
                        let mut y = Vector::zeros(20_000);
                        work(&mut y).over(20_000).run().expect("a launch");
                        *done += 1;
                    });
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
            assert_eq!(done.into_inner().expect("no launch panics"), 100);
        },
    );
}

#[test]
fn launches_end_while_all_workers_of_rayon_wait() {
    let test = "native::launches_end_while_all_workers_of_rayon_wait";
    in_child_process(test, &["native"], &[FOUR], |device| {
        let gate = Mutex::new(());
        let closed = gate.lock().expect("no panic");
        std::thread::scope(|scope| {
            let (came, all) = mpsc::channel();
            let gate = &gate;
            scope.spawn(move || {
                rayon::broadcast(|_| {
                    came.send(()).expect("somebody waits");
                    drop(gate.lock());
                });
            });
            (0..4).for_each(|_| all.recv().expect("four come"));
            assert_eq!(tripled(device, 2_000_000).expect("a launch"), 5_999_997);
            drop(closed);
        });
    });
}

#[test]
fn launches_run_in_parallel_iterators() {
    let test = "native::launches_run_in_parallel_iterators";
    in_child_process(test, &["native"], &[FOUR], |device| {
        let all = (1..200).into_par_iter();
        let right = all
            .map(|n| tripled(device, n * 1000).is_ok_and(|last| last == 3 * (n as u32 * 1000 - 1)));
        assert!(right.all(|right| right));
    });
}

/// If the system cannot create threads, the calling thread does all the work.
#[test]
fn launches_run_without_other_threads() {
    // Threads with this stack size cannot be created.
    let env = [FOUR, ("RUST_MIN_STACK", "70368744177664")];
    in_child_process(
        "native::launches_run_without_other_threads",
        &["native"],
        &env,
        |device| {
            assert!(std::thread::Builder::new().spawn(|| ()).is_err());
            assert_eq!(tripled(device, 2_000_000).expect("a launch"), 5_999_997);
        },
    );
}

#[test]
fn the_environment_sets_the_number_of_threads() {
    let test = "native::the_environment_sets_the_number_of_threads";
    in_child_process(test, &["native"], &[("RAYON_NUM_THREADS", "3")], |device| {
        assert_eq!(device.info().compute_units, 3);
        assert!(device.name().starts_with("3 threads"));
    });
}

#[kernel]
fn below(limit: u32, x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    assert!(x[i] < limit, "too large");
    y[i] = x[i];
}

/// If many blocks fault, the first one is reported, however blocks are divided among threads.
#[test]
fn the_first_faulting_block_is_reported() {
    in_child_process(
        "native::the_first_faulting_block_is_reported",
        &["native"],
        &[FOUR],
        |device| {
            let n = 400_000;
            let x: Vector<u32> = (0..n).collect();
            let mut places = Vec::new();
            for _ in 0..50 {
                let mut y = Vector::zeros(n as usize);
                let error = below(150_000, &x, &mut y).over(n as usize).run_on(device);
                let Err(Error::Fault(fault)) = error else {
                    panic!("{error:?}");
                };
                assert_eq!(fault.kind, FaultKind::Assert("too large".into()));
                places.push(fault.thread);
            }
            places.dedup();
            assert_eq!(places, [[150_000, 0, 0]]);
        },
    );
}
