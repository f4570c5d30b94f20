//! Launches in the destructors of thread-local variables.

use std::cell::RefCell;
use std::sync::Mutex;

use sarek::prelude::*;
use sarek::{Error, Result};

use super::{backends, in_child_process, triple, tripled};

/// The results of the launches in the destructors.
static OUTCOMES: Mutex<Vec<Result<u32>>> = Mutex::new(Vec::new());

/// When dropped, launches a kernel, waits for it and drops a vector.
struct Last {
    device: Option<Device>,
    vector: Option<Vector<u32>>,
}

impl Drop for Last {
    fn drop(&mut self) {
        let Some(device) = self.device.take() else {
            return;
        };
        let outcome = tripled(&device, 100_000).and_then(|last| device.sync().map(|()| last));
        drop(self.vector.take());
        OUTCOMES.lock().expect("nobody panics").push(outcome);
    }
}

thread_local! {
    static FIRST: RefCell<Last> = const { RefCell::new(Last { device: None, vector: None }) };
    static SECOND: RefCell<Last> = const { RefCell::new(Last { device: None, vector: None }) };
    static THIRD: RefCell<Last> = const { RefCell::new(Last { device: None, vector: None }) };
}

/// A variable may be destroyed before or after those that a device needs. Either way the launch works or returns an error.
#[test]
fn launches_at_the_end_of_a_thread_run_or_are_refused() {
    let test = "thread_end::launches_at_the_end_of_a_thread_run_or_are_refused";
    in_child_process(test, &backends(), &[], |device| {
        let fill = |last: &mut Last| {
            let mut vector = Vector::zeros(100);
            triple(&mut vector)
                .over(100)
                .run_on(device)
                .expect("a launch");
            *last = Last {
                device: Some(device.clone()),
                vector: Some(vector),
            };
        };
        std::thread::scope(|scope| {
            let first = scope.spawn(|| {
                // Registered before, between and after this thread's uses of the device.
                FIRST.with(|last| drop(last.borrow()));
                drop(Vector::<u32>::zeros(10).prefetch(&device.stream()));
                SECOND.with_borrow_mut(fill);
                tripled(device, 100_000).expect("a launch");
                THIRD.with_borrow_mut(fill);
                FIRST.with_borrow_mut(fill);
            });
            // The first use of a thread may be its last.
            let second = scope.spawn(|| {
                FIRST.with_borrow_mut(|last| last.device = Some(device.clone()));
            });
            // The scope alone would not wait for the destructors.
            first.join().expect("no panic");
            second.join().expect("no panic");
        });
        let outcomes = std::mem::take(&mut *OUTCOMES.lock().expect("nobody panics"));
        assert_eq!(outcomes.len(), 4);
        for outcome in &outcomes {
            match outcome {
                Ok(last) => assert_eq!(*last, 299_997),
                Err(Error::ThreadEnds { .. }) => assert_eq!(device.backend(), "wgpu"),
                Err(other) => panic!("{other}"),
            }
        }
        assert!(outcomes.iter().any(Result::is_ok), "{outcomes:?}");
        // The dropped vectors are freed, and the device still works.
        device.trim().expect("it gives back");
        assert_eq!(tripled(device, 1000).expect("a launch"), 2997);
    });
}

/// Waits for a device when dropped.
struct Waits(Option<Device>);

impl Drop for Waits {
    fn drop(&mut self) {
        // The wait may be refused.
        let _ = self.0.take().map(|device| device.sync());
    }
}

thread_local! {
    static WAITS: RefCell<Waits> = const { RefCell::new(Waits(None)) };
}

#[kernel]
fn increment(y: &mut [u32]) {
    let i = global_idx_x();
    y[i] += 1;
}

/// Launches that a thread queued are not lost if its destructors wait for the device in vain.
#[test]
fn launches_of_a_thread_that_ended_run() {
    let test = "thread_end::launches_of_a_thread_that_ended_run";
    in_child_process(test, &backends(), &[], |device| {
        let mut vector: Vector<u32> = Vector::zeros(100);
        let mut launched = 0;
        for count in 5..13 {
            std::thread::scope(|scope| {
                let queue = scope.spawn(|| {
                    // Registered before this thread uses the device, so destroyed after what the device needs.
                    WAITS.with_borrow_mut(|waits| waits.0 = Some(device.clone()));
                    // The last of several launches in a row may wait for others.
                    for _ in 0..count {
                        increment(&mut vector)
                            .over(100)
                            .run_on(device)
                            .expect("a launch");
                    }
                });
                queue.join().expect("no panic");
            });
            launched += count;
            assert_eq!(vector.get(99).expect("a copy"), launched);
        }
    });
}
