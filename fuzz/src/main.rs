//! The command line: generates kernels, judges them, shrinks the failing ones and writes them to the corpus.

mod run;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use sarek_fuzz::batch::{Crate, Form};
use sarek_fuzz::case::Case;
use sarek_fuzz::compiler::Compiler;
use sarek_fuzz::forms::judge::FormTally;
use sarek_fuzz::generate::of_seed;
use sarek_fuzz::judge;
use sarek_fuzz::races::RaceTally;
use sarek_fuzz::worker::{self, DEVICE_TIMEOUT, Worker};

use run::Run;

const USAGE: &str = "\
usage: sarek-fuzz [--seed S] [--count N] [--seconds T] [--jobs J] [--among BACKENDS] [--shrink T]
                                   run random kernels; --shrink: seconds spent on shrinking a failing kernel
       sarek-fuzz --rustc LEVELS [the same]
                                   compile with rustc, at a random one of these opt-levels, such as 0,1
       sarek-fuzz [--seed S] --races N
                                   compare the race proof with the sanitizer, on N kernels with functions
       sarek-fuzz [--seed S] --forms N
                                   the same on N kernels with usual forms of indices
       sarek-fuzz --print S        print the kernel of a seed
       sarek-fuzz --judge FILE     run the kernel of a file
       sarek-fuzz --rustc LEVELS --judge FILE
       sarek-fuzz --target NAME --text FILE
                                   print a kernel's text for a target, with every check";

struct Options {
    seed: u64,
    count: u64,
    time: Duration,
    /// The time limit for shrinking one finding.
    shrinking: Duration,
    jobs: usize,
    among: Vec<String>,
    /// The optimisation levels of rustc, used in rotation. If empty, rustc does not compile the kernels.
    rustc: Vec<u64>,
    /// The target language of `--text`.
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
        shrinking: Duration::from_secs(60),
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
        among: vec![],
        rustc: vec![],
        target: "cuda".into(),
    };
    for pair in args.chunks(2) {
        let [key, value] = pair else {
            return Err(format!("`{}` needs a value", pair[0]));
        };
        let number = || {
            value
                .parse::<u64>()
                .map_err(|_| format!("not a number: `{value}`"))
        };
        match key.as_str() {
            "--seed" => options.seed = number()?,
            "--count" => {
                options.count = number()?;
                options.time = Duration::MAX;
            }
            "--seconds" => options.time = Duration::from_secs(number()?),
            "--shrink" => options.shrinking = Duration::from_secs(number()?),
            "--jobs" => options.jobs = number()? as usize,
            "--among" => options.among = value.split(',').map(str::to_owned).collect(),
            "--rustc" => {
                let levels = value.split(',').map(|level| level.parse());
                let levels: Result<_, _> = levels.collect();
                options.rustc = levels.map_err(|_| format!("not a list of levels: `{value}`"))?;
            }
            "--races" => {
                let mut tally = RaceTally::default();
                let seeds = options.seed..options.seed.saturating_add(number()?);
                seeds.for_each(|seed| tally.judge_seed(seed));
                println!("{tally}");
                return Ok(tally.findings.is_empty());
            }
            "--forms" => {
                let mut tally = FormTally::default();
                let seeds = options.seed..options.seed.saturating_add(number()?);
                seeds.for_each(|seed| tally.judge_seed(seed));
                println!("{tally}");
                return Ok(tally.findings.is_empty());
            }
            "--worker" => return worker::serve(value).map(|()| true),
            "--print" => {
                let generated = of_seed(number()?, !options.rustc.is_empty());
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
    require(&options)?;
    Run::start(&options)
}

/// Returns an error if a backend (or `nvrtc`) that `SAREK_REQUIRE` names is absent.
fn require(options: &Options) -> Result<(), String> {
    let comparison = judge::Comparison::of_ir(&options.among());
    let present = comparison.names();
    let required = std::env::var("SAREK_REQUIRE").unwrap_or_default();
    let is_chosen =
        |name: &&str| options.among.is_empty() || options.among.iter().any(|n| n == name);
    let names = required.split(',').filter(|name| !name.is_empty());
    match names.filter(is_chosen).find(|name| !present.contains(name)) {
        Some(name) => Err(format!(
            "SAREK_REQUIRE names `{name}`, which is not available"
        )),
        None => Ok(()),
    }
}

impl Options {
    fn among(&self) -> Vec<&str> {
        self.among.iter().map(String::as_str).collect()
    }
}

fn judge_one(case: &Case, options: &Options) -> Result<bool, String> {
    let among = options.among();
    if options.rustc.is_empty() {
        let verdict = Worker::new(&among).judge(case);
        println!("{verdict:?}");
        return Ok(verdict.has_no_findings());
    }
    let target = target()?;
    let compiler = Compiler::new(&target)?;
    let batches = Crate::new(&compiler, &folder(&target, 0));
    let mut agreed = true;
    for form in options.rustc.iter().flat_map(|level| Form::all(*level)) {
        let verdict = &batches.judge(std::slice::from_ref(case), form, &among, DEVICE_TIMEOUT)?[0];
        println!("{form}: {verdict:?}");
        agreed &= verdict.has_no_findings();
    }
    Ok(agreed)
}

/// The target directory.
fn target() -> Result<PathBuf, String> {
    let exe = std::env::current_exe().map_err(|e| e.to_string())?;
    let target = exe.ancestors().nth(2).ok_or("no target directory")?;
    Ok(target.to_owned())
}

/// The folder of a job's crate.
fn folder(target: &Path, job: usize) -> PathBuf {
    target.join("sarek-fuzz").join(format!("batch{job}"))
}
