//! `bench`: records the times of a command's kernels, compares them with a record, and fails on regressions.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::command::Run;
use crate::error::{Error, Result};
use crate::report::{Outcome, Output};
use crate::trace::{self, Summary};

/// Arguments of `bench`.
#[derive(clap::Args)]
pub struct Args {
    /// The number of runs; the best time of each kernel counts
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Write the record to this file
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Compare with the record in this file
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// A kernel that takes this many percent longer is a regression
    #[arg(long, default_value_t = 10.0, value_name = "PERCENT")]
    tolerance: f64,
    /// Differences of less than this many microseconds are noise
    #[arg(long, default_value_t = 5.0, value_name = "MICROSECONDS")]
    noise: f64,
    #[command(flatten)]
    run: Run,
}

/// The times of a command.
#[derive(Serialize, Deserialize)]
pub struct Record {
    /// The version of this form.
    version: u32,
    /// The version of sarek; early records have none.
    #[serde(default)]
    pub sarek: Option<String>,
    /// The day of the run, such as 2026-11-27.
    #[serde(default)]
    pub date: Option<String>,
    pub command: String,
    runs: u32,
    /// Kernels and graphs; the best of all runs.
    pub kernels: Vec<Summary>,
}

impl Record {
    /// Parses a record. An error has the line, counted from 1, and the reason.
    pub fn parse(text: &str) -> std::result::Result<Record, (usize, String)> {
        let record: Record =
            serde_json::from_str(text).map_err(|error| (error.line().max(1), error.to_string()))?;
        match record.version {
            1 => Ok(record),
            other => Err((1, format!("the record has version {other}, not 1"))),
        }
    }
}

/// A kernel in two records.
#[derive(Serialize)]
struct Change {
    device: String,
    name: String,
    before_us: f64,
    now_us: f64,
    percent: f64,
    regression: bool,
}

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    record: Record,
    changes: Vec<Change>,
    /// Kernels of the other record that did not run.
    missing: Vec<String>,
}

/// Runs the command several times, and compares. A regression is a problem.
pub fn run(args: &Args, output: Output) -> Result<Outcome> {
    // Before the runs, which may take long.
    let before = args.compare.as_deref().map(read).transpose()?;
    let bar = output.progress(args.runs.into(), "running");
    let mut kernels: Vec<Summary> = vec![];
    for _ in 0..args.runs {
        let (outcome, trace) = trace::record(&args.run, true)?;
        bar.inc(1);
        if outcome != Outcome::Good {
            bar.finish_and_clear();
            return Err(Error::Answer {
                what: format!("`{}` failed", args.run.text()),
                help: "correct the command; a benchmark must end with exit code 0".into(),
            });
        }
        let work = trace.summaries.into_iter();
        for summary in work.filter(|s| s.kind == "kernel" || s.kind == "graph") {
            add(&mut kernels, summary);
        }
    }
    bar.finish_and_clear();
    if kernels.is_empty() {
        return Err(Error::Answer {
            what: format!("`{}` ran no kernel", args.run.text()),
            help: "give a command that launches kernels and ends by itself".into(),
        });
    }
    let record = Record {
        version: 1,
        sarek: Some(env!("CARGO_PKG_VERSION").into()),
        date: Some(today()),
        command: args.run.text(),
        runs: args.runs,
        kernels,
    };
    if let Some(file) = &args.save {
        let text = serde_json::to_string_pretty(&record).unwrap_or_default();
        fs::write(file, text + "\n").map_err(Error::file("written", file))?;
    }
    let report = report(record, before.as_ref(), args);
    output.print(&report, &text(&report))?;
    let regressed = report.changes.iter().any(|change| change.regression);
    Ok(match regressed || !report.missing.is_empty() {
        true => Outcome::Problem,
        false => Outcome::Good,
    })
}

/// Adds a run's times: the fastest counts.
fn add(all: &mut Vec<Summary>, new: Summary) {
    let same = |old: &&mut Summary| {
        old.device == new.device && old.name == new.name && old.kind == new.kind
    };
    match all.iter_mut().find(same) {
        Some(old) if new.median_us < old.median_us => {
            let best_us = old.best_us.min(new.best_us);
            *old = Summary { best_us, ..new };
        }
        Some(old) => old.best_us = old.best_us.min(new.best_us),
        None => all.push(new),
    }
}

fn read(file: &Path) -> Result<Record> {
    let text = fs::read_to_string(file).map_err(Error::file("read", file))?;
    Record::parse(&text).map_err(|(line, why)| Error::Record {
        path: file.to_owned(),
        line,
        why,
    })
}

/// The day in universal time.
fn today() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    date(now.map_or(0, |since| since.as_secs() / 86_400))
}

/// The date of this day after 1 January 1970, by the Gregorian calendar: "days to civil" in Howard Hinnant's
/// [algorithms](https://howardhinnant.github.io/date_algorithms.html).
fn date(days: u64) -> String {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + 400 * era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

fn report(record: Record, before: Option<&Record>, args: &Args) -> Report {
    let (mut changes, mut missing) = (vec![], vec![]);
    for old in before.iter().flat_map(|before| &before.kernels) {
        let same = |new: &&Summary| new.device == old.device && new.name == old.name;
        let Some(new) = record.kernels.iter().find(same) else {
            missing.push(format!("{} on {}", old.name, old.device));
            continue;
        };
        let percent = 100.0 * (new.best_us / old.best_us.max(1e-3) - 1.0);
        changes.push(Change {
            device: old.device.clone(),
            name: old.name.clone(),
            before_us: old.best_us,
            now_us: new.best_us,
            percent,
            regression: percent > args.tolerance && new.best_us - old.best_us > args.noise,
        });
    }
    Report {
        record,
        changes,
        missing,
    }
}

/// The report for people. Writing to a string cannot fail.
fn text(report: &Report) -> String {
    let mut text = String::new();
    for kernel in &report.record.kernels {
        let change = report
            .changes
            .iter()
            .find(|change| change.device == kernel.device && change.name == kernel.name);
        let change = change.map_or(String::new(), |change| {
            let mark = if change.regression {
                "  REGRESSION"
            } else {
                ""
            };
            format!(
                "  {:+.1} % of {:.3} µs{mark}",
                change.percent, change.before_us
            )
        });
        let _ = writeln!(
            text,
            "{} on {}: {:.3} µs, {:.2} GB/s{change}",
            kernel.name, kernel.device, kernel.best_us, kernel.gb_per_s
        );
    }
    for missing in &report.missing {
        let _ = writeln!(text, "{missing}: did not run");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        for (days, text) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (19_722, "2023-12-31"),
            (20_784, "2026-11-27"),
        ] {
            assert_eq!(date(days), text);
        }
    }
}
