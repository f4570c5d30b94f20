//! Destructors of thread-local variables.

use std::cell::RefCell;
use std::sync::Mutex;

use sarek::prelude::*;
use sarek::{Error, Result};

use super::{apart, backends, triple, tripled};

/// What the destructors came to.
static TOLD: Mutex<Vec<Result<u32>>> = Mutex::new(Vec::new());

/// Launches, waits and drops a vector when it is dropped.
struct Last {
    device: Option<Device>,
    vector: Option<Vector<u32>>,
}

impl Drop for Last {
    fn drop(&mut self) {
        let Some(device) = self.device.take() else {
            return;
        };
        let told = tripled(&device, 100_000).and_then(|last| device.sync().map(|()| last));
        drop(self.vector.take());
        TOLD.lock().expect("nobody panics").push(told);
    }
}

thread_local! {
    static FIRST: RefCell<Last> = const { RefCell::new(Last { device: None, vector: None }) };
    static SECOND: RefCell<Last> = const { RefCell::new(Last { device: None, vector: None }) };
    static THIRD: RefCell<Last> = const { RefCell::new(Last { device: None, vector: None }) };
}

/// Whether a variable is destroyed before those that a device needs or behind them: it works, or an error tells.
#[test]
fn launches_at_the_end_of_a_thread_run_or_are_refused() {
    let test = "thread_end::launches_at_the_end_of_a_thread_run_or_are_refused";
    apart(test, &backends(), &[], |device| {
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
                // Registered before the device is used by this thread, in the middle, and behind.
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
        let told = std::mem::take(&mut *TOLD.lock().expect("nobody panics"));
        assert_eq!(told.len(), 4);
        for told in &told {
            match told {
                Ok(last) => assert_eq!(*last, 299_997),
                Err(Error::ThreadEnds { .. }) => assert_eq!(device.backend(), "wgpu"),
                Err(other) => panic!("{other}"),
            }
        }
        assert!(told.iter().any(Result::is_ok), "{told:?}");
        // What was dropped there is let go of, and the device goes on.
        device.trim().expect("it gives back");
        assert_eq!(tripled(device, 1000).expect("a launch"), 2997);
    });
}
