//! `doctor`: the drivers of this machine, what is missing, and the commands that install it.
//!
//! Each backend is tried out in a process of its own (`probe`), so this also works where a driver crashes. `system` collects facts that
//! explain the result, and `install` has the commands of package managers.

mod install;
mod libraries;
mod system;

use std::fmt::Write;

use serde::Serialize;

use crate::devices;
use crate::error::{Error, Result};
use crate::probe::{self, Probe};
use crate::report::{Outcome, Output};
use install::{Manager, Need};
use libraries::Library;
use system::{Found, System};

/// Arguments of `doctor`.
#[derive(clap::Args)]
pub struct Args {
    /// Backends that must work here, separated by commas; else it is a problem
    #[arg(long, value_delimiter = ',')]
    require: Vec<String>,
}

/// The state of a backend.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    /// A device runs kernels.
    Works,
    /// Something is not installed.
    Missing,
    /// Something is installed, and does not work.
    Broken,
}

/// A backend of this machine.
#[derive(Serialize)]
struct Backend {
    name: String,
    status: Status,
    devices: Vec<String>,
    /// The reasons for absent and failing devices.
    problems: Vec<String>,
    /// Its libraries, files and permissions.
    facts: Vec<Found>,
    /// The next steps, as commands where possible.
    steps: Vec<String>,
}

/// All findings.
#[derive(Serialize)]
struct Report {
    version: &'static str,
    system: System,
    backends: Vec<Backend>,
    /// Problems of environment variables and of the cache.
    settings: Vec<String>,
    cache: String,
}

/// Examines the machine. A problem is a broken driver, or a required backend that does not work.
pub fn run(args: &Args, output: Output) -> Result<Outcome> {
    let probes = probe::all(output)?;
    let known: Vec<&str> = probes.iter().map(|probe| &*probe.backend).collect();
    if let Some(unknown) = args.require.iter().find(|name| !known.contains(&&***name)) {
        return Err(Error::Argument {
            what: format!("there is no backend `{unknown}`"),
            help: format!("these are: {}", known.join(", ")),
        });
    }
    let system = System::read();
    let manager = Manager::of_this_system();
    let backends = probes
        .iter()
        .map(|probe| examine(probe, &system, manager))
        .collect();
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        system,
        backends,
        settings: system::settings(),
        cache: match sarek::cache::status().folder {
            Ok(folder) => folder.display().to_string(),
            Err(reason) => format!("off: {reason}"),
        },
    };
    output.print(&report, &text(&report, args))?;
    let is_problem = |backend: &Backend| match backend.status {
        Status::Works => false,
        Status::Broken => true,
        Status::Missing => args.require.contains(&backend.name),
    };
    Ok(match report.backends.iter().any(is_problem) {
        true => Outcome::Problem,
        false => Outcome::Good,
    })
}

/// In the process that loads a library: prints the loader's message if it does not load.
pub fn load(file: &str) -> Outcome {
    match libraries::load(file) {
        Ok(()) => Outcome::Good,
        Err(why) => {
            println!("{why}");
            Outcome::Problem
        }
    }
}

fn examine(probe: &Probe, system: &System, manager: Option<Manager>) -> Backend {
    let mut facts = system::facts(&probe.backend);
    let mut needs = vec![];
    for library in Library::of(&probe.backend) {
        let found = library.find();
        if found.is_absent() || found.broken {
            needs.push(library.need);
        }
        facts.push(found);
    }
    let problems: Vec<String> = probe
        .crash
        .iter()
        .chain(probe.inventory.absent.iter().map(|(_, reason)| reason))
        .chain(probe.failures.iter().flatten())
        .cloned()
        .collect();
    let devices = probe.inventory.devices.iter().map(devices::line).collect();
    let installed = facts.iter().any(|fact| fact.broken) || probe.crash.is_some();
    let status = match (probe.works(), installed) {
        (true, _) => Status::Works,
        (false, true) => Status::Broken,
        (false, false) if !probe.inventory.devices.is_empty() => Status::Broken,
        (false, false) => Status::Missing,
    };
    let mut steps: Vec<String> = facts.iter().filter_map(|fact| fact.step.clone()).collect();
    if status != Status::Works {
        if needs.is_empty() {
            needs.extend(Need::driver(&probe.backend));
        }
        for need in needs {
            steps.extend(need.steps(manager, system));
        }
    }
    Backend {
        name: probe.backend.clone(),
        status,
        devices,
        problems,
        facts,
        steps,
    }
}

/// The report for people. Writing to a string cannot fail.
fn text(report: &Report, args: &Args) -> String {
    let mut text = String::new();
    let system = &report.system;
    let _ = writeln!(text, "sarek {}, {}", report.version, system.name);
    let _ = writeln!(text, "processor: {}", system.processor);
    for gpu in &system.gpus {
        let _ = writeln!(text, "graphics: {gpu}");
    }
    let _ = writeln!(text, "cache: {}", report.cache);
    for problem in &report.settings {
        let _ = writeln!(text, "setting: {problem}");
    }
    for backend in &report.backends {
        let status = match backend.status {
            Status::Works => "works",
            Status::Missing if args.require.contains(&backend.name) => "MISSING",
            Status::Missing => "not available",
            Status::Broken => "BROKEN",
        };
        let _ = writeln!(text, "\n{}: {status}", backend.name);
        for device in &backend.devices {
            let _ = writeln!(text, "  device {device}");
        }
        for problem in &backend.problems {
            let _ = writeln!(text, "  problem: {problem}");
        }
        for fact in &backend.facts {
            let mark = if fact.broken { " (broken)" } else { "" };
            let _ = writeln!(text, "  {}: {}{mark}", fact.name, fact.detail);
        }
        for step in &backend.steps {
            let _ = writeln!(text, "  to do: {step}");
        }
    }
    text
}
