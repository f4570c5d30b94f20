//! Finds the kernels of a package: builds all its targets so that they register their kernels, and reads those of each executable.
//!
//! The package's crates are compiled by this program as `RUSTC_WORKSPACE_WRAPPER`. It starts rustc with `SAREK_COLLECT`, which the macro
//! heeds, and with `-C link-dead-code`, so that functions that nothing calls yet register the instances of generic kernels that they use. Cargo keeps what the wrapper
//! makes apart from other builds, and shares with them the dependencies.
//!
//! `main` does not run: an entry before it writes the kernels to a file, and ends the process.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use super::Found;
use crate::error::{Error, Result};
use crate::report::Output;

/// The choice of packages and features, as for `cargo build`.
#[derive(clap::Args)]
pub struct Build {
    /// Packages of the workspace
    #[arg(long, short)]
    package: Vec<String>,
    /// All packages of the workspace
    #[arg(long)]
    workspace: bool,
    /// Features to activate, separated by commas
    #[arg(long, short = 'F')]
    features: Vec<String>,
    /// Activate all features
    #[arg(long)]
    all_features: bool,
    /// Do not activate the feature `default`
    #[arg(long)]
    no_default_features: bool,
    /// Kernels of a release build, in which overflows wrap
    #[arg(long, short)]
    release: bool,
    /// The manifest of the package
    #[arg(long, value_name = "PATH")]
    manifest_path: Option<PathBuf>,
    /// Do not use the network
    #[arg(long)]
    offline: bool,
    /// An instance of a generic kernel, such as 'k::<f32, 16>', besides those that the package uses
    #[arg(long, value_name = "KERNEL")]
    pub instance: Vec<String>,
}

impl Build {
    fn arguments(&self) -> Vec<OsString> {
        let mut all: Vec<OsString> = vec!["build".into(), "--all-targets".into()];
        for package in &self.package {
            all.extend(["--package".into(), package.into()]);
        }
        for features in &self.features {
            all.extend(["--features".into(), features.into()]);
        }
        if let Some(path) = &self.manifest_path {
            all.extend(["--manifest-path".into(), path.into()]);
        }
        let flags = [
            ("--workspace", self.workspace),
            ("--all-features", self.all_features),
            ("--no-default-features", self.no_default_features),
            ("--release", self.release),
            ("--offline", self.offline),
        ];
        all.extend(
            flags
                .iter()
                .filter(|(_, on)| *on)
                .map(|(flag, _)| flag.into()),
        );
        all
    }
}

/// Variables by which this program knows that it stands in for rustc, and the wrapper that it replaces.
const WRAPPER: &str = "SAREK_COLLECT_WRAPPER";
const WRAPPED: &str = "SAREK_COLLECT_WRAPPED";

/// If cargo runs this program in place of rustc, does rustc's work, and returns its exit code.
pub fn as_rustc(args: &[OsString]) -> Option<ExitCode> {
    std::env::var_os(WRAPPER)?;
    // The arguments are the wrapper itself, the compiler and its arguments.
    let (rustc, rest) = args.get(1..)?.split_first()?;
    let mut command = match std::env::var_os(WRAPPED).filter(|wrapped| !wrapped.is_empty()) {
        Some(wrapped) => {
            let mut command = Command::new(wrapped);
            command.arg(rustc);
            command
        }
        None => Command::new(rustc),
    };
    command.args(rest);
    if has_kernels(rest) {
        command.env("SAREK_COLLECT", "1");
        command.args(["-C", "link-dead-code"]);
    }
    let code = match command.status() {
        Ok(status) => status.code().and_then(|code| u8::try_from(code).ok()),
        Err(error) => {
            eprintln!("error: {} does not start: {error}", rustc.display());
            None
        }
    };
    Some(ExitCode::from(code.unwrap_or(101)))
}

/// False for build scripts, macros, and questions about the compiler.
fn has_kernels(args: &[OsString]) -> bool {
    let after = |flag: &str| {
        let mut all = args.iter().skip_while(move |arg| *arg != flag);
        all.nth(1).and_then(|value| value.to_str())
    };
    match after("--crate-name") {
        None | Some("___") => false,
        Some(name) => name != "build_script_build" && !args.iter().any(|arg| arg == "proc-macro"),
    }
}

