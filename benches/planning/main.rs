//! Measures what the optimizer costs on the host: on a device whose launches do nothing (`device.rs`).
//!
//! `cargo bench --bench planning --features cuda`
//!
//! Each row compares two processes, with the optimizer and without. `new kernel` is the first launch of a kernel: it is
//! transformed and rendered, and nothing is compiled. `new shape` is the first launch of other extents of a kernel whose
//! text is known; both prove the launch anew, so the difference is the planning. `repeated` is a launch like an earlier one.
//!
//! Then it measures the first launch of a process with an empty disk cache, and the part of it that NVRTC takes for the
//! same text. Where CUDA has a device, that is measured there, too.

// These benchmarks do not use all kernels and comparisons of the others.
#[allow(dead_code)]
#[path = "../common/mod.rs"]
mod common;
mod device;

use std::process::Command;
use std::time::{Duration, Instant};

use sarek::Ready;
use sarek::prelude::*;

use common::Fallible;
use common::kernels;

/// The environment variable that tells a child process what to measure.
const CHILD: &str = "SAREK_BENCH_PLANNING";

/// The new shapes of a kernel. A device keeps the plans of 16 launches.
const SHAPES: usize = 12;

/// The repeated launches of a measurement, and the measurements, of which the fastest counts.
const REPEATED: (u32, usize) = (20_000, 5);

/// The processes of a measurement, of which each column shows the median.
const ROUNDS: usize = 5;

/// The processes of a first launch.
const FIRST: usize = 7;

const KERNELS: [&str; 6] = [
    "copy",
    "matmul",
    "transpose",
    "accelerations",
    "histogram",
    "mean",
];

#[kernel]
fn histogram(x: &[u32], bins: &[Atomic<u32>]) {
    let i = global_idx_x();
    if i < x.len() {
        bins[(x[i] % 256) as usize].fetch_add(1);
    }
}

/// The mean of the box of 7 × 7 elements around each inner element.
#[kernel]
fn mean(n: usize, old: &[f32], new: &mut [f32]) {
    let (x, y) = (global_idx_x(), global_idx_y());
    if x >= 3 && x + 3 < n && y >= 3 && y + 3 < n {
        let mut sum = 0.0;
        for dy in 0..7 {
            for dx in 0..7 {
                sum += old[(y + dy - 3) * n + x + dx - 3];
            }
        }
        new[y * n + x] = sum / 49.0;
    }
}

/// Rows and columns of the matrices.
const N: usize = 2048;

/// The arguments of all kernels.
struct Arguments {
    a: Vector<f32>,
    b: Vector<f32>,
    c: Vector<f32>,
    bodies: Vector<f32x4>,
    words: Vector<u32>,
    bins: Vector<u32>,
}

impl Arguments {
    fn new() -> Arguments {
        Arguments {
            a: Vector::zeros(N * N),
            b: Vector::zeros(N * N),
            c: Vector::zeros(N * N),
            bodies: Vector::from(vec![f32x4::splat(0.0); 1 << 16]),
            words: Vector::zeros(N * N),
            bins: Vector::zeros(256),
        }
    }

    /// Copies all to the device.
    fn upload(&mut self, device: &Device) -> Fallible {
        let Arguments {
            a,
            b,
            c,
            bodies,
            words,
            bins,
        } = self;
        Ok(touch(a, b, c, bodies, words, bins).over(1).run_on(device)?)
    }

    /// The launch of a kernel over shape `at`.
    fn launch(&mut self, kernel: &str, at: usize) -> Fallible<Ready<'_>> {
        let Arguments { a, b, c, .. } = self;
        Ok(match kernel {
            "copy" => kernels::copy(a, c).over(N * N - 1024 * at),
            "matmul" => kernels::matmul(N, a, b, c).over((N, N - 128 * at)),
            "transpose" => kernels::transpose(N, N, a, c).over((N, N - 64 * at)),
            "accelerations" => {
                kernels::accelerations(&self.bodies, c).over(self.bodies.len() - 256 * at)
            }
            "histogram" => histogram(&self.words, &mut self.bins).over(N * N - 1024 * at),
            "mean" => mean(N, a, c).over((N, N - 4 * at)),
            other => return Err(format!("no kernel `{other}`").into()),
        })
    }
}

#[kernel]
fn touch(
    a: &[f32],
    b: &[f32],
    c: &mut [f32],
    bodies: &[f32x4],
    words: &[u32],
    bins: &[Atomic<u32>],
) {
    let i = global_idx_x();
    c[i] = a[i] + b[i] + bodies[i].x + words[i] as f32;
    bins[i].fetch_add(1);
}

