//! The command: generates, judges, shrinks, keeps.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sarek_fuzz::batch::Crate;
use sarek_fuzz::case::Case;
use sarek_fuzz::compiler::Compiler;
use sarek_fuzz::generate::{Generated, generate, generate_for_host};
use sarek_fuzz::judge::{self, Verdict};
use sarek_fuzz::shrink::shrink;
use sarek_fuzz::worker::{self, Worker};

const USAGE: &str = "\
usage: sarek-fuzz [--seed S] [--count N] [--seconds T] [--jobs J] [--among BACKENDS]
       sarek-fuzz --rustc LEVEL [--seed S] [--count N] [--seconds T]
                                   compile with rustc at an opt-level, and compare on the host
       sarek-fuzz --print S        print the kernel of a seed
       sarek-fuzz --judge FILE     judge a kept kernel
       sarek-fuzz --rustc LEVEL --judge FILE
       sarek-fuzz --target NAME --text FILE
                                   print the text of a kept kernel, with every check";

struct Options {
    seed: u64,
    count: u64,
    time: Duration,
    jobs: usize,
    among: Vec<String>,
    /// The opt-level, if rustc is to compile the kernels.
    rustc: Option<u64>,
    /// The target that `--text` prints.
    target: String,
}

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}\n{USAGE}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<bool, String> {
    let mut options = Options {
        seed: 1,
        count: u64::MAX,
        time: Duration::from_secs(120),
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
        among: vec![],
        rustc: None,
        target: "cuda".into(),
    };
    for pair in args.chunks(2) {
        let [key, value] = pair else {
            return Err(format!("`{}` takes a value", pair[0]));
        };
        let number = || {
            value
                .parse::<u64>()
                .map_err(|_| format!("no number: `{value}`"))
        };
        match key.as_str() {
            "--seed" => options.seed = number()?,
            "--count" => {
                options.count = number()?;
                options.time = Duration::MAX;
            }
            "--seconds" => options.time = Duration::from_secs(number()?),
            "--jobs" => options.jobs = number()? as usize,
            "--among" => options.among = value.split(',').map(str::to_owned).collect(),
            "--rustc" => options.rustc = Some(number()?),
            "--worker" => return worker::serve(value).map(|()| true),
            "--print" => {
                let generated = match options.rustc {
                    None => generate(number()?),
                    Some(_) => generate_for_host(number()?),
                };
                print!("{}", generated.case());
                return Ok(true);
            }
            "--judge" => {
                let text = std::fs::read_to_string(value).map_err(|e| e.to_string())?;
                return judge_one(&Case::parse(&text)?, options.rustc);
            }
            "--target" => options.target.clone_from(value),
            "--text" => {
                let text = std::fs::read_to_string(value).map_err(|e| e.to_string())?;
                print!("{}", judge::text(&Case::parse(&text)?, &options.target)?);
                return Ok(true);
            }
            _ => return Err(format!("unknown option `{key}`")),
        }
    }
    match options.rustc {
        None => Ok(fuzz(&options)),
        Some(level) => compiled(&options, level),
    }
}

fn judge_one(case: &Case, rustc: Option<u64>) -> Result<bool, String> {
    let Some(level) = rustc else {
        let verdict = Worker::new(&[]).judge(case);
        println!("{verdict:?}");
        return Ok(matches!(verdict, Verdict::Agreed { .. }));
    };
    let target = target()?;
    let compiler = Compiler::new(&target)?;
    let batches = Crate::new(&compiler, &folder(&target, level, 0), level);
    let outcome = batches.judge(std::slice::from_ref(case))?;
    let found: Vec<_> = outcome.rejected.iter().chain(&outcome.differ).collect();
    found.iter().for_each(|(_, how)| println!("{how}"));
    Ok(found.is_empty())
}

/// The target directory.
fn target() -> Result<PathBuf, String> {
    let exe = std::env::current_exe().map_err(|e| e.to_string())?;
    let target = exe.ancestors().nth(2).ok_or("no target directory")?;
    Ok(target.to_owned())
}

/// How many kernels rustc compiles at once.
const BATCH: u64 = 10;

/// How long a kernel that rustc compiles is shrunk.
const SHRINKING: Duration = Duration::from_secs(120);

/// The folder of a job's crate.
fn folder(target: &Path, level: u64, job: usize) -> PathBuf {
    target
        .join("sarek-fuzz")
        .join(format!("batch{level}_{job}"))
}

