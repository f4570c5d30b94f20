//! A fuzzing run: jobs judge the kernels of successive seeds.
//!
//! Each finding is shrunk and written to the corpus. The run prints its counts now and then, and a summary at its end.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sarek_fuzz::batch::{BATCH, Crate, Form};
use sarek_fuzz::case::Case;
use sarek_fuzz::compiler::Compiler;
use sarek_fuzz::generate::{Generated, of_seed};
use sarek_fuzz::shrink::shrink;
use sarek_fuzz::tally::Tally;
use sarek_fuzz::verdict::{Finding, Kind, Verdict, without_source};
use sarek_fuzz::worker::{DEVICE_TIMEOUT, Worker};

use crate::Options;

/// The interval between two progress lines.
const REPORT_INTERVAL: Duration = Duration::from_secs(20);

/// The maximum number of candidates that shrinking judges.
const CANDIDATES: usize = 1500;

/// The time limit of a device for one candidate of shrinking. Most take a fraction of a second.
const SHRINK_TIMEOUT: Duration = Duration::from_secs(20);

/// A run over seeds.
pub struct Run<'o> {
    options: &'o Options,
    start: Instant,
    next: AtomicU64,
    tally: Mutex<Tally>,
}

impl Run<'_> {
    /// Performs the run that the options describe. Returns true if there was no finding.
    ///
    /// # Errors
    /// A job cannot continue.
    pub fn start(options: &Options) -> Result<bool, String> {
        let run = Run {
            options,
            start: Instant::now(),
            next: AtomicU64::new(0),
            tally: Mutex::default(),
        };
        if options.rustc.is_empty() {
            return run.all(|_| run.interpreted());
        }
        let target = crate::target()?;
        let compiler = Compiler::new(&target)?;
        run.all(|job| run.compiled(&Crate::new(&compiler, &crate::folder(&target, job))))
    }

    /// Runs the jobs. Prints the summary even if a job fails.
    fn all(&self, job: impl Fn(usize) -> Result<(), String> + Sync) -> Result<bool, String> {
        let (working, ended) = channel::<()>();
        let ends: Vec<_> = std::thread::scope(|scope| {
            let start = |number| {
                let (job, working) = (&job, working.clone());
                scope.spawn(move || {
                    let end = job(number);
                    drop(working);
                    end
                })
            };
            let jobs: Vec<_> = (0..self.options.jobs).map(start).collect();
            drop(working);
            while ended.recv_timeout(REPORT_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                println!("{}", self.tally().progress(self.start.elapsed()));
            }
            let ends = jobs.into_iter().map(|job| job.join());
            ends.map(|end| end.unwrap_or_else(|_| Err("a job panicked".into())))
                .collect()
        });
        let tally = self.tally();
        println!("{}", tally.summary(self.options.seed, self.start.elapsed()));
        ends.into_iter().collect::<Result<(), _>>()?;
        Ok(tally.all_agreed())
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next `most` seeds, or fewer at the end of the count. `None` once the count or the time is used up.
    fn seeds(&self, most: u64) -> Option<Range<u64>> {
        let at = self.next.fetch_add(most, Ordering::Relaxed);
        let Options {
            seed, count, time, ..
        } = *self.options;
        let is_over = at >= count || self.start.elapsed() > time;
        (!is_over).then(|| seed + at..seed + count.min(at + most))
    }

    /// Judges kernels one by one from their IR, without rustc.
    fn interpreted(&self) -> Result<(), String> {
        let mut worker = Worker::new(&self.options.among());
        while let Some(seeds) = self.seeds(1) {
            let generated = of_seed(seeds.start, false);
            let verdict = worker.judge(&generated.case());
            let findings = self.tally().add(&verdict);
            for finding in findings {
                let mut worker = Worker::new(&among(&finding)).with_timeout(SHRINK_TIMEOUT);
                self.report(seeds.start, &generated, &finding, "", |case| {
                    match finding.kind {
                        // A rejected kernel is not shrunk: the frontend rejects smaller candidates for unrelated reasons.
                        Kind::Rejected => Verdict::default(),
                        Kind::Differs | Kind::Failed => worker.judge(case),
                    }
                });
            }
        }
        Ok(())
    }

    /// Judges kernels in batches: rustc compiles each batch as one crate.
    fn compiled(&self, batches: &Crate) -> Result<(), String> {
        while let Some(seeds) = self.seeds(BATCH) {
            let form = Form::of_seed(&self.options.rustc, seeds.start);
            let cases = seeds.clone().map(|seed| of_seed(seed, true).case());
            let cases: Vec<_> = cases.collect();
            let verdicts = batches.judge(&cases, form, &self.options.among(), DEVICE_TIMEOUT)?;
            for (seed, verdict) in seeds.zip(verdicts) {
                let findings = self.tally().add(&verdict);
                for finding in findings {
                    let suffix = format!(", {form}");
                    self.report(seed, &of_seed(seed, true), &finding, &suffix, |case| {
                        candidate(batches, case, form, &finding).unwrap_or_default()
                    });
                }
            }
        }
        Ok(())
    }

    /// Prints a finding and writes its kernel to the corpus: first as found, then shrunk within the time limit.
    fn report(
        &self,
        seed: u64,
        generated: &Generated,
        finding: &Finding,
        form: &str,
        mut judge: impl FnMut(&Case) -> Verdict,
    ) {
        let (device, mut last) = (&finding.device, finding.message.clone());
        println!("seed {seed}{form}: {finding}");
        let path = corpus_file(&format!("{device}_{seed}"));
        write_to_corpus(&path, &generated.case());
        println!("written to {}", path.display());
        let until = Instant::now() + self.options.shrinking;
        let small = shrink(generated, CANDIDATES, until, |candidate| {
            let case = candidate.case();
            let Some(message) = judge(&case).same_finding(finding).map(str::to_owned) else {
                return false;
            };
            last = message;
            write_to_corpus(&path, &case);
            true
        });
        let small = small.case();
        println!(
            "{small}\nseed {seed}, {}: {}",
            path.display(),
            without_source(&last)
        );
    }
}

/// The devices needed to reproduce a finding; empty means all of them, if a process crashed and the device is unknown.
fn among(finding: &Finding) -> Vec<&str> {
    match finding.device.as_str() {
        "process" => vec![],
        device => vec![device],
    }
}

/// The verdict on a shrunk candidate that rustc compiles. For a rejected kernel, rustc only checks the candidate.
fn candidate(
    batches: &Crate,
    case: &Case,
    form: Form,
    finding: &Finding,
) -> Result<Verdict, String> {
    if finding.kind == Kind::Rejected {
        let is_rejected = batches.rejects(case, form, &finding.message)?;
        let rejected = || Verdict::rejected(&finding.device, finding.message.clone());
        return Ok(is_rejected.then(rejected).unwrap_or_default());
    }
    let cases = std::slice::from_ref(case);
    let verdicts = batches.judge(cases, form, &among(finding), SHRINK_TIMEOUT)?;
    Ok(verdicts.into_iter().next().unwrap_or_default())
}

/// The path of a corpus file.
fn corpus_file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    folder.join(name).with_extension("rs")
}

fn write_to_corpus(path: &Path, case: &Case) {
    if let Err(error) = std::fs::write(path, case.to_string()) {
        println!("{} cannot be written: {error}", path.display());
    }
}
