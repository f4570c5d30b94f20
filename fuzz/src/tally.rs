//! Counts the results of a run.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use crate::verdict::{Finding, Kind, Verdict};

/// The counts of a run so far.
#[derive(Default)]
pub struct Tally {
    kernels: u64,
    agreed: u64,
    faulted: u64,
    rejected: u64,
    differ: u64,
    /// The number of kernels on which each device agreed with the oracle.
    compared: BTreeMap<String, u64>,
    /// The number of times that each device failed by itself.
    failed: BTreeMap<String, u64>,
}

impl Tally {
    /// Counts a verdict. Returns the findings to report: all, but only the first failure of each device by itself.
    pub fn add(&mut self, verdict: &Verdict) -> Vec<Finding> {
        self.kernels += 1;
        self.agreed += u64::from(verdict.has_no_findings());
        self.faulted += u64::from(verdict.fault && verdict.has_no_findings());
        self.rejected += u64::from(verdict.has(Kind::Rejected));
        self.differ += u64::from(verdict.has(Kind::Differs));
        for device in &verdict.agreed {
            *self.compared.entry(device.clone()).or_default() += 1;
        }
        let mut findings = verdict.findings.clone();
        findings.retain(|finding| match finding.kind {
            Kind::Rejected | Kind::Differs => true,
            Kind::Failed => {
                let count = self.failed.entry(finding.device.clone()).or_default();
                *count += 1;
                *count == 1
            }
        });
        findings
    }

    /// True if there was no finding.
    pub fn all_agreed(&self) -> bool {
        self.agreed == self.kernels
    }

    /// The counts in one line.
    pub fn progress(&self, time: Duration) -> String {
        let mut line = format!("{} s: {}", time.as_secs(), self.counts());
        for (device, count) in &self.failed {
            let _ = write!(line, ", {device} failed {count} times");
        }
        line
    }

    /// The summary at the end of a run that started at seed `from`.
    pub fn summary(&self, from: u64, time: Duration) -> String {
        let minutes = time.as_secs_f64() / 60.0;
        let mut text = format!(
            "{}; seeds from {from}, in {minutes:.1} min ({:.0} a minute), {} faulted everywhere",
            self.counts(),
            self.kernels as f64 / minutes,
            self.faulted,
        );
        for (device, count) in &self.compared {
            let _ = write!(text, "\n  {count:>7} on {device}");
        }
        for (device, count) in &self.failed {
            let _ = write!(text, "\n  {count:>7} times {device} failed by itself");
        }
        text
    }

    fn counts(&self) -> String {
        format!(
            "{} kernels judged, {} agreed, {} rejected, {} differ",
            self.kernels, self.agreed, self.rejected, self.differ
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(agreed: &[&str], findings: &[(Kind, &str)]) -> Verdict {
        Verdict {
            agreed: agreed.iter().map(|s| (*s).to_owned()).collect(),
            fault: false,
            findings: findings
                .iter()
                .map(|&(kind, device)| Finding {
                    kind,
                    device: device.into(),
                    message: "so".into(),
                })
                .collect(),
        }
    }

    #[test]
    fn a_failing_device_is_investigated_once_and_counted_by_name() {
        let mut tally = Tally::default();
        let lost = verdict(&["wgpu"], &[(Kind::Failed, "opencl")]);
        assert_eq!(tally.add(&lost).len(), 1);
        assert_eq!(tally.add(&lost).len(), 0);
        assert_eq!(tally.add(&verdict(&[], &[(Kind::Failed, "cuda")])).len(), 1);
        let differs = verdict(&[], &[(Kind::Differs, "opencl")]);
        assert_eq!(tally.add(&differs).len(), 1);
        assert_eq!(tally.add(&differs).len(), 1);
        assert!(!tally.all_agreed());
        assert_eq!(
            tally.progress(Duration::from_secs(20)),
            "20 s: 5 kernels judged, 0 agreed, 0 rejected, 2 differ, cuda failed 1 times, opencl failed 2 times"
        );
        let summary = tally.summary(1, Duration::from_secs(60));
        assert!(summary.contains("2 on wgpu"), "{summary}");
        assert!(summary.contains("2 times opencl failed"), "{summary}");
    }

    #[test]
    fn a_run_succeeds_if_all_kernels_agree() {
        let mut tally = Tally::default();
        assert!(tally.add(&verdict(&["wgpu"], &[])).is_empty());
        assert!(tally.all_agreed());
        tally.add(&verdict(&["wgpu"], &[(Kind::Rejected, "frontend")]));
        assert!(!tally.all_agreed());
    }
}