/// Each job compiles a crate of its own at a time.
fn compiled(options: &Options, level: u64) -> Result<bool, String> {
    let target = target()?;
    let compiler = Compiler::new(&target)?;
    let (next, start) = (AtomicU64::new(0), Instant::now());
    let (done, bad) = (AtomicU64::new(0), AtomicU64::new(0));
    let job = |number: usize| -> Result<(), String> {
        let batches = Crate::new(&compiler, &folder(&target, level, number), level);
        loop {
            let at = next.fetch_add(BATCH, Ordering::Relaxed);
            if at >= options.count || start.elapsed() > options.time {
                return Ok(());
            }
            let seeds = options.seed + at..options.seed + options.count.min(at + BATCH);
            let cases: Vec<_> = seeds.clone().map(|s| generate_for_host(s).case()).collect();
            let outcome = batches.judge(&cases)?;
            done.fetch_add(seeds.end - seeds.start, Ordering::Relaxed);
            bad.fetch_add(
                (outcome.rejected.len() + outcome.differ.len()) as u64,
                Ordering::Relaxed,
            );
            for (at, why) in outcome.rejected {
                let seed = seeds.start + at as u64;
                println!("seed {seed} is rejected by rustc: {why}");
                let rejects = |case: &Case| batches.rejects(case).is_ok_and(|rejected| rejected);
                shrink_compiled(seed, level, rejects);
            }
            for (at, how) in outcome.differ {
                let seed = seeds.start + at as u64;
                println!("seed {seed}: {how}");
                let differs = |case: &Case| {
                    let outcome = batches.judge(std::slice::from_ref(case));
                    outcome.is_ok_and(|o| !o.differ.is_empty())
                };
                shrink_compiled(seed, level, differs);
            }
        }
    };
    std::thread::scope(|scope| {
        let job = &job;
        let jobs: Vec<_> = (0..options.jobs)
            .map(|number| scope.spawn(move || job(number)))
            .collect();
        let mut ends = jobs.into_iter().map(|job| job.join().expect("no panic"));
        ends.try_for_each(|end| end)
    })?;
    let minutes = start.elapsed().as_secs_f64() / 60.0;
    let (done, bad) = (done.into_inner(), bad.into_inner());
    println!(
        "{done} kernels by rustc at opt-level {level} in {minutes:.1} min, seeds from {}: {bad} rejected or different",
        options.seed
    );
    Ok(bad == 0)
}

/// rustc takes seconds for each candidate, so that time ends it.
fn shrink_compiled(seed: u64, level: u64, fails: impl Fn(&Case) -> bool) {
    let start = Instant::now();
    let small = shrink(&generate_for_host(seed), 1500, |candidate| {
        let case = candidate.case();
        start.elapsed() < SHRINKING && sarek_fuzz::judge::lower(&case).is_ok() && fails(&case)
    });
    let path = corpus(&format!("rustc{level}_{seed}"));
    keep(&path, &small.case());
    println!("{}\n{}", small.case(), path.display());
}

/// What was seen so far.
#[derive(Default)]
struct Tally {
    kernels: u64,
    faulted: u64,
    rejected: u64,
    differ: u64,
    by_device: std::collections::BTreeMap<String, u64>,
}

fn fuzz(options: &Options) -> bool {
    let (next, start) = (AtomicU64::new(0), Instant::now());
    let tally = Mutex::new(Tally::default());
    let among: Vec<&str> = options.among.iter().map(String::as_str).collect();
    std::thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| {
                let mut worker = Worker::new(&among);
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= options.count || start.elapsed() > options.time {
                        return;
                    }
                    one(options.seed + at, &mut worker, &tally);
                }
            });
        }
    });
    let tally = tally.into_inner().unwrap_or_else(|e| e.into_inner());
    let minutes = start.elapsed().as_secs_f64() / 60.0;
    println!(
        "{} kernels in {minutes:.1} min ({:.0} a minute), seeds from {}: {} faulted everywhere, {} rejected, {} differ",
        tally.kernels,
        tally.kernels as f64 / minutes,
        options.seed,
        tally.faulted,
        tally.rejected,
        tally.differ
    );
    for (device, count) in &tally.by_device {
        println!("  {count:>7} on {device}");
    }
    tally.differ == 0 && tally.rejected == 0
}

fn one(seed: u64, worker: &mut Worker, tally: &Mutex<Tally>) {
    let generated = generate(seed);
    let verdict = worker.judge(&generated.case());
    {
        let mut tally = tally.lock().unwrap_or_else(|e| e.into_inner());
        tally.kernels += 1;
        if tally.kernels.is_multiple_of(500) {
            println!("{} kernels, seed {seed}", tally.kernels);
        }
        match &verdict {
            Verdict::Agreed { devices, fault } => {
                tally.faulted += u64::from(*fault);
                for device in devices {
                    *tally.by_device.entry(device.clone()).or_default() += 1;
                }
            }
            Verdict::Differs { .. } => tally.differ += 1,
            Verdict::Rejected(_) => tally.rejected += 1,
        }
    }
    match verdict {
        Verdict::Agreed { .. } => {}
        Verdict::Rejected(why) => println!("seed {seed} is rejected: {why}"),
        Verdict::Differs { device, how } => report(seed, &generated, &device, &how),
    }
}

/// Shrinks and keeps a kernel on which a device differs.
fn report(seed: u64, generated: &Generated, device: &str, how: &str) {
    let said = how.split("--- source ---").next().unwrap_or_default();
    println!("seed {seed}: {device}: {}", said.trim());
    let among: &[&str] = match device {
        "process" => &[],
        device => &[device],
    };
    let mut worker = Worker::new(among);
    let mut last = how.to_owned();
    let path = corpus(&format!("{device}_{seed}"));
    let small = shrink(generated, 1500, |candidate| {
        match worker.judge(&candidate.case()) {
            Verdict::Differs { device: same, how } if same == device => {
                last = how;
                keep(&path, &candidate.case());
                true
            }
            _ => false,
        }
    });
    let said = last.split("--- source ---").next().unwrap_or_default();
    println!("{}\n{}: {}", small.case(), path.display(), said.trim());
}

/// The file of a kept kernel.
fn corpus(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    folder.join(name).with_extension("rs")
}

fn keep(path: &Path, case: &Case) {
    if let Err(error) = std::fs::write(path, case.to_string()) {
        println!("{} cannot be written: {error}", path.display());
    }
}
