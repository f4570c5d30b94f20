//! Output and panic hooks that call the library or panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use sarek::prelude::*;
use sarek::{Error, Result};

use super::{backends, in_child_process, tripled};

#[kernel]
fn greet(y: &mut [u32]) {
    let i = global_idx_x();
    println!("thread {i}");
    y[i] = 1;
}

/// Prints, and does enough work to run on several CPU threads.
#[kernel]
fn work_and_greet(y: &mut [u32]) {
    let i = global_idx_x();
    let mut s = i as u32;
    for k in 0..100u32 {
        s = s.wrapping_mul(3) ^ k;
    }
    y[i] = s;
    if i % 1000 == 0 {
        println!("thread {i}");
    }
}

fn greeted(device: &Device) -> Result<Vec<u32>> {
    let mut y = Vector::zeros(4);
    greet(&mut y).over(4).run_on(device)?;
    y.to_vec()
}

#[test]
fn an_output_hook_may_call_back() {
    in_child_process(
        "hooks::an_output_hook_may_call_back",
        &backends(),
        &[],
        |device| {
            let (lines, shared) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(None)));
            let (count, other, read) = (lines.clone(), device.clone(), shared.clone());
            let stream = device.new_stream().expect("a stream");
            let kept = Vector::filled(100, 2u32);
            kept.prefetch(&stream).expect("it is brought there");
            sarek::set_output(move |_| {
                count.fetch_add(1, Relaxed);
                let _kept = &kept;
                other.sync().expect("nothing failed");
                stream.sync().expect("nothing failed");
                assert_eq!(tripled(&other, 1000).expect("a launch"), 2997);
                // Output from within the hook is not passed to the hook.
                assert_eq!(greeted(&other).expect("a launch"), [1; 4]);
                let waited: Option<Arc<Vector<u32>>> = read.lock().expect("no panic").clone();
                if let Some(waited) = waited {
                    assert_eq!(waited.get(3).expect("it was written"), 1);
                }
            });
            // If a read calls the hook, the hook reads the same vector.
            let mut y = Vector::zeros(4);
            greet(&mut y).over(4).run_on(device).expect("a launch");
            let y = Arc::new(y);
            *shared.lock().expect("no panic") = Some(y.clone());
            assert_eq!(y.to_vec().expect("it was written"), [1; 4]);
            *shared.lock().expect("no panic") = None;
            device.sync().expect("nothing failed");
            assert_eq!(lines.load(Relaxed), 4);
            // Launches on several threads, within the hook and around it.
            let other = device.clone();
            sarek::set_output(move |_| {
                let mut y = Vector::zeros(20_000);
                work_and_greet(&mut y)
                    .over(20_000)
                    .run_on(&other)
                    .expect("a launch");
                other.sync().expect("nothing failed");
            });
            if device.backend() != "interpreter" {
                let mut y = Vector::zeros(20_000);
                work_and_greet(&mut y)
                    .over(20_000)
                    .run_on(device)
                    .expect("a launch");
                device.sync().expect("nothing failed");
            }
            // The hook replaces itself.
            sarek::set_output(|_| sarek::reset_output());
            greeted(device).expect("a launch");
        },
    );
}

#[test]
fn a_panic_of_an_output_hook_is_one_error_everywhere() {
    let test = "hooks::a_panic_of_an_output_hook_is_one_error_everywhere";
    in_child_process(test, &backends(), &[], |device| {
        // The panic hook calls the library too.
        let other = device.clone();
        std::panic::set_hook(Box::new(move |_| {
            other.sync().expect("nothing failed");
            tripled(&other, 10).expect("a launch");
        }));
        sarek::set_output(|line| panic!("mine: {line}"));
        let mut y = Vector::zeros(4);
        let go = |y: &mut Vector<u32>| {
            greet(y).over(4).run_on(device)?;
            device.sync()
        };
        let result = catch_unwind(AssertUnwindSafe(|| go(&mut y))).expect("no panic gets out");
        let Err(Error::Output { kernel, message }) = result else {
            panic!("{result:?}");
        };
        assert_eq!((&*kernel, &*message), ("greet", "mine: thread 0\n"));
        // The error is reported once, and no data is lost.
        device.sync().expect("it is reported once");
        assert_eq!(y.to_vec().expect("it was written"), [1; 4]);
        // The same with a graph.
        let mut recording = device.record_graph();
        recording.launch(greet(&mut y).over(4)).expect("it records");
        let graph = recording.finish();
        let replayed = graph.replay(&mut y).and_then(|()| device.sync());
        assert!(
            matches!(replayed, Err(Error::Output { .. })),
            "{replayed:?}"
        );
        sarek::reset_output();
        assert_eq!(greeted(device).expect("a launch"), [1; 4]);
        // The same with panics on threads of the pool.
        sarek::set_output(|_| panic!("mine"));
        let mut y = Vector::zeros(200_000);
        let result = work_and_greet(&mut y).over(200_000).run_on(device);
        let result = result.and_then(|()| device.sync());
        assert!(matches!(result, Err(Error::Output { .. })), "{result:?}");
        device.sync().expect("it is reported once");
        sarek::reset_output();
        let _ = std::panic::take_hook();
    });
}

/// A kernel that panics by overflow in a debug build.
#[kernel]
fn overflows(y: &mut [u8]) {
    let i = global_idx_x();
    y[i] = 200 + y[i];
}

#[test]
#[cfg(debug_assertions)]
fn a_panic_hook_may_call_back_while_a_kernel_panics() {
    let test = "hooks::a_panic_hook_may_call_back_while_a_kernel_panics";
    in_child_process(test, &["native"], &[], |device| {
        let other = device.clone();
        std::panic::set_hook(Box::new(move |_| {
            other.sync().expect("nothing failed");
            assert_eq!(tripled(&other, 200_000).expect("a launch"), 599_997);
        }));
        let mut y = Vector::filled(200_000, 100u8);
        assert!(overflows(&mut y).over(200_000).run_on(device).is_err());
        let _ = std::panic::take_hook();
        assert_eq!(tripled(device, 200_000).expect("a launch"), 599_997);
    });
}
