//! Times the two sides of a pair in alternation.
//!
//! A sample is a batch of launches that takes some milliseconds, from the first call until
//! the last launch is finished. Samples alternate (ours, theirs, theirs, ours, …), so a slowdown of the machine
//! affects both sides. A row shows the median times, and the median and quartiles of the ratios of adjacent samples.
//! A ratio above 1 means that sarek is faster.
//!
//! On a shared machine, `--processors` measures the CPU time of the process instead of wall-clock time.
//! With one thread (`RAYON_NUM_THREADS=1`), these ratios are accurate to a few percent even where wall-clock ratios are off by half.

use std::cell::RefCell;
use std::fs::File;
use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use super::Fallible;

/// The work of a launch.
#[derive(Clone, Copy)]
pub enum Work {
    /// Reads and writes this many bytes, each counted once.
    Bytes(usize),
    /// Performs this many operations, with their unit.
    Operations(usize, &'static str),
    /// Negligible work; the launch overhead is measured.
    Launch,
}

/// A row of the table.
pub struct Case {
    /// The kernel.
    pub kernel: &'static str,
    /// The other side.
    pub against: &'static str,
    /// The problem size as text.
    pub size: String,
    /// The work of a launch.
    pub work: Work,
}

/// The clock for samples.
#[derive(Clone, Copy)]
enum Clock {
    /// Wall-clock time since this instant.
    Wall(Instant),
    /// The CPU time of all threads of the process.
    #[cfg(unix)]
    Processors,
}

impl Clock {
    fn now(self) -> Duration {
        match self {
            Clock::Wall(start) => start.elapsed(),
            #[cfg(unix)]
            Clock::Processors => processors(),
        }
    }
}

/// The CPU time of the process.
#[cfg(unix)]
fn processors() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for the result.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(failed, 0, "the clock exists");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Runs the pairs selected on the command line.
pub struct Runner {
    filter: Option<String>,
    backend: Option<String>,
    clock: Clock,
    sample: Duration,
    pairs: usize,
    /// The record of `--save`, to which each row is written at once.
    record: Option<RefCell<File>>,
}

/// The columns of a record, which `cargo sarek plot` reads.
const COLUMNS: &str =
    "kernel\tagainst\tsize\tours_us\ttheirs_us\tratio\tlow\thigh\trate\tunit\tbytes\tflop";

/// The number of launches in a sample that times queueing. A CUDA driver's queue holds 1024.
const QUEUED: u32 = 256;

/// The number of pairs of such samples that are discarded.
const WARM_UP: usize = 4;

/// The seconds per launch on each side, from two adjacent samples.
type Pair = (f64, f64);

impl Runner {
    /// Parses the command line (`--quick`, `--processors`, `--on BACKEND`, `--save FILE` and a filter on kernel names), and prints the head of the table.
    pub fn from_args() -> Fallible<Runner> {
        let mut runner = Runner {
            filter: None,
            backend: None,
            clock: Clock::Wall(Instant::now()),
            sample: Duration::from_millis(20),
            pairs: 41,
            record: None,
        };
        let mut args = std::env::args().skip(1);
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--bench" => {} // passed by cargo
                "--quick" => {
                    runner.sample = Duration::from_millis(5);
                    runner.pairs = 11;
                }
                #[cfg(unix)]
                "--processors" => runner.clock = Clock::Processors,
                "--on" => runner.backend = Some(args.next().ok_or("--on needs a backend")?),
                "--save" => {
                    let file = File::create(args.next().ok_or("--save needs a file")?)?;
                    runner.record = Some(RefCell::new(file));
                }
                option if option.starts_with('-') => {
                    return Err(format!(
                        "unknown option {option}; there are --quick, --processors, --on BACKEND, --save FILE and a filter"
                    )
                    .into());
                }
                filter => runner.filter = Some(filter.into()),
            }
        }
        println!(
            "{:<17} {:<12} {:>12} {:>12} {:>12} {:>7} {:>15} {:>18}",
            "kernel", "against", "size", "ours µs", "theirs µs", "ratio", "quartiles", "ours"
        );
        Ok(runner)
    }

    /// Prints the device, and writes the facts at the head of the record.
    pub fn on_device(&self, backend: &str, device: &str) -> Fallible {
        println!("{backend}: {device}");
        let Some(record) = &self.record else {
            return Ok(());
        };
        let date = Command::new("date").arg("+%F").output()?;
        let date = String::from_utf8_lossy(&date.stdout);
        let command: Vec<String> = std::env::args().skip(1).collect();
        writeln!(
            record.borrow_mut(),
            "# device: {device}\n# backend: {backend}\n# version: {}\n# date: {}\n# command: cargo bench --bench {} -- {}\n{COLUMNS}",
            env!("CARGO_PKG_VERSION"),
            date.trim(),
            env!("CARGO_CRATE_NAME"),
            command.join(" "),
        )?;
        Ok(())
    }

    /// The backend that the command line names.
    #[allow(dead_code, reason = "most benchmarks have one backend")]
    pub fn backend(&self) -> Option<&str> {
        self.backend.as_deref()
    }

    /// True if the filter selects the kernel.
    pub fn wants(&self, kernel: &str) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|f| kernel.contains(f.as_str()))
    }

    /// Times a pair and prints its row. Each side takes the number of launches to run and to wait for.
    pub fn time<S>(
        &self,
        case: &Case,
        state: &mut S,
        mut ours: impl FnMut(&mut S, u32) -> Fallible,
        mut theirs: impl FnMut(&mut S, u32) -> Fallible,
    ) -> Fallible {
        let our_count = self.calibrate(state, &mut ours)?;
        let their_count = self.calibrate(state, &mut theirs)?;
        let mut samples: Vec<Pair> = Vec::with_capacity(self.pairs);
        for i in 0..self.pairs {
            let pair = if i % 2 == 0 {
                let a = self.timed(state, &mut ours, our_count)?;
                (a, self.timed(state, &mut theirs, their_count)?)
            } else {
                let b = self.timed(state, &mut theirs, their_count)?;
                (self.timed(state, &mut ours, our_count)?, b)
            };
            samples.push(pair);
        }
        self.row(case, &samples)
    }

    /// Times the queueing of launches with negligible work, and prints the row. The time ends with the return of the last call.
    ///
    /// A sample has fewer launches than a driver's queue holds, since a full queue would add waiting for the device. Between
    /// samples, `settle` waits until all launches are finished.
    pub fn time_queuing<S>(
        &self,
        case: &Case,
        state: &mut S,
        mut ours: impl FnMut(&mut S, u32) -> Fallible,
        mut theirs: impl FnMut(&mut S, u32) -> Fallible,
        mut settle: impl FnMut(&mut S) -> Fallible,
    ) -> Fallible {
        let mut sample = |state: &mut S, side: &mut dyn FnMut(&mut S, u32) -> Fallible| {
            settle(state)?;
            self.timed(state, &mut |state, count| side(state, count), QUEUED)
        };
        let pairs = 8 * self.pairs;
        let mut samples: Vec<Pair> = Vec::with_capacity(pairs);
        for i in 0..pairs + WARM_UP {
            let pair = match i % 2 {
                0 => {
                    let a = sample(state, &mut ours)?;
                    (a, sample(state, &mut theirs)?)
                }
                _ => {
                    let b = sample(state, &mut theirs)?;
                    (sample(state, &mut ours)?, b)
                }
            };
            if i >= WARM_UP {
                samples.push(pair);
            }
        }
        settle(state)?;
        self.row(case, &samples)
    }

    /// Finds the number of launches in a sample, and warms the side up.
    fn calibrate<S>(
        &self,
        state: &mut S,
        side: &mut impl FnMut(&mut S, u32) -> Fallible,
    ) -> Fallible<u32> {
        let mut count = 1u32;
        loop {
            let each = self.timed(state, side, count)?;
            let needed = self.sample.as_secs_f64() / each.max(1e-9);
            if needed <= f64::from(count) || count >= 1 << 20 {
                return Ok(count);
            }
            // At most eightfold, since the first batches are slow and not representative.
            count = needed.ceil().min(f64::from(count) * 8.0) as u32;
        }
    }

    fn row(&self, case: &Case, samples: &[Pair]) -> Fallible {
        let mut record = self.record.as_ref().map(RefCell::borrow_mut);
        print_row(case, samples, record.as_deref_mut())
    }

    /// The seconds per launch of a sample.
    fn timed<S>(
        &self,
        state: &mut S,
        side: &mut impl FnMut(&mut S, u32) -> Fallible,
        count: u32,
    ) -> Fallible<f64> {
        let start = self.clock.now();
        side(state, count)?;
        Ok((self.clock.now() - start).as_secs_f64() / f64::from(count))
    }
}

