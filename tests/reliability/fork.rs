//! Child processes of `fork`.

use sarek::prelude::*;
use sarek::{Error, Result};

use super::{backends, in_child_process, triple, tripled};

/// Runs `work` in a child of `fork` and returns its exit status.
fn in_child(work: impl FnOnce() -> bool, exit: unsafe extern "C" fn(i32) -> !) -> i32 {
    // SAFETY: no other thread holds a lock that the child needs: the other threads are those of devices.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            exit(if work() { 0 } else { 1 });
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
        status
    }
}

fn is_refused<T>(result: Result<T>) -> bool {
    matches!(result, Err(Error::Forked))
}

#[test]
fn a_child_is_refused() {
    in_child_process("fork::a_child_is_refused", &backends(), &[], |device| {
        let (on_host, n) = (Vector::filled(5, 7u32), 200_000);
        let mut there = Vector::zeros(n);
        let stream = device.new_stream().expect("a stream");
        let event = triple(&mut there)
            .over(n)
            .enqueue(&stream)
            .expect("a launch");
        let mut given = Vector::zeros(n);
        let mut recording = device.record_graph();
        recording
            .launch(triple(&mut given).over(n))
            .expect("it records");
        let graph = recording.finish();
        let child = || {
            let refused = [
                is_refused(tripled(device, 10)),
                is_refused(tripled(device, n)),
                is_refused(triple(&mut Vector::zeros(n)).over(n).run()),
                is_refused(Device::best()),
                is_refused(Device::of(device.backend())),
                is_refused(device.sync()),
                is_refused(stream.sync()),
                is_refused(event.sync()),
                is_refused(device.new_stream()),
                is_refused(graph.replay(&mut given)),
                is_refused(device.trim()),
                Device::all().is_empty(),
                // On devices in host memory, the elements are there.
                there
                    .get(n - 1)
                    .map_or_else(|e| matches!(e, Error::Forked), |y| y == 599_997),
            ];
            // Operations without a device still work.
            let kept = on_host.to_vec().is_ok_and(|all| all == [7; 5]);
            let mut own = Vector::zeros(10);
            let set = own
                .set(3, 1u32)
                .and_then(|()| own.get(3))
                .is_ok_and(|own| own == 1);
            drop(std::mem::take(&mut there));
            eprintln!("{device}: refused: {refused:?}, kept: {kept}, set: {set}");
            refused.iter().all(|refused| *refused) && kept && set
        };
        assert_eq!(in_child(child, libc::_exit), 0, "{device}");
        // The parent still works, and a child that calls `exit` terminates.
        assert_eq!(tripled(device, n).expect("a launch"), 599_997);
        if device.backend() != "cuda" {
            assert_eq!(in_child(|| true, libc::exit), 0, "{device}");
        }
    });
}

/// A child works if the parent forks before its first use of devices.
#[test]
fn a_child_of_an_unused_library_is_free() {
    in_child_process(
        "fork::a_child_of_an_unused_library_is_free",
        &[],
        &[],
        |_| {},
    );
    const CHILD: &str = "SAREK_FORK_FIRST";
    if std::env::var(CHILD).is_err() {
        let this = std::env::current_exe().expect("this test");
        let ended = std::process::Command::new(this)
            .args([
                "fork::a_child_of_an_unused_library_is_free",
                "--exact",
                "--test-threads=1",
            ])
            .env(CHILD, "1")
            .status();
        assert!(ended.expect("it runs").success());
        return;
    }
    let child = || {
        let device = Device::of("native");
        device
            .and_then(|device| tripled(&device, 200_000))
            .is_ok_and(|last| last == 599_997)
    };
    assert_eq!(in_child(child, libc::_exit), 0);
}
