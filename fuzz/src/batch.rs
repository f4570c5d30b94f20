//! Compiles many kernels as one generated crate: for each, rustc compiles the user's function and the native body.
//!
//! The crate is written to the target directory and links the libraries that are built there, see [`crate::compiler`]. Its program
//! compares all devices with the user's own function, see [`sarek::testing::reference`].
//!
//! rustc takes most of the time. So each crate has its kernels in only one of the [`Form`]s in which a program contains them, and the
//! forms vary from crate to crate.

use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use sarek::testing::Random;
use sarek_runtime::KernelDef;
use sarek_runtime::host::{Isa, isa};

use crate::case::{Case, Launch};
use crate::compiler::{Compiler, Goal, MAIN, PROGRAM};
use crate::judge::Comparison;
use crate::verdict::{Kind, Progress, Verdict};
use crate::worker;

/// A kernel in the generated program.
pub struct Compiled {
    /// The launch, in the format of [`Launch::parse`].
    pub launch: &'static str,
    /// The kernel.
    pub def: &'static KernelDef,
}

/// The `main` function of the generated program.
///
/// Its command line has three arguments: the index of the first kernel to judge, the devices to compare, and the devices to leave out
/// for that first kernel.
///
/// # Panics
/// A launch cannot be parsed, or the reference device is missing.
pub fn run(kernels: &[Compiled]) {
    let mut arguments = std::env::args().skip(1);
    let from = arguments.next().map_or(0, |n| n.parse().expect("a number"));
    let among = arguments.next().unwrap_or_default();
    let names: Vec<_> = among.split(',').filter(|n| !n.is_empty()).collect();
    let comparison = Comparison::of_compiled(&names);
    // Where a kernel faults, the user's function panics. This hook silences the message.
    std::panic::set_hook(Box::new(|_| ()));
    let without = arguments.next().unwrap_or_default();
    let mut without: Vec<_> = without.split(',').collect();
    for kernel in &kernels[from..] {
        let launch = Launch::parse(kernel.launch).expect("a launch as it was written");
        comparison.compare(kernel.def, &launch, &without, &mut |e| worker::answer(&e));
        without.clear();
    }
}

/// The number of kernels in one crate.
pub const BATCH: u64 = 16;

/// The instruction sets of this processor.
fn sets() -> Vec<Isa> {
    let mut sets = vec![Isa::Baseline, Isa::Avx2, Isa::Avx512];
    sets.retain(|set| *set <= isa());
    sets
}

/// The variant of the native bodies that a crate contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    /// The optimisation level of rustc.
    pub opt_level: u64,
    /// The instruction set.
    pub isa: Isa,
    /// True if there is also a body without the provable checks, for launches for which they are proved.
    pub proved: bool,
    /// True if the body has the loop shapes that serve only as optimisations.
    pub shapes: bool,
}

impl Form {
    /// All forms at an optimisation level whose instruction sets this processor has.
    pub fn all(opt_level: u64) -> Vec<Form> {
        let both = [true, false];
        sets()
            .into_iter()
            .flat_map(|isa| both.map(|proved| (isa, proved)))
            .flat_map(|(isa, proved)| {
                both.map(|shapes| Form {
                    opt_level,
                    isa,
                    proved,
                    shapes,
                })
            })
            .collect()
    }

    /// Picks the form of a crate from the seed of its first kernel. Successive crates rotate through the instruction sets.
    pub fn of_seed(opt_levels: &[u64], seed: u64) -> Form {
        let mut random = Random::new(seed);
        let mut below = |n: usize| random.below(n as u64) as usize;
        let mut forms = Form::all(opt_levels[below(opt_levels.len())]);
        let sets = sets();
        let set = sets[(seed / BATCH) as usize % sets.len()];
        forms.retain(|form| form.isa == set);
        forms[below(forms.len())]
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Form {
            opt_level,
            isa,
            proved,
            shapes,
        } = self;
        let body = if *proved { "proved" } else { "checked" };
        let shapes = if *shapes { "shaped" } else { "plain" };
        write!(f, "opt-level {opt_level}, {}, {body}, {shapes}", isa.name())
    }
}

/// The generated crate.
pub struct Crate<'c> {
    compiler: &'c Compiler,
    folder: PathBuf,
}

