//! `profile`: the kernels and transfers of a command, with their times and their share of the device's bandwidth.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use crate::command::Run;
use crate::error::{Error, Result};
use crate::report::{Outcome, Output};
use crate::trace::{self, Summary};

/// Arguments of `profile`.
#[derive(clap::Args)]
pub struct Args {
    /// Write a trace for chrome://tracing or ui.perfetto.dev to this file
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    #[command(flatten)]
    run: Run,
}

/// Runs the command, and prints the table. The exit code is the command's.
pub fn run(args: &Args, output: Output) -> Result<Outcome> {
    let (outcome, trace) = trace::record(&args.run, output.json)?;
    if let Some(file) = &args.trace {
        fs::write(file, trace.json.to_string()).map_err(Error::file("written", file))?;
    }
    let value = serde_json::json!({
        "command": args.run.text(),
        "devices": trace.json["otherData"]["devices"],
        "work": trace.summaries,
    });
    output.print(&value, &text(&trace.summaries))?;
    Ok(outcome)
}

/// The table for people. Writing to a string cannot fail.
fn text(all: &[Summary]) -> String {
    if all.is_empty() {
        return "no device did any work, or the command ended without writing a profile".into();
    }
    let mut text = String::new();
    let mut devices: Vec<&str> = all.iter().map(|summary| &*summary.device).collect();
    devices.sort_unstable();
    devices.dedup();
    for device in devices {
        let _ = writeln!(
            text,
            "\n{device}\n{:<32} {:>8} {:>12} {:>12} {:>12} {:>10} {:>6}",
            "", "calls", "ms", "µs, median", "µs, best", "GB/s", "roof"
        );
        for summary in all.iter().filter(|summary| summary.device == device) {
            let share = summary
                .share
                .map_or(String::new(), |share| format!("{:.0} %", 100.0 * share));
            let _ = writeln!(
                text,
                "{:<32} {:>8} {:>12.3} {:>12.3} {:>12.3} {:>10.2} {:>6}",
                summary.name,
                summary.calls,
                summary.total_ms,
                summary.median_us,
                summary.best_us,
                summary.gb_per_s,
                share
            );
        }
    }
    text.push_str("\nroof: the share of the device's bandwidth, counting each argument once; caches may raise it above 100 %\n");
    text
}
