//! The result of judging a case, and the events by which a worker process reports it.
//!
//! The worker prints each event as soon as it is known, since it may crash or hang. Then its earlier events stay valid, the device
//! at work is blamed, and a new worker runs the remaining devices.

use std::fmt;

/// The result of judging a case.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Verdict {
    /// The devices that agree with the oracle.
    pub agreed: Vec<String>,
    /// True if the kernel faulted on the oracle, as it should on every device.
    pub fault: bool,
    /// The problems found.
    pub findings: Vec<Finding>,
}

/// A problem found with a case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Its kind.
    pub kind: Kind,
    /// The backend or compiler that shows it, or `process`.
    pub device: String,
    /// Its description.
    pub message: String,
}

/// The kinds of findings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The frontend or rustc rejects the kernel.
    Rejected,
    /// A device's result differs from the oracle's, or its compiler rejects the text.
    Differs,
    /// A device failed by itself: it was lost, had no memory left, crashed or hung.
    Failed,
}

const KINDS: [(Kind, &str); 3] = [
    (Kind::Rejected, "rejected"),
    (Kind::Differs, "differs"),
    (Kind::Failed, "failed"),
];

impl Verdict {
    /// The verdict that a compiler rejects the kernel.
    pub fn rejected(by: &str, message: String) -> Verdict {
        Verdict {
            findings: vec![Finding {
                kind: Kind::Rejected,
                device: by.into(),
                message,
            }],
            ..Verdict::default()
        }
    }

    /// True if there is no finding.
    pub fn has_no_findings(&self) -> bool {
        self.findings.is_empty()
    }

    /// True if there is a finding of this kind.
    pub fn has(&self, kind: Kind) -> bool {
        self.findings.iter().any(|finding| finding.kind == kind)
    }

    /// The description of a finding of the same kind on the same device, if there is one.
    pub fn same_finding(&self, other: &Finding) -> Option<&str> {
        let mut same = self.findings.iter();
        same.find(|f| (f.kind, &f.device) == (other.kind, &other.device))
            .map(|finding| finding.message.as_str())
    }
}

/// A device's message without the source text in it.
pub fn without_source(message: &str) -> &str {
    let text = message.split("--- source ---").next();
    text.unwrap_or_default().trim()
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (device, message) = (&self.device, without_source(&self.message));
        match self.kind {
            Kind::Rejected => write!(f, "{device} rejects the kernel: {message}"),
            Kind::Differs => write!(f, "{device}: {message}"),
            Kind::Failed => write!(f, "{device} failed by itself: {message}"),
        }
    }
}

/// An event while a case is judged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// This device starts.
    At(String),
    /// This device agrees with the oracle.
    Agreed(String),
    /// A problem was found.
    Found(Finding),
    /// The case is finished. True if the kernel faulted on the oracle.
    End(bool),
}

impl Event {
    /// Encodes the event as one line.
    pub(crate) fn encode(&self) -> String {
        match self {
            Event::At(device) => format!("at {device} "),
            Event::Agreed(device) => format!("agreed {device} "),
            Event::Found(Finding {
                kind,
                device,
                message,
            }) => {
                let (_, word) = KINDS.iter().find(|(k, _)| k == kind).expect("it is listed");
                format!("{word} {device} {}", message.escape_default())
            }
            Event::End(fault) => format!("end {fault} "),
        }
    }

    /// Decodes such a line.
    pub(crate) fn decode(line: &str) -> Option<Event> {
        let mut parts = line.splitn(3, ' ');
        let (word, name, rest) = (parts.next()?, parts.next()?, parts.next()?);
        Some(match word {
            "at" => Event::At(name.into()),
            "agreed" => Event::Agreed(name.into()),
            "end" => Event::End(name == "true"),
            word => Event::Found(Finding {
                kind: KINDS.iter().find(|(_, w)| *w == word)?.0,
                device: name.into(),
                message: rest
                    .replace("\\n", "\n")
                    .replace("\\'", "'")
                    .replace("\\\"", "\""),
            }),
        })
    }
}

