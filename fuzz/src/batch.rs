//! Many kernels in one generated crate: rustc compiles the user's function of each and its compiled body.
//!
//! The crate stands in the target directory and shares the libraries that are built there, see [`crate::compiler`]. Its program
//! compares `native` and the interpreter with the user's own function, see [`sarek::testing::reference`].

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use sarek::Device;
use sarek_runtime::KernelDef;

use crate::case::{Case, Launch};
use crate::compiler::{Compiler, Goal, MAIN, PROGRAM};
use crate::judge::{self, Verdict};

/// A kernel as the generated program has it.
pub struct Compiled {
    /// Which one it is.
    pub name: &'static str,
    /// As [`Launch::parse`] reads it.
    pub launch: &'static str,
    /// The kernel.
    pub def: &'static KernelDef,
}

/// Compares the compiled kernels; prints those that differ, and says how many do.
///
/// # Panics
/// A launch cannot be read, or there is no reference.
pub fn run(kernels: &[Compiled]) -> usize {
    let devices = host_devices();
    // The user's function panics where a kernel faults.
    std::panic::set_hook(Box::new(|_| ()));
    let mut differ = 0;
    for kernel in kernels {
        println!("{BEGIN}{}", kernel.name);
        let launch = Launch::parse(kernel.launch).expect("a launch as it was written");
        if let Verdict::Differs { device, how } = judge::compare(kernel.def, &launch, &devices) {
            differ += 1;
            println!("{MARK}{} {device}: {how}", kernel.name);
        }
    }
    differ
}

const MARK: &str = "differs: ";
const BEGIN: &str = "begins: ";

/// The reference, and what is compared with it.
///
/// # Panics
/// There is no reference.
pub fn host_devices() -> Vec<Device> {
    let reference = sarek::testing::reference().expect("it needs nothing");
    let mut devices = vec![reference];
    devices.extend(
        ["native", "interpreter"]
            .into_iter()
            .filter_map(|n| Device::of(n).ok()),
    );
    devices
}

/// The generated crate.
pub struct Crate<'c> {
    compiler: &'c Compiler,
    folder: PathBuf,
    opt_level: u64,
}

/// What became of a batch.
#[derive(Default)]
pub struct Outcome {
    /// Which kernels differ, and how.
    pub differ: Vec<(usize, String)>,
    /// Which kernels rustc rejects, and why.
    pub rejected: Vec<(usize, String)>,
}

impl Crate<'_> {
    /// The crate in a folder, its kernels optimised so much.
    pub fn new<'c>(compiler: &'c Compiler, folder: &Path, opt_level: u64) -> Crate<'c> {
        Crate {
            compiler,
            folder: folder.to_owned(),
            opt_level,
        }
    }

    /// Compiles and runs cases.
    ///
    /// # Errors
    /// The crate cannot be written, or what rustc says of something other than a kernel.
    pub fn judge(&self, cases: &[Case]) -> Result<Outcome, String> {
        let mut outcome = Outcome::default();
        loop {
            let left: Vec<_> = (0..cases.len())
                .filter(|at| outcome.rejected.iter().all(|(k, _)| k != at))
                .collect();
            self.write(cases, &left).map_err(|e| e.to_string())?;
            let goal = Goal::Program(self.opt_level);
            let Some(log) = self.compiler.compile(&self.folder, goal)? else {
                break;
            };
            let rejected = blamed(&log);
            if rejected.is_empty() {
                return Err(log);
            }
            outcome.rejected.extend(rejected);
        }
        outcome.differ = self.run()?;
        Ok(outcome)
    }

    /// Does rustc reject a case? It is not compiled to its end.
    ///
    /// # Errors
    /// The crate cannot be written.
    pub fn rejects(&self, case: &Case) -> Result<bool, String> {
        self.write(std::slice::from_ref(case), &[0])
            .map_err(|e| e.to_string())?;
        let log = self.compiler.compile(&self.folder, Goal::Check)?;
        Ok(log.is_some_and(|log| !blamed(&log).is_empty()))
    }

    fn write(&self, cases: &[Case], left: &[usize]) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let (mut modules, mut table) = (String::new(), String::new());
        for &at in left {
            for (name, text) in forms(at, &cases[at]) {
                std::fs::write(self.folder.join(format!("k{name}.rs")), text)?;
                let _ = writeln!(
                    modules,
                    "#[allow(warnings, arithmetic_overflow, unconditional_panic, overflowing_literals)]\nmod k{name};"
                );
                let _ = writeln!(
                    table,
                    "        Compiled {{ name: \"{name}\", launch: \"{}\", def: const {{ &<k{name}::k as sarek::Kernel>::DEF }} }},",
                    cases[at].launch
                );
            }
        }
        let main = format!(
            "use sarek_fuzz::batch::{{Compiled, run}};\n\n{modules}\nfn main() {{\n    run(&[\n{table}    ]);\n}}\n"
        );
        std::fs::write(self.folder.join(MAIN), main)
    }

    fn run(&self) -> Result<Vec<(usize, String)>, String> {
        let ran = Command::new(self.folder.join(PROGRAM))
            .output()
            .map_err(|e| e.to_string())?;
        let text = String::from_utf8_lossy(&ran.stdout);
        let number = |name: &str| name.trim_end_matches(PLAIN).parse().ok();
        if !ran.status.success() {
            // The rest was not run.
            let last = text.lines().rev().find_map(|l| l.strip_prefix(BEGIN));
            let how = format!("the program ends with {}", ran.status);
            let last = last.and_then(number).ok_or(how.clone())?;
            return Ok(vec![(last, how)]);
        }
        let differs = text.lines().filter_map(|line| line.strip_prefix(MARK));
        let split = |line: &str| {
            let (name, how) = line.split_once(' ')?;
            Some((number(name)?, how.to_owned()))
        };
        Ok(differs.filter_map(split).collect())
    }
}

/// Marks the form of a kernel whose compiled body has none of the shapes that only make it faster.
const PLAIN: char = 'p';

/// The names and texts of the modules of a case: as it is, and where loops over lanes can have shapes, without those.
fn forms(at: usize, case: &Case) -> Vec<(String, String)> {
    let text = case.to_string();
    let plain = text.replacen("#[kernel]", "#[kernel(__shapes = \"\")]", 1);
    let mut forms = vec![(at.to_string(), text)];
    if case.function.contains("barrier()") || case.function.contains("for ") {
        forms.push((format!("{at}{PLAIN}"), plain));
    }
    forms
}

/// The kernels in whose files rustc reports errors, each with the first.
fn blamed(log: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = vec![];
    for report in log.split("\n\n").filter(|r| r.starts_with("error")) {
        let place = report.split_once("--> k");
        let name = place.and_then(|(_, p)| Some(p.split_once(".rs")?.0));
        let number = name.and_then(|n| n.trim_end_matches(PLAIN).parse().ok());
        if let Some(number) = number
            && found.iter().all(|(known, _)| *known != number)
        {
            found.push((number, report.to_owned()));
        }
    }
    found
}
