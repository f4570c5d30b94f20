//! The command: generates, judges, shrinks, keeps.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sarek_fuzz::batch::{Crate, Form};
use sarek_fuzz::case::Case;
use sarek_fuzz::compiler::Compiler;
use sarek_fuzz::generate::{Generated, generate, generate_for_rustc};
use sarek_fuzz::judge::{self, Verdict};
use sarek_fuzz::shrink::shrink;
use sarek_fuzz::worker::{self, Worker};

const USAGE: &str = "\
usage: sarek-fuzz [--seed S] [--count N] [--seconds T] [--jobs J] [--among BACKENDS]
       sarek-fuzz --rustc LEVELS [the same]
                                   compile with rustc at opt-levels by turns, such as 0,1
       sarek-fuzz --print S        print the kernel of a seed
       sarek-fuzz --judge FILE     judge a kept kernel
       sarek-fuzz --rustc LEVELS --judge FILE
       sarek-fuzz --target NAME --text FILE
                                   print the text of a kept kernel, with every check";

struct Options {
    seed: u64,
    count: u64,
    time: Duration,
    jobs: usize,
    among: Vec<String>,
    /// If rustc is to compile the kernels: the levels at which it optimises them, by turns.
    rustc: Vec<u64>,
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
        rustc: vec![],
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
            "--rustc" => {
                let levels = value.split(',').map(|level| level.parse());
                let levels: Result<_, _> = levels.collect();
                options.rustc = levels.map_err(|_| format!("no levels: `{value}`"))?;
            }
            "--worker" => return worker::serve(value).map(|()| true),
            "--print" => {
                let generated = match options.rustc.is_empty() {
                    true => generate(number()?),
                    false => generate_for_rustc(number()?),
                };
                print!("{}", generated.case());
                return Ok(true);
            }
            "--judge" => {
                let text = std::fs::read_to_string(value).map_err(|e| e.to_string())?;
                return judge_one(&Case::parse(&text)?, &options);
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
    match options.rustc.is_empty() {
        true => Ok(fuzz(&options)),
        false => compiled(&options, &options.rustc),
    }
}

fn judge_one(case: &Case, options: &Options) -> Result<bool, String> {
    let among: Vec<&str> = options.among.iter().map(String::as_str).collect();
    if options.rustc.is_empty() {
        let verdict = Worker::new(&among).judge(case);
        println!("{verdict:?}");
        return Ok(matches!(verdict, Verdict::Agreed { .. }));
    }
    let target = target()?;
    let compiler = Compiler::new(&target)?;
    let batches = Crate::new(&compiler, &folder(&target, 0));
    let mut agreed = true;
    for form in options.rustc.iter().flat_map(|level| Form::all(*level)) {
        let verdict = &batches.judge(std::slice::from_ref(case), form, &among)?[0];
        println!("{form}: {verdict:?}");
        agreed &= matches!(verdict, Verdict::Agreed { .. });
    }
    Ok(agreed)
}

/// The target directory.
fn target() -> Result<PathBuf, String> {
    let exe = std::env::current_exe().map_err(|e| e.to_string())?;
    let target = exe.ancestors().nth(2).ok_or("no target directory")?;
    Ok(target.to_owned())
}

/// How many kernels rustc compiles at once.
const BATCH: u64 = 16;

/// How long a kernel that rustc compiles is shrunk.
const SHRINKING: Duration = Duration::from_secs(120);

/// The folder of a job's crate.
fn folder(target: &Path, job: usize) -> PathBuf {
    target.join("sarek-fuzz").join(format!("batch{job}"))
}

/// Each job compiles a crate of its own at a time.
fn compiled(options: &Options, levels: &[u64]) -> Result<bool, String> {
    let target = target()?;
    let compiler = Compiler::new(&target)?;
    let (next, start) = (AtomicU64::new(0), Instant::now());
    let tally = Mutex::new(Tally::default());
    let among: Vec<&str> = options.among.iter().map(String::as_str).collect();
    let job = |number: usize| -> Result<(), String> {
        let batches = Crate::new(&compiler, &folder(&target, number));
        loop {
            let at = next.fetch_add(BATCH, Ordering::Relaxed);
            if at >= options.count || start.elapsed() > options.time {
                return Ok(());
            }
            let seeds = options.seed + at..options.seed + options.count.min(at + BATCH);
            let form = Form::of_seed(levels, seeds.start);
            let cases: Vec<_> = seeds
                .clone()
                .map(|s| generate_for_rustc(s).case())
                .collect();
            let verdicts = batches.judge(&cases, form, &among)?;
            let start = Instant::now();
            for (seed, verdict) in seeds.zip(verdicts) {
                tally
                    .lock()
                    .unwrap_or_else(|e| e.into_inner())
                    .add(seed, &verdict);
                match verdict {
                    Verdict::Agreed { .. } => {}
                    Verdict::Rejected(why) => {
                        println!("seed {seed} is rejected by rustc: {why}");
                        shrink_compiled(seed, "rustc", start, |case| {
                            batches.rejects(case, form).is_ok_and(|rejected| rejected)
                        });
                    }
                    Verdict::Differs { device, how } => {
                        println!("seed {seed}, {form}: {device}: {}", said(&how));
                        let among: &[&str] = if device == "process" { &[] } else { &[&device] };
                        shrink_compiled(seed, &device, start, |case| {
                            let verdicts = batches.judge(std::slice::from_ref(case), form, among);
                            verdicts.is_ok_and(|v| differs_on(&device, &v[0]))
                        });
                    }
                }
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
    let tally = tally.into_inner().unwrap_or_else(|e| e.into_inner());
    Ok(tally.tell(options.seed, start.elapsed()))
}

fn differs_on(device: &str, verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Differs { device: other, .. } if other == device)
}

/// rustc takes seconds for each candidate, so that time ends it.
fn shrink_compiled(seed: u64, found_by: &str, start: Instant, fails: impl Fn(&Case) -> bool) {
    let small = shrink(&generate_for_rustc(seed), 1500, |candidate| {
        start.elapsed() < SHRINKING && fails(&candidate.case())
    });
    let path = corpus(&format!("{found_by}_{seed}"));
    keep(&path, &small.case());
    println!("{}\n{}", small.case(), path.display());
}

/// What a device said, without its source text.
fn said(how: &str) -> &str {
    how.split("--- source ---")
        .next()
        .unwrap_or_default()
        .trim()
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

impl Tally {
    fn add(&mut self, seed: u64, verdict: &Verdict) {
        self.kernels += 1;
        if self.kernels.is_multiple_of(500) {
            println!("{} kernels, seed {seed}", self.kernels);
        }
        match verdict {
            Verdict::Agreed { devices, fault } => {
                self.faulted += u64::from(*fault);
                for device in devices {
                    *self.by_device.entry(device.clone()).or_default() += 1;
                }
            }
            Verdict::Differs { .. } => self.differ += 1,
            Verdict::Rejected(_) => self.rejected += 1,
        }
    }

    /// Prints it. Was all well?
    fn tell(&self, from: u64, time: Duration) -> bool {
        let minutes = time.as_secs_f64() / 60.0;
        println!(
            "{} kernels in {minutes:.1} min ({:.0} a minute), seeds from {from}: {} faulted everywhere, {} rejected, {} differ",
            self.kernels,
            self.kernels as f64 / minutes,
            self.faulted,
            self.rejected,
            self.differ
        );
        for (device, count) in &self.by_device {
            println!("  {count:>7} on {device}");
        }
        self.differ == 0 && self.rejected == 0
    }
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
    tally.tell(options.seed, start.elapsed())
}

fn one(seed: u64, worker: &mut Worker, tally: &Mutex<Tally>) {
    let generated = generate(seed);
    let verdict = worker.judge(&generated.case());
    tally
        .lock()
        .unwrap_or_else(|e| e.into_inner())
        .add(seed, &verdict);
    match verdict {
        Verdict::Agreed { .. } => {}
        Verdict::Rejected(why) => println!("seed {seed} is rejected: {why}"),
        Verdict::Differs { device, how } => report(seed, &generated, &device, &how),
    }
}

/// Shrinks and keeps a kernel on which a device differs.
fn report(seed: u64, generated: &Generated, device: &str, how: &str) {
    println!("seed {seed}: {device}: {}", said(how));
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
    println!("{}\n{}: {}", small.case(), path.display(), said(&last));
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
