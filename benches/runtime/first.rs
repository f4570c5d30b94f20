//! Times the first launch of a process, with an empty and with a full disk cache, and its parts.
//!
//! Each measurement is a child process, which opens the device and then times a launch until its result is read.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use sarek::prelude::*;

use crate::common::Fallible;
use crate::saxpy;

/// The environment variable that tells a child process its backend.
const CHILD: &str = "SAREK_BENCH_FIRST";

/// The environment variable that makes a child process print the parts of its time.
const PARTS: &str = "SAREK_BENCH_PARTS";

/// The number of measurements with a full cache. The row shows their median.
const ROUNDS: usize = 7;

/// The backend to time, if this is a child process.
pub fn asked() -> Option<String> {
    std::env::var(CHILD).ok()
}

/// Times the first launch. Prints microseconds, and `true` if NVRTC was loaded for it. If requested, its parts follow.
pub fn launch(backend: &str) -> Fallible {
    #[cfg(feature = "cuda")]
    if let Some(image) = backend.strip_prefix("driver:") {
        return crate::driver::first(Path::new(image));
    }
    let device = Device::of(backend)?;
    let (x, mut y) = (Vector::filled(1000, 1.0f32), Vector::filled(1000, 2.0));
    let parts = std::env::var_os(PARTS).is_some();
    #[cfg(feature = "tracing")]
    let spans = parts.then(spans::watch);
    let start = Instant::now();
    saxpy(3.0, &x, &mut y).over(1000).run_on(&device)?;
    let queued = start.elapsed();
    let result = y.get(999)?;
    let time = start.elapsed();
    if result != 5.0 {
        return Err(format!("5 was expected, not {result}").into());
    }
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    println!("{} {}", time.as_micros(), maps.contains("nvrtc"));
    if parts {
        println!("    queued after {} µs, read after", queued.as_micros());
        #[cfg(feature = "tracing")]
        spans.into_iter().for_each(|spans| spans.print());
        #[cfg(not(feature = "tracing"))]
        println!("    (`--features tracing` tells more)");
        for library in ["ptxjitcompiler", "nvrtc", "libnvidia-nvvm"] {
            if maps.contains(library) {
                println!("    {library} is loaded");
            }
        }
    }
    Ok(())
}

/// Runs a child process and returns its output.
fn child(backend: &str, cache: &Path, parts: bool) -> Fallible<String> {
    let mut command = Command::new(std::env::current_exe()?);
    command.env(CHILD, backend).env("SAREK_CACHE", cache);
    if parts {
        command.env(PARTS, "1");
    }
    let run = command.output()?;
    match run.status.success() {
        true => Ok(String::from_utf8(run.stdout)?),
        false => Err(String::from_utf8_lossy(&run.stderr).into_owned().into()),
    }
}

/// Prints a row for each backend whose devices have their own memory.
pub fn run() -> Fallible {
    let cache = std::env::temp_dir().join(format!("sarek-first-{}", std::process::id()));
    println!("\nfirst launch of a process, µs behind the opening of the device");
    for backend in ["cuda", "opencl", "wgpu"] {
        if let Err(why) = Device::of(backend) {
            println!("{backend}: skipped: {why}");
            continue;
        }
        let folder = cache.join(backend);
        let timed = || -> Fallible<(u64, bool)> {
            let text = child(backend, &folder, false)?;
            let (time, compiled) = text
                .trim()
                .split_once(' ')
                .ok_or_else(|| format!("no time: {text}"))?;
            Ok((time.parse()?, compiled.parse()?))
        };
        let (empty, _) = timed()?;
        let mut full: Vec<(u64, bool)> = (0..ROUNDS).map(|_| timed()).collect::<Fallible<_>>()?;
        full.sort();
        let (median, nvrtc) = full[ROUNDS / 2];
        println!(
            "{backend:<8} empty cache {empty:>8}, full cache {median:>8} ({}–{}){}",
            full[0].0,
            full[ROUNDS - 1].0,
            if nvrtc { ", NVRTC loaded" } else { "" }
        );
        // One more launch, with its parts.
        print!("  with its parts: {}", child(backend, &folder, true)?);
        #[cfg(feature = "cuda")]
        if backend == "cuda" {
            let image = cache.join("image");
            crate::driver::image(&image)?;
            let asked = format!("driver:{}", image.display());
            print!("  by the driver alone:\n{}", child(&asked, &folder, false)?);
        }
    }
    let _ = std::fs::remove_dir_all(cache);
    Ok(())
}

/// A tracing subscriber that measures the durations of spans.
#[cfg(feature = "tracing")]
mod spans {
    use std::sync::{Arc, Mutex, PoisonError};
    use std::time::{Duration, Instant};

    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    #[derive(Clone, Default)]
    pub struct Spans(Arc<Mutex<Inner>>);

    #[derive(Default)]
    struct Inner {
        all: Vec<(&'static str, Option<Instant>, Duration, usize)>,
        depth: usize,
    }

    /// Starts measuring the spans of this process.
    pub fn watch() -> Spans {
        let spans = Spans::default();
        let set = tracing::subscriber::set_global_default(spans.clone());
        set.expect("nobody else watches");
        spans
    }

    impl Spans {
        fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }

        /// Prints the spans in order, indented by their nesting.
        pub fn print(&self) {
            for (name, _, time, depth) in &self.inner().all {
                let indent = 4 + 2 * depth;
                println!("{:indent$}{name} {} µs", "", time.as_micros());
            }
        }
    }

    impl Subscriber for Spans {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            metadata.target() == "sarek"
        }

        fn new_span(&self, span: &Attributes<'_>) -> Id {
            let mut inner = self.inner();
            let name = span.metadata().name();
            inner.all.push((name, None, Duration::ZERO, 0));
            Id::from_u64(inner.all.len() as u64)
        }

        fn enter(&self, id: &Id) {
            let mut inner = self.inner();
            let depth = inner.depth;
            inner.depth += 1;
            let span = &mut inner.all[id.into_u64() as usize - 1];
            (span.1, span.3) = (Some(Instant::now()), depth);
        }

        fn exit(&self, id: &Id) {
            let mut inner = self.inner();
            inner.depth -= 1;
            let span = &mut inner.all[id.into_u64() as usize - 1];
            span.2 += span.1.take().map_or(Duration::ZERO, |at| at.elapsed());
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, _: &Event<'_>) {}
    }
}
