use std::sync::atomic::AtomicBool;
use std::sync::{Barrier, mpsc};
use std::time::Duration;

use super::*;

/// Fails if the work does not end in time, since a hang would block all tests.
fn in_time<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || tell.send(work()));
    told.recv_timeout(Duration::from_secs(20))
        .expect("it hangs")
}

fn pool(threads: usize) -> &'static Pool {
    Box::leak(Box::new(Pool::of(threads)))
}

#[test]
fn every_thread_takes_part() {
    let pool = pool(4);
    in_time(move || {
        for _ in 0..100 {
            let (all, count) = (Barrier::new(4), AtomicUsize::new(0));
            pool.run(7, &|| {
                all.wait();
                count.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(count.into_inner(), 4);
        }
    });
}

#[test]
fn a_caller_ends_while_all_others_are_busy() {
    let pool = pool(3);
    let (blocked, open) = (Arc::new(Barrier::new(4)), Arc::new(Barrier::new(4)));
    let (came, gate) = (blocked.clone(), open.clone());
    let blocking = thread::spawn(move || {
        pool.run(2, &|| {
            came.wait();
            gate.wait();
        });
    });
    blocked.wait();
    in_time(move || {
        let count = AtomicUsize::new(0);
        pool.run(2, &|| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(count.into_inner(), 1);
    });
    open.wait();
    blocking.join().unwrap();
}

#[test]
fn launches_nest() {
    let pool = pool(3);
    in_time(move || {
        for _ in 0..50 {
            pool.run(2, &|| pool.run(2, &|| pool.run(2, &|| ())));
        }
    });
}

#[test]
fn callers_do_not_mix_their_work() {
    let pool = pool(3);
    in_time(move || {
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for turn in 0..500 {
                        let (next, sum) = (AtomicUsize::new(0), AtomicUsize::new(0));
                        pool.run(2, &|| {
                            loop {
                                let piece = next.fetch_add(1, Ordering::Relaxed);
                                if piece >= turn {
                                    break;
                                }
                                sum.fetch_add(piece, Ordering::Relaxed);
                            }
                        });
                        assert_eq!(sum.into_inner(), turn * turn.saturating_sub(1) / 2);
                    }
                });
            }
        });
    });
}

#[test]
fn a_panic_stays_where_it_is() {
    let pool = pool(2);
    in_time(move || {
        let caller = thread::current().id();
        let both = Barrier::new(2);
        // A panic on another thread.
        pool.run(1, &|| {
            both.wait();
            assert_eq!(thread::current().id(), caller, "expected");
        });
        // A panic on the caller, while the other thread is at work.
        let done = AtomicBool::new(false);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            pool.run(1, &|| {
                both.wait();
                assert_ne!(thread::current().id(), caller, "expected");
                thread::sleep(Duration::from_millis(20));
                done.store(true, Ordering::Relaxed);
            });
        }));
        assert!(caught.is_err() && done.into_inner());
        pool.run(1, &|| _ = both.wait());
    });
}

#[test]
fn one_thread_is_the_caller() {
    let caller = thread::current().id();
    for pool in [pool(0), pool(1)] {
        pool.run(3, &|| assert_eq!(thread::current().id(), caller));
        assert!(pool.workers.get().is_none());
    }
}
