//! `check`: compiles every kernel of a package for every target, without a device.

use std::fmt::Write;

use serde::Serialize;

use super::collect::{self, Build};
use super::compile::{Compiled, Compilers};
use super::{Generic, Kernel, TARGETS};
use crate::error::Result;
use crate::report::{Outcome, Output};

/// Arguments of `check`.
#[derive(clap::Args)]
pub struct Args {
    /// The targets, separated by commas. A kernel must be available on a target that is named here, and the target's compiler must be there
    #[arg(long, value_delimiter = ',', value_parser = TARGETS)]
    target: Vec<String>,
    /// The architecture for which CUDA C is compiled
    #[arg(long, default_value = "compute_75")]
    arch: String,
    #[command(flatten)]
    build: Build,
}

/// The state of a kernel on a target.
#[derive(Serialize)]
#[serde(tag = "state", content = "why", rename_all = "lowercase")]
enum State {
    /// It compiles.
    Good,
    /// Its compiler rejects it.
    Rejected(String),
    /// The target cannot express it.
    Unsupported(String),
    /// It was not compiled.
    Skipped(String),
}

#[derive(Serialize)]
struct Checked<'a> {
    kernel: &'a str,
    file: &'a str,
    line: Option<u32>,
    error: Option<&'a str>,
    targets: Vec<(&'static str, State)>,
}

#[derive(Serialize)]
struct Report<'a> {
    kernels: Vec<Checked<'a>>,
    /// Generic kernels that the package uses at no instance.
    without_instance: Vec<&'a Generic>,
    problems: usize,
}

/// Checks all kernels.
pub fn run(args: &Args, output: Output) -> Result<Outcome> {
    let found = collect::collect(&args.build, None, output)?;
    let is_asked =
        |target: &&str| args.target.is_empty() || args.target.iter().any(|t| t == target);
    let targets: Vec<&'static str> = TARGETS.into_iter().filter(is_asked).collect();
    let compilers = Compilers::new(&targets, &args.arch);
    let bar = output.progress(found.kernels.len() as u64, "compiling kernels");
    let kernels: Vec<Checked<'_>> = found
        .kernels
        .iter()
        .map(|kernel| {
            bar.inc(1);
            check(kernel, &targets, &compilers)
        })
        .collect();
    bar.finish_and_clear();
    let named = !args.target.is_empty();
    let is_problem = |state: &State| match state {
        State::Good => false,
        State::Rejected(_) => true,
        State::Unsupported(_) | State::Skipped(_) => named,
    };
    let problems = |checked: &Checked<'_>| {
        let of_targets = checked
            .targets
            .iter()
            .filter(|(_, state)| is_problem(state));
        of_targets.count() + usize::from(checked.error.is_some())
    };
    let report = Report {
        problems: kernels.iter().map(problems).sum(),
        without_instance: found.unused(),
        kernels,
    };
    output.print(&report, &text(&report))?;
    Ok(match report.problems {
        0 => Outcome::Good,
        _ => Outcome::Problem,
    })
}

fn check<'a>(kernel: &'a Kernel, targets: &[&'static str], compilers: &Compilers) -> Checked<'a> {
    let state = |target: &'static str| {
        let Some(text) = kernel.text(target) else {
            return (target, State::Skipped("it has no text".into()));
        };
        if let Some(why) = &text.refused {
            return (target, State::Unsupported(why.clone()));
        }
        if !kernel.environments.is_empty() && target != "wgsl" {
            let names = kernel.environments.join(", ");
            let why = format!(
                "it needs the environments {names}, which the program registers when it runs"
            );
            return (target, State::Skipped(why));
        }
        let state = match compilers.compile(text) {
            Compiled::Yes => State::Good,
            Compiled::No(log) => State::Rejected(log),
            Compiled::Unavailable(why) => State::Skipped(why),
        };
        (target, state)
    };
    let targets = match kernel.error {
        Some(_) => vec![],
        None => targets.iter().map(|target| state(target)).collect(),
    };
    Checked {
        kernel: &kernel.path,
        file: &kernel.file,
        line: kernel.line,
        error: kernel.error.as_deref(),
        targets,
    }
}

/// The report for people. Writing to a string cannot fail.
fn text(report: &Report<'_>) -> String {
    let mut text = String::new();
    for checked in &report.kernels {
        let line = checked
            .line
            .map_or(String::new(), |line| format!(":{line}"));
        let _ = writeln!(text, "{} ({}{line})", checked.kernel, checked.file);
        if let Some(error) = checked.error {
            let _ = writeln!(text, "  error: {error}");
        }
        for (target, state) in &checked.targets {
            let _ = match state {
                State::Good => writeln!(text, "  {target}: compiles"),
                State::Rejected(log) => {
                    writeln!(
                        text,
                        "  {target}: ERROR\n    {}",
                        log.trim().replace('\n', "\n    ")
                    )
                }
                State::Unsupported(why) => writeln!(text, "  {target}: not available: {why}"),
                State::Skipped(why) => writeln!(text, "  {target}: not compiled: {why}"),
            };
        }
    }
    for generic in &report.without_instance {
        let _ = writeln!(
            text,
            "{} ({}:{})\n  not checked: the package uses no instance of it; name one by --instance",
            generic.path, generic.file, generic.line
        );
    }
    let _ = match (report.kernels.len(), report.problems) {
        (0, _) => writeln!(text, "no kernels found"),
        (kernels, 0) => writeln!(text, "{kernels} kernels, no problems"),
        (kernels, problems) => writeln!(text, "{kernels} kernels, {problems} problems"),
    };
    text
}
