//! Tries out a backend in a process of its own: a broken driver may crash or hang it.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sarek::prelude::*;
use sarek::registry::{self, Inventory};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::report::{Outcome, Output};

/// The time that a driver gets.
const PATIENCE: Duration = Duration::from_secs(60);

/// The devices of a backend, and how a kernel ran on each.
#[derive(Serialize, Deserialize, Debug)]
pub struct Probe {
    /// The backend.
    pub backend: String,
    /// Its devices, and the reasons for absent ones.
    pub inventory: Inventory,
    /// The result of a kernel on each device: the reason if it did not run.
    pub failures: Vec<Option<String>>,
    /// The end of the process, if it did not answer.
    pub crash: Option<String>,
}

impl Probe {
    /// True if a device runs kernels.
    pub fn works(&self) -> bool {
        self.failures.iter().any(Option::is_none)
    }
}

/// Writes a known value from each thread.
#[kernel]
fn hello(out: &mut [u32]) {
    let i = global_idx_x();
    out[i] = 42;
}

fn runs(device: &Device) -> std::result::Result<(), String> {
    let mut out = Vector::<u32>::zeros(8);
    let ran = hello(&mut out).over(8).run_on(device);
    let got = ran.and_then(|_| out.to_vec()).map_err(|e| e.to_string())?;
    match got == [42; 8] {
        true => Ok(()),
        false => Err(format!("it computed {got:?}")),
    }
}

/// In the process that tries out a backend: prints what it found.
pub fn child(backend: &str) -> Result<Outcome> {
    for (other, _) in registry::backends() {
        if other != backend {
            registry::unregister(other);
        }
    }
    let inventory = registry::inventory();
    let failures = Device::all().iter().map(|d| runs(d).err()).collect();
    let probe = Probe {
        backend: backend.to_owned(),
        inventory,
        failures,
        crash: None,
    };
    Output { json: true }.print(&probe, "")?;
    Ok(Outcome::Good)
}

/// Tries out a backend.
pub fn probe(backend: &str) -> Result<Probe> {
    let start = |error| Error::Start {
        program: "cargo-sarek".into(),
        error,
    };
    let own = std::env::current_exe().map_err(start)?;
    let mut child = Command::new(own)
        .args(["__probe", backend])
        .env_remove("SAREK_BACKEND")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(start)?;
    let [out, err] = [
        child.stdout.take().map(reader),
        child.stderr.take().map(reader),
    ];
    let begin = Instant::now();
    let end = loop {
        match child.try_wait().map_err(start)? {
            Some(status) => break Some(status),
            None if begin.elapsed() > PATIENCE => {
                // It may have ended meanwhile.
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let text = |thread: Option<std::thread::JoinHandle<String>>| {
        thread.and_then(|t| t.join().ok()).unwrap_or_default()
    };
    let (out, err) = (text(out), text(err));
    if let Ok(probe) = serde_json::from_str(&out) {
        return Ok(probe);
    }
    let how = match end {
        None => format!("it did not answer within {} s", PATIENCE.as_secs()),
        Some(status) => format!("its driver ended the process ({status})"),
    };
    let last = err.lines().rev().find(|line| !line.trim().is_empty());
    let last = last.map(|line| format!(": {}", line.trim()));
    Ok(Probe {
        backend: backend.to_owned(),
        inventory: Inventory::default(),
        failures: vec![],
        crash: Some(how + &last.unwrap_or_default()),
    })
}

/// Reads a pipe to its end on a thread, so that the child never waits for a reader.
fn reader(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = vec![];
        // What was read before an error is kept.
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Tries out all backends at the same time, in the order of their priorities.
pub fn all(output: Output) -> Result<Vec<Probe>> {
    let backends = registry::backends();
    let bar = output.progress(backends.len() as u64, "trying out backends");
    let probes = std::thread::scope(|scope| {
        let each: Vec<_> = backends
            .iter()
            .map(|(backend, _)| {
                let bar = bar.clone();
                scope.spawn(move || {
                    let probed = probe(backend);
                    bar.inc(1);
                    probed
                })
            })
            .collect();
        let joined = each.into_iter().map(|thread| {
            thread.join().unwrap_or_else(|_| {
                Err(Error::Answer {
                    what: "a thread panicked".into(),
                    help: "report this".into(),
                })
            })
        });
        joined.collect()
    });
    bar.finish_and_clear();
    probes
}
