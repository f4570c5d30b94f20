//! The library neither hangs nor aborts: with output hooks, other thread pools, `fork`, thread-local destructors, and out of memory.
//!
//! A test that may hang runs in a child process for each backend, with a time limit of one minute.

#[cfg(unix)]
mod fork;
mod hooks;
mod memory;
mod native;
mod thread_end;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sarek::prelude::*;

/// The environment variable that tells a child process its backend.
const CHILD: &str = "SAREK_RELIABILITY_CHILD";

#[kernel]
fn triple(y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = (i as u32).wrapping_mul(3);
}

/// Launches [`triple`] on a device and returns the last element.
fn tripled(device: &Device, n: usize) -> sarek::Result<u32> {
    let mut y = Vector::zeros(n);
    triple(&mut y).over(n).run_on(device)?;
    y.get(n - 1)
}

/// The backends with a device on this machine.
fn backends() -> Vec<&'static str> {
    let mut backends: Vec<_> = Device::all().iter().map(Device::backend).collect();
    backends.sort_unstable();
    backends.dedup();
    backends
}

/// Runs the test with this path again in a child process for each of these backends. There it performs `work`.
fn in_child_process(
    test: &str,
    backends: &[&str],
    env: &[(&str, &str)],
    work: impl FnOnce(&Device),
) {
    if let Ok(backend) = std::env::var(CHILD) {
        let device = Device::of(&backend).expect("the parent has seen it");
        return work(&device);
    }
    for backend in backends {
        let mut child = Command::new(std::env::current_exe().expect("this test"))
            .args([test, "--exact", "--nocapture", "--test-threads=1"])
            .env(CHILD, backend)
            .envs(env.iter().copied())
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts");
        let start = Instant::now();
        let ended = loop {
            match child.try_wait().expect("it is a child") {
                Some(status) => break status,
                None if start.elapsed() > Duration::from_secs(60) => {
                    child.kill().expect("it is stopped");
                    child.wait().expect("it was stopped");
                    panic!("{backend}: it hangs");
                }
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        assert!(ended.success(), "{backend}: {ended}");
    }
}

/// Runs the test with this path again in a child process, and checks that it aborts and prints `why`. There it performs `work`, which
/// must not return.
fn aborted(test: &str, why: &str, work: impl FnOnce()) {
    if std::env::var_os(CHILD).is_some() {
        return work();
    }
    let child = Command::new(std::env::current_exe().expect("this test"))
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, "native")
        .output()
        .expect("it starts");
    let output = String::from_utf8_lossy(&child.stderr);
    assert!(
        !child.status.success() && output.contains(why),
        "{}: {output}",
        child.status
    );
    #[cfg(unix)]
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&child.status),
        Some(libc::SIGABRT)
    );
}
