//! Judging in another process: a driver's compiler may crash, hang, or keep what it made for ever.
//!
//! The worker reads cases from its standard input, each after a line with its length, and answers each with a line.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::case::Case;
use crate::judge::{Court, Verdict};

/// How long one case may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// After so many cases a worker is replaced: it keeps all programs.
const CASES: u32 = 150;

/// A process that judges, started when it is needed.
pub struct Worker {
    /// The names of the backends that are compared, and `nvrtc`; all if empty.
    among: Vec<String>,
    process: Option<Process>,
}

struct Process {
    child: Child,
    input: ChildStdin,
    answers: Receiver<String>,
    judged: u32,
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Worker {
    /// A worker that compares these backends, or all if there are none.
    pub fn new(among: &[&str]) -> Worker {
        Worker {
            among: among.iter().map(|s| (*s).to_owned()).collect(),
            process: None,
        }
    }

    /// The verdict on a case. A crash or a hang is a difference, too.
    pub fn judge(&mut self, case: &Case) -> Verdict {
        let verdict = match self.ask(case) {
            Ok(verdict) => verdict,
            Err(how) => {
                self.process = None;
                let device = "process".into();
                return Verdict::Differs { device, how };
            }
        };
        // A device that was lost, or faulted, may not come back in this process.
        let differs = matches!(verdict, Verdict::Differs { .. });
        if differs || self.process.as_ref().is_some_and(|p| p.judged >= CASES) {
            self.process = None;
        }
        verdict
    }

    fn ask(&mut self, case: &Case) -> Result<Verdict, String> {
        let process = match &mut self.process {
            Some(process) => process,
            none => none.insert(start(&self.among).map_err(|e| e.to_string())?),
        };
        process.judged += 1;
        let text = case.to_string();
        let sent = write!(process.input, "{}\n{text}", text.len());
        sent.and_then(|()| process.input.flush())
            .map_err(|e| format!("the worker is gone: {e}"))?;
        match process.answers.recv_timeout(PATIENCE) {
            Ok(line) => decode(&line).ok_or(format!("an unknown answer: {line}")),
            Err(RecvTimeoutError::Timeout) => Err("it hangs".into()),
            Err(RecvTimeoutError::Disconnected) => match process.child.wait() {
                Ok(status) => Err(format!("it crashes: {status}")),
                Err(error) => Err(error.to_string()),
            },
        }
    }
}

fn start(among: &[String]) -> std::io::Result<Process> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg("--worker")
        .arg(among.join(","))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let input = child.stdin.take().expect("it is piped");
    let answers = answers(child.stdout.take().expect("it is piped"));
    Ok(Process {
        child,
        input,
        answers,
        judged: 0,
    })
}

/// What a process that judges answers, as it does.
pub(crate) fn answers(output: ChildStdout) -> Receiver<String> {
    let (sender, answers) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            // A driver may print as well.
            if let Ok(line) = line
                && let Some(answer) = line.strip_prefix(MARK)
                && sender.send(answer.to_owned()).is_err()
            {
                return;
            }
        }
    });
    answers
}

const MARK: &str = "sarek-fuzz: ";

/// Answers.
pub(crate) fn answer(text: &str) -> std::io::Result<()> {
    println!("\n{MARK}{text}");
    std::io::stdout().flush()
}

/// The worker's side: until its input ends.
///
/// # Errors
/// Those of its input and output.
pub fn serve(among: &str) -> Result<(), String> {
    let names: Vec<_> = among.split(',').filter(|n| !n.is_empty()).collect();
    let court = Court::of_ir(&names);
    let mut input = BufReader::new(std::io::stdin());
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).map_err(|e| e.to_string())? == 0 {
            return Ok(());
        }
        let len = line.trim().parse().map_err(|_| line.clone())?;
        let mut text = vec![0; len];
        input.read_exact(&mut text).map_err(|e| e.to_string())?;
        let case = String::from_utf8(text).map_err(|e| e.to_string())?;
        let verdict = match Case::parse(&case) {
            Ok(case) => court.judge(&case),
            Err(why) => Verdict::Rejected(why),
        };
        answer(&encode(&verdict)).map_err(|e| e.to_string())?;
    }
}

pub(crate) fn encode(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Agreed { devices, fault } => format!("agreed {fault} {}", devices.join(",")),
        Verdict::Differs { device, how } => {
            format!("differs {device} {}", how.escape_default())
        }
        Verdict::Rejected(why) => format!("rejected - {}", why.escape_default()),
    }
}

pub(crate) fn decode(line: &str) -> Option<Verdict> {
    let mut parts = line.splitn(3, ' ');
    let (word, second, rest) = (parts.next()?, parts.next()?, parts.next()?);
    Some(match word {
        "agreed" => Verdict::Agreed {
            devices: rest.split(',').map(str::to_owned).collect(),
            fault: second == "true",
        },
        "differs" => Verdict::Differs {
            device: second.into(),
            how: rest
                .replace("\\n", "\n")
                .replace("\\'", "'")
                .replace("\\\"", "\""),
        },
        "rejected" => Verdict::Rejected(rest.into()),
        _ => return None,
    })
}