/// Prints a row, and writes it to the record.
fn print_row(case: &Case, samples: &[Pair], record: Option<&mut File>) -> Fallible {
    let ours = Sorted::of(samples.iter().map(|s| s.0));
    let theirs = Sorted::of(samples.iter().map(|s| s.1));
    let ratios = Sorted::of(samples.iter().map(|s| s.1 / s.0));
    let giga = |amount: usize| amount as f64 / ours.at(0.5) / 1e9;
    let rate = match case.work {
        Work::Bytes(bytes) => format!("{:.1} GB/s", giga(bytes)),
        Work::Operations(count, name) => format!("{:.3} G{name}/s", giga(count)),
        Work::Launch => format!("{:+.2} µs", (ours.at(0.5) - theirs.at(0.5)) * 1e6),
    };
    println!(
        "{:<17} {:<12} {:>12} {:>12.2} {:>12.2} {:>7.3} {:>15} {:>18}",
        case.kernel,
        case.against,
        case.size,
        ours.at(0.5) * 1e6,
        theirs.at(0.5) * 1e6,
        ratios.at(0.5),
        format!("{:.3}–{:.3}", ratios.at(0.25), ratios.at(0.75)),
        rate,
    );
    let Some(record) = record else {
        return Ok(());
    };
    let (amount, unit, bytes) = match case.work {
        Work::Bytes(bytes) => (giga(bytes).to_string(), "GB/s".into(), bytes.to_string()),
        Work::Operations(count, name) => {
            (giga(count).to_string(), format!("G{name}/s"), String::new())
        }
        Work::Launch => (String::new(), String::new(), String::new()),
    };
    let flop = match case.work {
        Work::Operations(count, "flop") => count.to_string(),
        Work::Bytes(_) | Work::Operations(..) | Work::Launch => String::new(),
    };
    writeln!(
        record,
        "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{amount}\t{unit}\t{bytes}\t{flop}",
        case.kernel,
        case.against,
        case.size,
        ours.at(0.5) * 1e6,
        theirs.at(0.5) * 1e6,
        ratios.at(0.5),
        ratios.at(0.25),
        ratios.at(0.75),
    )?;
    Ok(())
}

/// Sorted numbers.
struct Sorted(Vec<f64>);

impl Sorted {
    fn of(numbers: impl Iterator<Item = f64>) -> Sorted {
        let mut numbers: Vec<f64> = numbers.collect();
        numbers.sort_by(f64::total_cmp);
        Sorted(numbers)
    }

    /// The quantile for this fraction.
    fn at(&self, part: f64) -> f64 {
        self.0[((self.0.len() - 1) as f64 * part).round() as usize]
    }
}
