//! Many kernels in one generated crate: rustc compiles the user's function of each and its compiled body.
//!
//! The crate stands in the target directory and shares the dependencies that are built there. Its program
//! compares `native` and the interpreter with the user's own function, see [`sarek::conformance::reference`].

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use sarek::Device;
use sarek_runtime::KernelDef;

use crate::case::{Case, Launch};
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
        let launch = Launch::parse(kernel.launch).expect("a launch as it was written");
        if let Verdict::Differs { device, how } = judge::compare(kernel.def, &launch, &devices) {
            differ += 1;
            println!("{MARK}{} {device}: {how}", kernel.name);
        }
    }
    differ
}

const MARK: &str = "differs: ";

/// The reference, and what is compared with it.
///
/// # Panics
/// There is no reference.
pub fn host_devices() -> Vec<Device> {
    let reference = sarek::conformance::reference().expect("it needs nothing");
    let mut devices = vec![reference];
    devices.extend(
        ["native", "interpreter"]
            .into_iter()
            .filter_map(|n| Device::of(n).ok()),
    );
    devices
}

/// The generated crate.
pub struct Crate {
    dir: PathBuf,
    target: PathBuf,
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

impl Crate {
    /// The crate below a target directory, its kernels optimised so much.
    pub fn new(target: &Path, opt_level: u64) -> Crate {
        Crate {
            dir: target.join("sarek-fuzz").join(format!("batch{opt_level}")),
            target: target.to_owned(),
            opt_level,
        }
    }

    /// Compiles and runs cases.
    ///
    /// # Errors
    /// The crate cannot be written, or what cargo says of something other than a kernel.
    pub fn judge(&self, cases: &[Case]) -> Result<Outcome, String> {
        let mut outcome = Outcome::default();
        loop {
            let left: Vec<_> = (0..cases.len())
                .filter(|at| outcome.rejected.iter().all(|(k, _)| k != at))
                .collect();
            self.write(cases, &left).map_err(|e| e.to_string())?;
            let log = match self.build()? {
                None => break,
                Some(log) => log,
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

    fn write(&self, cases: &[Case], left: &[usize]) -> std::io::Result<()> {
        let source = self.dir.join("src");
        std::fs::create_dir_all(&source)?;
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        std::fs::write(self.dir.join("Cargo.toml"), self.manifest(&root))?;
        std::fs::copy(root.join("Cargo.lock"), self.dir.join("Cargo.lock"))?;
        let (mut modules, mut table) = (String::new(), String::new());
        for &at in left {
            std::fs::write(source.join(format!("k{at}.rs")), cases[at].to_string())?;
            let _ = writeln!(
                modules,
                "#[allow(warnings, arithmetic_overflow, unconditional_panic, overflowing_literals)]\nmod k{at};"
            );
            let _ = writeln!(
                table,
                "        Compiled {{ name: \"{at}\", launch: \"{}\", def: const {{ &<k{at}::k as sarek::Kernel>::DEF }} }},",
                cases[at].launch
            );
        }
        let main = format!(
            "use sarek_fuzz::batch::{{Compiled, run}};\n\n{modules}\nfn main() {{\n    run(&[\n{table}    ]);\n}}\n"
        );
        std::fs::write(source.join("main.rs"), main)
    }

    fn manifest(&self, root: &Path) -> String {
        let (root, level) = (root.display(), self.opt_level);
        // The profile is the workspace's, so that dependencies are shared.
        format!(
            "[package]\nname = \"sarek-fuzz-batch{level}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n\
             [workspace]\n\n[dependencies]\nsarek = {{ path = \"{root}\", features = [\"conformance\"] }}\n\
             sarek-fuzz = {{ path = \"{root}/fuzz\" }}\n\n[profile.release]\ndebug = \"line-tables-only\"\n\n\
             [profile.release.package.sarek-fuzz-batch{level}]\nopt-level = {level}\ncodegen-units = 16\n"
        )
    }

    /// What rustc says if it rejects something.
    fn build(&self) -> Result<Option<String>, String> {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
        let built = Command::new(cargo)
            .args(["build", "--release", "--offline", "--quiet"])
            .current_dir(&self.dir)
            .env("CARGO_TARGET_DIR", &self.target)
            .output()
            .map_err(|e| e.to_string())?;
        let log = String::from_utf8_lossy(&built.stderr).into_owned();
        Ok((!built.status.success()).then_some(log))
    }

    fn run(&self) -> Result<Vec<(usize, String)>, String> {
        let name = format!("sarek-fuzz-batch{}", self.opt_level);
        let ran = Command::new(self.target.join("release").join(name))
            .output()
            .map_err(|e| e.to_string())?;
        let text = String::from_utf8_lossy(&ran.stdout);
        if !ran.status.success() {
            return Err(format!("the batch ends with {}:\n{text}", ran.status));
        }
        let differs = text.lines().filter_map(|line| line.strip_prefix(MARK));
        let split = |line: &str| {
            let (name, how) = line.split_once(' ')?;
            Some((name.parse().ok()?, how.to_owned()))
        };
        Ok(differs.filter_map(split).collect())
    }
}

/// The kernels in whose files rustc reports errors, each with the first.
fn blamed(log: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = vec![];
    for report in log.split("\n\n").filter(|r| r.starts_with("error")) {
        let place = report.split_once("--> src/k");
        let number = place.and_then(|(_, p)| p.split_once(".rs")?.0.parse().ok());
        if let Some(number) = number
            && found.iter().all(|(known, _)| *known != number)
        {
            found.push((number, report.to_owned()));
        }
    }
    found
}
