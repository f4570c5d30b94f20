//! The report of a run: the outcome of every case, printed as a table.

use std::fmt;
use std::time::Duration;

use crate::case::Outcome;

/// The outcome of every case on one device; prints as a table.
#[derive(Clone, Debug)]
pub struct Report {
    device: String,
    entries: Vec<Entry>,
}

/// One line of a [`Report`].
#[derive(Clone, Debug)]
pub struct Entry {
    /// The case's name.
    pub case: &'static str,
    /// The outcome of the case.
    pub outcome: Outcome,
    /// The time that the case took, compilation included.
    pub time: Duration,
}

impl Report {
    /// A report of these entries.
    pub fn new(device: String, entries: Vec<Entry>) -> Report {
        Report { device, entries }
    }

    /// Backend and name of the device.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// One entry for each case, in the order of the run.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The cases that failed.
    pub fn failures(&self) -> impl Iterator<Item = &Entry> {
        self.entries
            .iter()
            .filter(|e| matches!(e.outcome, Outcome::Failed(_)))
    }

    /// The cases that were skipped.
    pub fn skipped(&self) -> impl Iterator<Item = &Entry> {
        self.entries
            .iter()
            .filter(|e| matches!(e.outcome, Outcome::Skipped(_)))
    }

    /// Panics with the table if a case failed, or if none ran.
    #[track_caller]
    pub fn assert_passed(&self) {
        assert!(!self.entries.is_empty(), "no case ran on {}", self.device);
        assert!(self.failures().next().is_none(), "{self}");
    }

    /// Panics with the table if a case failed or was skipped, or if none ran.
    #[track_caller]
    pub fn assert_complete(&self) {
        self.assert_passed();
        assert!(self.skipped().next().is_none(), "{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.entries.iter().map(|e| e.case.len()).max().unwrap_or(0);
        writeln!(f, "conformance of {}", self.device)?;
        for entry in &self.entries {
            let time = millis(entry.time);
            let case = entry.case;
            match &entry.outcome {
                Outcome::Passed => writeln!(f, "  {case:width$}  passed   {time:>12}")?,
                Outcome::Skipped(what) => {
                    writeln!(
                        f,
                        "  {case:width$}  skipped  {time:>12}  the device lacks {what}"
                    )?;
                }
                Outcome::Failed(why) => {
                    writeln!(f, "  {case:width$}  FAILED   {time:>12}")?;
                    for line in why.lines() {
                        writeln!(f, "      {line}")?;
                    }
                }
            }
        }
        let failed = self.failures().count();
        let skipped = self.skipped().count();
        let passed = self.entries.len() - failed - skipped;
        let total: Duration = self.entries.iter().map(|e| e.time).sum();
        write!(
            f,
            "{passed} passed, {failed} failed, {skipped} skipped in {}",
            millis(total)
        )
    }
}

/// Formats a duration in milliseconds.
fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}