fn micros(time: Duration) -> f64 {
    1e6 * time.as_secs_f64()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Prints the microseconds of the first launch of each kernel, of one of a new shape, and of a repeated one.
fn shapes() -> Fallible {
    let device = Device::of(device::NAME)?;
    let mut args = Arguments::new();
    args.upload(&device)?;
    for kernel in KERNELS {
        let mut time = |at: usize| -> Fallible<f64> {
            let begun = Instant::now();
            args.launch(kernel, at)?.run_on(&device)?;
            Ok(micros(begun.elapsed()))
        };
        let first = time(0)?;
        let new: Vec<f64> = (1..=SHAPES).map(&mut time).collect::<Fallible<_>>()?;
        let (count, rounds) = REPEATED;
        let mut repeated = f64::INFINITY;
        for _ in 0..rounds {
            let begun = Instant::now();
            for _ in 0..count {
                args.launch(kernel, 1)?.run_on(&device)?;
            }
            repeated = repeated.min(micros(begun.elapsed()) / f64::from(count));
        }
        println!("{kernel} {first} {} {repeated}", median(new));
    }
    Ok(())
}

/// Prints the microseconds of the first launch of a process, with the copies of its arguments, and those that NVRTC took of
/// them, with the time to load it.
fn first(backend: &str, kernel: &str) -> Fallible {
    let device = Device::of(backend)?;
    let mut args = Arguments::new();
    let begun = Instant::now();
    args.launch(kernel, 0)?.run_on(&device)?;
    device.sync()?;
    let took = micros(begun.elapsed());
    println!("{took} {}", micros(device::compiling()));
    Ok(())
}

/// Runs a child process, and returns the words of each line that it prints.
fn child(asked: &str, optimize: &str) -> Fallible<Vec<Vec<String>>> {
    let mut command = Command::new(std::env::current_exe()?);
    let folder = std::env::temp_dir().join(format!("sarek-planning-{}", std::process::id()));
    command.env(CHILD, asked).env("SAREK_OPTIMIZE", optimize);
    let run = command.env("SAREK_CACHE", &folder).output()?;
    let _ = std::fs::remove_dir_all(folder);
    if !run.status.success() {
        return Err(String::from_utf8_lossy(&run.stderr).into_owned().into());
    }
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
    Ok(String::from_utf8(run.stdout)?.lines().map(words).collect())
}

/// The median of each column of numbers behind the first `skipped` words, over several runs of a child process.
fn medians(asked: &str, optimize: &str, skipped: usize, rounds: usize) -> Fallible<Vec<Vec<f64>>> {
    let runs: Vec<_> = (0..rounds)
        .map(|_| child(asked, optimize))
        .collect::<Fallible<_>>()?;
    let of = |row: usize, column: usize| -> Fallible<f64> {
        let numbers: Result<Vec<f64>, _> = runs
            .iter()
            .map(|run| run[row][skipped + column].parse())
            .collect();
        Ok(median(numbers?))
    };
    let rows = runs[0].iter().enumerate();
    rows.map(|(row, words)| {
        (0..words.len() - skipped)
            .map(|column| of(row, column))
            .collect()
    })
    .collect()
}

fn main() -> Fallible {
    match std::env::var(CHILD).as_deref() {
        Ok("shapes") => return shapes(),
        Ok(asked) => {
            let (backend, kernel) = asked.split_once(' ').ok_or("a backend and a kernel")?;
            let _ = device::COMPILES.set(backend == device::NAME);
            return first(backend, kernel);
        }
        Err(_) => {}
    }
    println!("microseconds on the host, with the optimizer / without");
    println!(
        "{:<16}{:>22}{:>22}{:>12}{:>22}",
        "", "new kernel", "new shape", "planning", "repeated"
    );
    let (with, without) = (
        medians("shapes", "on", 1, ROUNDS)?,
        medians("shapes", "off", 1, ROUNDS)?,
    );
    for (kernel, (with, without)) in KERNELS.iter().zip(with.iter().zip(&without)) {
        let pair = |at: usize| format!("{:.2} / {:.2}", with[at], without[at]);
        let planning = with[1] - without[1];
        println!(
            "{kernel:<16}{:>22}{:>22}{planning:>12.2}{:>22}",
            pair(0),
            pair(1),
            pair(2)
        );
    }
    println!("\nmilliseconds of the first launch of a kernel with an empty cache");
    for kernel in ["copy", "matmul"] {
        let idle = format!("{} {kernel}", device::NAME);
        match medians(&idle, "on", 0, FIRST) {
            Ok(times) => {
                let (all, nvrtc) = (times[0][0] / 1e3, times[0][1] / 1e3);
                print!(
                    "{kernel:<16}{all:>10.2}, NVRTC {nvrtc:.2}, rest {:.2}",
                    all - nvrtc
                );
                if Device::of("cuda").is_ok() {
                    let on_cuda = medians(&format!("cuda {kernel}"), "on", 0, FIRST)?[0][0] / 1e3;
                    print!(
                        "; on CUDA {on_cuda:.2}, beyond NVRTC {:.2}",
                        on_cuda - nvrtc
                    );
                }
                println!();
            }
            Err(why) => println!("{kernel:<16}skipped: {why}"),
        }
    }
    Ok(())
}
