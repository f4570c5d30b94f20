//! What became of a case.
//!
//! It is told in lines, each as soon as it is known, since the process that judges may crash or hang: what it told before
//! holds, who was at work is blamed, and the devices that are left can be asked again.

use std::fmt;

/// What became of a case.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Verdict {
    /// Who agrees with the oracle.
    pub agreed: Vec<String>,
    /// Did the kernel fault, everywhere?
    pub fault: bool,
    /// What is wrong.
    pub findings: Vec<Finding>,
}

/// Something wrong with a case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What it is.
    pub kind: Kind,
    /// Who: the name of a backend, of a compiler, or `process`.
    pub device: String,
    /// How.
    pub how: String,
}

/// What may be wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It is no kernel.
    Rejected,
    /// A device does something else than the oracle, or refuses the text.
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
    /// That a case is no kernel.
    pub fn rejected(by: &str, how: String) -> Verdict {
        Verdict {
            findings: vec![Finding {
                kind: Kind::Rejected,
                device: by.into(),
                how,
            }],
            ..Verdict::default()
        }
    }

    /// Is nothing wrong?
    pub fn is_well(&self) -> bool {
        self.findings.is_empty()
    }

    /// Is there a finding of a kind?
    pub fn has(&self, kind: Kind) -> bool {
        self.findings.iter().any(|finding| finding.kind == kind)
    }

    /// How the same is wrong with the same device, if it is.
    pub fn repeats(&self, other: &Finding) -> Option<&str> {
        let mut same = self.findings.iter();
        same.find(|f| (f.kind, &f.device) == (other.kind, &other.device))
            .map(|finding| finding.how.as_str())
    }
}

/// What a device said, without its source text.
pub fn said(how: &str) -> &str {
    let said = how.split("--- source ---").next();
    said.unwrap_or_default().trim()
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (device, how) = (&self.device, said(&self.how));
        match self.kind {
            Kind::Rejected => write!(f, "{device} rejects it: {how}"),
            Kind::Differs => write!(f, "{device}: {how}"),
            Kind::Failed => write!(f, "{device} failed by itself: {how}"),
        }
    }
}

/// What is told of a case while it is judged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// This device begins.
    At(String),
    /// It agrees with the oracle.
    Agreed(String),
    /// Something is wrong.
    Found(Finding),
    /// That was all. Did the kernel fault?
    End(bool),
}

impl Event {
    /// As one line.
    pub(crate) fn encode(&self) -> String {
        match self {
            Event::At(device) => format!("at {device} "),
            Event::Agreed(device) => format!("agreed {device} "),
            Event::Found(Finding { kind, device, how }) => {
                let (_, word) = KINDS.iter().find(|(k, _)| k == kind).expect("it is listed");
                format!("{word} {device} {}", how.escape_default())
            }
            Event::End(fault) => format!("end {fault} "),
        }
    }

    /// Reads such a line.
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
                how: rest
                    .replace("\\n", "\n")
                    .replace("\\'", "'")
                    .replace("\\\"", "\""),
            }),
        })
    }
}

/// What was told of a case so far.
#[derive(Default)]
pub(crate) struct Hearing {
    verdict: Verdict,
    /// Who began last.
    at: Option<String>,
    is_over: bool,
}

impl Hearing {
    /// Takes a line.
    ///
    /// # Errors
    /// It is none.
    pub(crate) fn hear(&mut self, line: &str) -> Result<(), String> {
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

    /// Who has answered, or failed, and is not to be asked again.
    pub(crate) fn heard(&self) -> Vec<&str> {
        let found = self.verdict.findings.iter().map(|f| &f.device);
        let heard = self.verdict.agreed.iter().chain(found);
        heard.map(String::as_str).collect()
    }

    /// The process has ended: who was at work is blamed, or the process, which ends the hearing.
    pub(crate) fn blame(&mut self, how: String) {
        let at = self.at.take();
        let at = at.filter(|at| !self.heard().contains(&at.as_str()));
        self.is_over = at.is_none();
        self.verdict.findings.push(Finding {
            kind: Kind::Failed,
            device: at.unwrap_or("process".into()),
            how,
        });
    }

    /// Was all told?
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// What was told.
    pub(crate) fn verdict(self) -> Verdict {
        self.verdict
    }
}

impl Verdict {
    /// What was told, in the order in which it was.
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

    fn failed(device: &str, how: &str) -> Finding {
        Finding {
            kind: Kind::Failed,
            device: device.into(),
            how: how.into(),
        }
    }

    #[test]
    fn events_are_read_as_they_were_written() {
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
    fn who_crashes_is_blamed_and_the_others_are_still_asked() {
        let mut hearing = Hearing::default();
        for line in [
            "at interpreter ",
            "at opencl ",
            "agreed opencl ",
            "at wgpu ",
        ] {
            hearing.hear(line).unwrap();
        }
        hearing.blame("it crashes".into());
        assert!(!hearing.is_over());
        // The oracle has to run again, since nobody keeps what it found.
        assert_eq!(hearing.heard(), ["opencl", "wgpu"]);
        for line in ["at interpreter ", "at cuda ", "agreed cuda ", "end false "] {
            hearing.hear(line).unwrap();
        }
        assert!(hearing.is_over());
        let verdict = hearing.verdict();
        assert_eq!(verdict.agreed, ["opencl", "cuda"]);
        assert_eq!(verdict.findings, [failed("wgpu", "it crashes")]);
    }

    #[test]
    fn a_process_that_never_says_who_is_at_work_is_not_asked_for_ever() {
        let mut hearing = Hearing::default();
        hearing.blame("it crashes".into());
        assert!(hearing.is_over());
        let mut hearing = Hearing::default();
        hearing.hear("at opencl ").unwrap();
        hearing.hear("agreed opencl ").unwrap();
        hearing.blame("it crashes".into());
        assert!(hearing.is_over());
        assert_eq!(hearing.heard(), ["opencl", "process"]);
    }
}