/// The events of a case so far.
#[derive(Default)]
pub(crate) struct Progress {
    verdict: Verdict,
    /// The device that started last.
    at: Option<String>,
    is_over: bool,
}

impl Progress {
    /// Adds the event of a line.
    ///
    /// # Errors
    /// The line is not an event.
    pub(crate) fn record(&mut self, line: &str) -> Result<(), String> {
        match Event::decode(line).ok_or(format!("an unknown answer: {line}"))? {
            event @ Event::End(_) => {
                self.is_over = true;
                self.verdict.add(event);
            }
            Event::At(device) => self.at = Some(device),
            event => self.verdict.add(event),
        }
        Ok(())
    }

    /// The devices that have answered or failed, which must not run again.
    pub(crate) fn finished(&self) -> Vec<&str> {
        let found = self.verdict.findings.iter().map(|f| &f.device);
        let finished = self.verdict.agreed.iter().chain(found);
        finished.map(String::as_str).collect()
    }

    /// Records that the process ended. Blames the device at work; if none was, blames the process and ends the case.
    pub(crate) fn blame_device(&mut self, message: String) {
        let at = self.at.take();
        let at = at.filter(|at| !self.finished().contains(&at.as_str()));
        self.is_over = at.is_none();
        self.verdict.findings.push(Finding {
            kind: Kind::Failed,
            device: at.unwrap_or("process".into()),
            message,
        });
    }

    /// True if the case is finished.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// The verdict from all events.
    pub(crate) fn verdict(self) -> Verdict {
        self.verdict
    }
}

impl Verdict {
    /// Adds an event to the verdict.
    pub(crate) fn add(&mut self, event: Event) {
        match event {
            Event::At(_) => {}
            Event::Agreed(device) => self.agreed.push(device),
            Event::Found(finding) => self.findings.push(finding),
            Event::End(fault) => self.fault = fault,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(device: &str, message: &str) -> Finding {
        Finding {
            kind: Kind::Failed,
            device: device.into(),
            message: message.into(),
        }
    }

    #[test]
    fn events_round_trip_through_text() {
        let events = [
            Event::At("opencl".into()),
            Event::Agreed("wgpu".into()),
            Event::Found(failed("cuda", "it's \"lost\"\nfor ever")),
            Event::Found(Finding {
                kind: Kind::Differs,
                ..failed("cuda", "")
            }),
            Event::End(true),
        ];
        for event in events {
            let line = event.encode();
            assert!(!line.contains('\n'));
            assert_eq!(Event::decode(&line), Some(event));
        }
        assert_eq!(Event::decode("something else"), None);
    }

    #[test]
    fn a_crash_is_blamed_on_its_device_and_the_others_still_run() {
        let mut progress = Progress::default();
        for line in [
            "at interpreter ",
            "at opencl ",
            "agreed opencl ",
            "at wgpu ",
        ] {
            progress.record(line).unwrap();
        }
        progress.blame_device("it crashes".into());
        assert!(!progress.is_over());
        // The oracle has to run again, since its result was lost with the process.
        assert_eq!(progress.finished(), ["opencl", "wgpu"]);
        for line in ["at interpreter ", "at cuda ", "agreed cuda ", "end false "] {
            progress.record(line).unwrap();
        }
        assert!(progress.is_over());
        let verdict = progress.verdict();
        assert_eq!(verdict.agreed, ["opencl", "cuda"]);
        assert_eq!(verdict.findings, [failed("wgpu", "it crashes")]);
    }

    #[test]
    fn a_crash_without_a_current_device_ends_the_case() {
        let mut progress = Progress::default();
        progress.blame_device("it crashes".into());
        assert!(progress.is_over());
        let mut progress = Progress::default();
        progress.record("at opencl ").unwrap();
        progress.record("agreed opencl ").unwrap();
        progress.blame_device("it crashes".into());
        assert!(progress.is_over());
        assert_eq!(progress.finished(), ["opencl", "process"]);
    }
}
