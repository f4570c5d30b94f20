//! The disk cache of compiled programs: a second process finds the programs of the first.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use sarek::prelude::*;

#[kernel]
fn halve(x: &mut [f32]) {
    let i = global_idx_x();
    x[i] *= 0.5;
}

/// The environment variable that tells a child process its backend.
const CHILD: &str = "SAREK_CACHE_CHILD";

/// The numbers of cache hits and of written entries of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Statistics {
    hits: u64,
    written: u64,
}

/// Starts a process that launches on a backend, with this cache folder.
fn start(backend: &str, folder: &Path) -> Child {
    Command::new(std::env::current_exe().expect("this test"))
        .args(["child_that_launches", "--exact", "--nocapture"])
        .env(CHILD, backend)
        .env("SAREK_CACHE", folder)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs")
}

/// Waits for the process, and parses its counts.
fn statistics(child: Child) -> Statistics {
    let child = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&child.stdout).into_owned();
    assert!(child.status.success(), "{text}");
    let line = text.lines().find_map(|line| line.split_once("STATUS "));
    let mut numbers = line.expect("the statistics").1.split(' ');
    let mut number = || {
        let text = numbers.next().expect("two numbers").trim();
        text.parse().expect("a number")
    };
    let (hits, written) = (number(), number());
    Statistics { hits, written }
}

/// The body of the child process.
#[test]
fn child_that_launches() {
    let Ok(backend) = std::env::var(CHILD) else {
        return;
    };
    let device = Device::of(&backend).expect("the parent has seen it");
    let mut x = Vector::filled(100, 3.0);
    halve(&mut x).over(100).run_on(&device).expect("it runs");
    assert_eq!(x.get(99).expect("it ran"), 1.5);
    let status = sarek::cache::status();
    println!("STATUS {} {}", status.hits, status.written);
}

/// A temporary folder for one test.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str, backend: &str) -> Folder {
        let name = format!("cache-{test}-{backend}-{}", std::process::id());
        Folder(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// True if the device's programs are cached. PoCL's binaries are not, and some Vulkan drivers have no pipeline cache.
fn keeps(device: &Device) -> bool {
    let debug = device.debug_info();
    match device.backend() {
        "cuda" => true,
        "opencl" => !debug.values().any(|fact| fact.contains("PoCL")),
        "wgpu" => debug
            .get("features")
            .is_some_and(|f| f.contains("PIPELINE_CACHE")),
        _ => false,
    }
}

#[test]
fn programs_are_found_by_the_next_process() {
    let mut backends: Vec<_> = Device::all()
        .iter()
        .map(|d| d.backend().to_owned())
        .collect();
    backends.sort();
    backends.dedup();
    for backend in &backends {
        let device = Device::of(backend).expect("it has a device");
        let keeps = keeps(&device);
        let folder = Folder::new("found", backend);
        let run = || statistics(start(backend, &folder.0));
        let (first, second) = (run(), run());
        println!("{device}: keeps programs: {keeps}");
        let kept = (first.written > 0, second.hits > 0);
        assert_eq!(kept, (keeps, keeps), "{device}");
        // A Vulkan driver may extend its own cache in the second process.
        assert!(
            second.written == 0 || backend == "wgpu",
            "{device}: nothing was new"
        );
    }
}

#[test]
fn damaged_entries_are_made_again() {
    for device in Device::all().iter().filter(|device| keeps(device)) {
        let folder = Folder::new("damaged", device.backend());
        let run = || statistics(start(device.backend(), &folder.0));
        run();
        let files = || std::fs::read_dir(&folder.0).expect("a folder").flatten();
        for file in files() {
            let mut bytes = std::fs::read(file.path()).expect("an entry");
            let last = bytes.len() - 1;
            bytes[last] ^= 0x55;
            std::fs::write(file.path(), bytes).expect("it is written");
        }
        let again = run();
        assert_eq!(again.hits, 0, "{device}");
        assert!(again.written > 0, "{device}");
        assert!(run().hits > 0, "{device}");
    }
}

#[test]
fn processes_share_a_cache() {
    for device in Device::all().iter().filter(|device| keeps(device)) {
        let folder = Folder::new("shared", device.backend());
        let all: Vec<Child> = (0..4).map(|_| start(device.backend(), &folder.0)).collect();
        let all: Vec<Statistics> = all.into_iter().map(statistics).collect();
        assert!(
            all.iter()
                .all(|statistics| statistics.hits + statistics.written > 0),
            "{all:?}"
        );
        assert!(
            statistics(start(device.backend(), &folder.0)).hits > 0,
            "{device}"
        );
    }
}

/// The cache folder cannot be written, as on a read-only file system.
#[test]
#[cfg(target_os = "linux")]
fn programs_run_without_a_cache() {
    for device in Device::all() {
        for folder in ["/proc/self", "/proc/nothing"] {
            let found = statistics(start(device.backend(), Path::new(folder)));
            let (hits, written) = (0, 0);
            assert_eq!(found, Statistics { hits, written }, "{device}: {folder}");
        }
    }
}
