//! Nothing hangs and nothing aborts: output hooks, other pools, `fork`, ends of threads, memory that is not there.
//!
//! What may hang runs in a process of its own, for each backend, which is given a minute.

#[cfg(unix)]
mod fork;
mod hooks;
mod memory;
mod native;
mod thread_end;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sarek::prelude::*;

/// Names the backend to the process that is started.
const CHILD: &str = "SAREK_RELIABILITY_CHILD";

#[kernel]
fn triple(y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = (i as u32).wrapping_mul(3);
}

/// What a launch of [`triple`] on the device of a backend gives at the end.
fn tripled(device: &Device, n: usize) -> sarek::Result<u32> {
    let mut y = Vector::zeros(n);
    triple(&mut y).over(n).run_on(device)?;
    y.get(n - 1)
}

/// The backends that have a device here.
fn backends() -> Vec<&'static str> {
    let mut backends: Vec<_> = Device::all().iter().map(Device::backend).collect();
    backends.sort_unstable();
    backends.dedup();
    backends
}

/// Runs a test again, by its path, in a process of its own for each of these backends; `work` is what it does there.
fn apart(test: &str, backends: &[&str], env: &[(&str, &str)], work: impl FnOnce(&Device)) {
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

/// Runs a test again, by its path, in a process of its own, which is to be aborted and to say why. What `work` does there
/// does not return.
fn aborted(test: &str, why: &str, work: impl FnOnce()) {
    if std::env::var_os(CHILD).is_some() {
        return work();
    }
    let child = Command::new(std::env::current_exe().expect("this test"))
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, "native")
        .output()
        .expect("it starts");
    let told = String::from_utf8_lossy(&child.stderr);
    assert!(
        !child.status.success() && told.contains(why),
        "{}: {told}",
        child.status
    );
    #[cfg(unix)]
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&child.status),
        Some(libc::SIGABRT)
    );
}