/// Builds the package, and returns its kernels. `explained` names the kernel whose devices are examined.
pub fn collect(build: &Build, explained: Option<&str>, output: Output) -> Result<Found> {
    if !cfg!(target_os = "linux") {
        return Err(Error::System {
            what: format!("kernels cannot be found on {}", std::env::consts::OS),
            help: "run this command on Linux, for example in CI".into(),
        });
    }
    if let Some(wrong) = build.instance.iter().find(|name| !name.contains('<')) {
        return Err(no_instance(wrong));
    }
    let executables = executables(build)?;
    let folder = std::env::temp_dir().join(format!("cargo-sarek-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(Error::file("created", &folder))?;
    let bar = output.progress(executables.len() as u64, "reading kernels");
    let mut all = Found::default();
    let mut result = Ok(());
    for executable in &executables {
        bar.inc(1);
        match read(executable, &folder.join("kernels.json"), explained) {
            Ok(Some(found)) => {
                all.kernels.extend(found.kernels);
                all.generic.extend(found.generic);
            }
            Ok(None) => {}
            Err(error) => {
                result = Err(error);
                break;
            }
        }
    }
    bar.finish_and_clear();
    // What is left there does no harm.
    let _ = fs::remove_dir_all(&folder);
    result?;
    tidy(&mut all);
    all_instances(build, &all)?;
    Ok(all)
}

/// Builds all targets, and returns the executables.
fn executables(build: &Build) -> Result<BTreeSet<PathBuf>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let start = |error| Error::Start {
        program: "cargo".into(),
        error,
    };
    let own = std::env::current_exe().map_err(start)?;
    let wrapped = std::env::var_os("RUSTC_WORKSPACE_WRAPPER").unwrap_or_default();
    let mut child = Command::new(cargo)
        .args(build.arguments())
        .arg("--message-format=json-render-diagnostics")
        .env("RUSTC_WORKSPACE_WRAPPER", own)
        .env(WRAPPER, "1")
        .env(WRAPPED, wrapped)
        .env("SAREK_INSTANCES", build.instance.join(";"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(start)?;
    let mut found = BTreeSet::new();
    if let Some(out) = child.stdout.take() {
        for line in BufReader::new(out).lines() {
            let line = line.map_err(start)?;
            let message: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
            if message["reason"] == "compiler-artifact"
                && let Some(path) = message["executable"].as_str()
            {
                found.insert(path.into());
            }
        }
    }
    match child.wait().map_err(start)?.success() {
        true => Ok(found),
        false => Err(Error::Cargo {
            command: "build --all-targets".into(),
        }),
    }
}

/// The mark of executables that register kernels. It is made at run time, so that this program does not contain it.
fn mark() -> String {
    ["sarek: kernels of", " an executable."].concat()
}

/// The kernels of an executable; `None` if it has none.
fn read(executable: &Path, file: &Path, explained: Option<&str>) -> Result<Option<Found>> {
    let bytes = fs::read(executable).map_err(Error::file("read", executable))?;
    let mark = mark();
    // An executable without the mark would run its `main`.
    if memchr::memmem::find(&bytes, mark.as_bytes()).is_none() {
        return Ok(None);
    }
    drop(bytes);
    let mut command = Command::new(executable);
    command
        .env("SAREK_COLLECT_INTO", file)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    if let Some(kernel) = explained {
        command.env("SAREK_COLLECT_EXPLAIN", kernel);
    }
    let status = command.status().map_err(|error| Error::Start {
        program: executable.display().to_string(),
        error,
    })?;
    let answer = |what: String| Error::Answer {
        what: format!("`{}` {what}", executable.display()),
        help: "check that the package and cargo-sarek have the same version of sarek".into(),
    };
    if !status.success() {
        return Err(answer(format!("did not list its kernels ({status})")));
    }
    let text = fs::read_to_string(file).map_err(Error::file("read", file))?;
    let found = serde_json::from_str(&text);
    let found =
        found.map_err(|error| answer(format!("listed kernels in another form: {error}")))?;
    // The next executable writes its own.
    let _ = fs::remove_file(file);
    Ok(Some(found))
}

/// Makes paths readable, and keeps one of several equal kernels: executables share libraries.
fn tidy(found: &mut Found) {
    found.kernels.iter_mut().for_each(super::Kernel::tidy);
    let kernels = std::mem::take(&mut found.kernels).into_iter();
    let by_path: BTreeMap<_, _> = kernels
        .map(|kernel| {
            (
                (kernel.path.clone(), kernel.file.clone(), kernel.line),
                kernel,
            )
        })
        .collect();
    found.kernels = by_path.into_values().collect();
    found.generic.sort_by(|a, b| a.path.cmp(&b.path));
    found.generic.dedup();
}

/// Checks that each instance that the user named exists.
fn all_instances(build: &Build, found: &Found) -> Result<()> {
    for instance in &build.instance {
        let head = instance.split('<').next().unwrap_or_default();
        let name = head.trim().trim_end_matches("::");
        let last = name.rsplit("::").next().unwrap_or_default().trim();
        let is_it = |path: &str| path.rsplit("::").next() == Some(last);
        if !found.generic.iter().any(|generic| is_it(&generic.path)) {
            return Err(no_instance(instance));
        }
    }
    Ok(())
}

fn no_instance(instance: &str) -> Error {
    Error::Argument {
        what: format!("there is no instance `{instance}`"),
        help: "give a generic kernel of this package with its arguments, such as 'k::<f32, 16>'"
            .into(),
    }
}
