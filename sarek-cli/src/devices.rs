//! `devices`: the devices of all backends.

use std::fmt::Write;

use sarek::Properties;

use crate::error::Result;
use crate::probe::{self, Probe};
use crate::report::{Outcome, Output};

/// Arguments of `devices`.
#[derive(clap::Args)]
pub struct Args {
    /// Print limits, features and the driver's details
    #[arg(long, short)]
    verbose: bool,
}

/// Lists the devices. A device that does not run a kernel is a problem.
pub fn run(args: &Args, output: Output) -> Result<Outcome> {
    let probes = probe::all(output)?;
    let mut text = String::new();
    for probe in &probes {
        backend(&mut text, probe, args.verbose);
    }
    output.print(&probes, &text)?;
    let fails = |probe: &Probe| probe.crash.is_some() || probe.failures.iter().any(Option::is_some);
    Ok(match probes.iter().any(fails) {
        true => Outcome::Problem,
        false => Outcome::Good,
    })
}

/// Describes the devices of a backend. Writing to a string cannot fail.
fn backend(text: &mut String, probe: &Probe, verbose: bool) {
    let _ = writeln!(text, "{}", probe.backend);
    for (_, reason) in &probe.inventory.absent {
        let _ = writeln!(text, "  no device: {reason}");
    }
    if let Some(crash) = &probe.crash {
        let _ = writeln!(text, "  no device: {crash}");
    }
    for (device, failure) in probe.inventory.devices.iter().zip(&probe.failures) {
        let _ = writeln!(text, "  {}", line(device));
        if let Some(failure) = failure {
            let _ = writeln!(text, "     does not run kernels: {failure}");
        }
        if verbose {
            details(text, device);
        }
    }
}

/// A device in a line.
pub fn line(device: &Properties) -> String {
    let info = &device.info;
    let memory = match info.memory {
        0 => String::new(),
        bytes => format!(", {:.1} GiB", bytes as f64 / (1u64 << 30) as f64),
    };
    format!(
        "{}: {} ({}{memory}, priority {})",
        device.ordinal, info.name, info.kind, device.priority
    )
}

fn details(text: &mut String, device: &Properties) {
    let info = &device.info;
    let _ = writeln!(
        text,
        "     blocks of up to {} threads {:?}, grids of up to {:?} blocks, {} bytes of shared memory",
        info.max_block_threads, info.max_block, info.max_grid, info.max_shared
    );
    let has = &info.features;
    let features = [
        ("f64", has.f64),
        ("functions on f64", has.f64_math),
        ("64-bit integers", has.i64),
        ("8-bit storage", has.storage8),
        ("16-bit storage", has.storage16),
        ("f16", has.f16),
        ("64-bit atomics", has.atomics64),
        ("subgroups", has.subgroups),
        ("strict floats", has.strict),
    ];
    for (word, wanted) in [("has", true), ("lacks", false)] {
        let names: Vec<&str> = features
            .iter()
            .filter(|(_, offered)| *offered == wanted)
            .map(|(name, _)| *name)
            .collect();
        if !names.is_empty() {
            let _ = writeln!(text, "     {word} {}", names.join(", "));
        }
    }
    for (key, value) in &device.debug {
        let _ = writeln!(text, "     {key}: {value}");
    }
}