impl Crate<'_> {
    /// A crate in this folder.
    pub fn new<'c>(compiler: &'c Compiler, folder: &Path) -> Crate<'c> {
        Crate {
            compiler,
            folder: folder.to_owned(),
        }
    }

    /// Compiles cases in a form, runs them on the devices in `among` (all if empty), and returns a verdict for each. A device that takes
    /// longer than `timeout` counts as hung.
    ///
    /// # Errors
    /// The crate cannot be written, or rustc reports an error outside of the kernels.
    pub fn judge(
        &self,
        cases: &[Case],
        form: Form,
        among: &[&str],
        timeout: Duration,
    ) -> Result<Vec<Verdict>, String> {
        let mut verdicts = vec![None; cases.len()];
        loop {
            let left = (0..cases.len()).filter(|at| verdicts[*at].is_none());
            let left: Vec<usize> = left.collect();
            self.write(cases, &left, form).map_err(|e| e.to_string())?;
            let goal = Goal::Program(form.opt_level);
            let Some(log) = self.compiler.compile(&self.folder, goal)? else {
                break;
            };
            let rejected = blamed(&log);
            if rejected.is_empty() {
                return Err(log);
            }
            for (at, why) in rejected {
                verdicts[at] = Some(Verdict::rejected("rustc", why));
            }
        }
        let left = verdicts.iter().filter(|v| v.is_none()).count();
        let mut found = self.run(left, among, timeout)?.into_iter();
        let verdicts = verdicts
            .into_iter()
            .map(|known| known.or_else(|| found.next()));
        Ok(verdicts.map(|v| v.expect("one for each")).collect())
    }

    /// True if rustc rejects a case with an error whose first line is that of `why`. rustc only checks the case.
    ///
    /// # Errors
    /// The crate cannot be written.
    pub fn rejects(&self, case: &Case, form: Form, why: &str) -> Result<bool, String> {
        self.write(std::slice::from_ref(case), &[0], form)
            .map_err(|e| e.to_string())?;
        let log = self.compiler.compile(&self.folder, Goal::Check)?;
        let is_same = |(_, found): &(usize, String)| found.lines().next() == why.lines().next();
        Ok(log.is_some_and(|log| blamed(&log).iter().any(is_same)))
    }

    fn write(&self, cases: &[Case], left: &[usize], form: Form) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let (mut modules, mut table) = (String::new(), String::new());
        let (set, proved) = (form.isa as u8, form.proved);
        for &at in left {
            let mut case = cases[at].clone();
            if !form.shapes {
                case.options.push_str(match case.options.is_empty() {
                    true => "__shapes = \"\"",
                    false => ", __shapes = \"\"",
                });
            }
            std::fs::write(self.folder.join(format!("k{at}.rs")), case.to_string())?;
            let _ = writeln!(
                modules,
                "#[allow(warnings, arithmetic_overflow, unconditional_panic, overflowing_literals)]\nmod k{at};"
            );
            let (launch, kernel) = (&case.launch, format!("k{at}::k{}", case.launch.instance()));
            let _ = writeln!(
                table,
                "        Compiled {{ launch: \"{launch}\", def: const {{ &KernelDef {{ \
                 direct: unsafe {{ Direct::one::<{kernel}, {set}, {proved}>() }}, ..<{kernel} as sarek::Kernel>::DEF }} }} }},",
            );
        }
        let main = format!(
            "use sarek::__private::{{KernelDef, host::Direct}};\nuse sarek_fuzz::batch::{{Compiled, run}};\n\n\
             {modules}\nfn main() {{\n    run(&[\n{table}    ]);\n}}\n"
        );
        std::fs::write(self.folder.join(MAIN), main)
    }

    /// Runs the program and returns the verdicts on its `count` kernels. Restarts the program after a crash, a hang or a device failure.
    fn run(&self, count: usize, among: &[&str], timeout: Duration) -> Result<Vec<Verdict>, String> {
        let mut verdicts = vec![];
        let mut progress = Progress::default();
        while verdicts.len() < count {
            let without = progress.finished().join(",");
            let mut program = Command::new(self.folder.join(PROGRAM))
                .args([verdicts.len().to_string(), among.join(","), without])
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .map_err(|e| e.to_string())?;
            let answers = worker::answers(program.stdout.take().expect("it is piped"));
            let lost = loop {
                match answers.recv_timeout(timeout) {
                    Ok(line) => progress.record(&line)?,
                    Err(RecvTimeoutError::Timeout) => break Some("it hangs"),
                    Err(RecvTimeoutError::Disconnected) => break Some("it crashes"),
                }
                if progress.is_over() {
                    verdicts.push(std::mem::take(&mut progress).verdict());
                    // A lost device stays unusable in this process.
                    let is_spoilt = verdicts.last().is_some_and(|v| v.has(Kind::Failed));
                    if is_spoilt || verdicts.len() == count {
                        break None;
                    }
                }
            };
            if lost != Some("it crashes") {
                // The program may have ended by itself.
                let _ = program.kill();
            }
            let status = program.wait().map_err(|e| e.to_string())?;
            if let Some(reason) = lost {
                progress.blame_device(format!("{reason}: {status}"));
                if progress.is_over() {
                    verdicts.push(std::mem::take(&mut progress).verdict());
                }
            }
        }
        Ok(verdicts)
    }
}

/// The kernels in whose files rustc reports errors, each with its first error.
fn blamed(log: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = vec![];
    for report in log.split("\n\n").filter(|r| r.starts_with("error")) {
        let place = report.split_once("--> k");
        let name = place.and_then(|(_, p)| Some(p.split_once(".rs")?.0));
        if let Some(number) = name.and_then(|n| n.parse().ok())
            && found.iter().all(|(known, _)| *known != number)
        {
            found.push((number, report.to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_cycle_through_instruction_sets() {
        let of = |at: u64| Form::of_seed(&[1], 1 + at * BATCH).isa;
        let n = sets().len() as u64;
        let found: Vec<Isa> = (0..n).map(of).collect();
        assert!(sets().iter().all(|set| found.contains(set)), "{found:?}");
        assert_eq!(of(n), of(0));
    }
}
