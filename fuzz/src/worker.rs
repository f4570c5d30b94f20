//! Judging in another process: a driver's compiler may crash, hang, or keep what it made for ever.
//!
//! The worker reads cases from its standard input, each after a line with its length and the devices that are left out,
//! and answers each with lines: what it is at, and what it finds.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::case::Case;
use crate::judge::Court;
use crate::verdict::{Event, Hearing, Kind, Verdict};

/// How long one device may take for a case.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// After so many cases a worker is replaced: it keeps all programs.
const CASES: u32 = 150;

/// A process that judges, started when it is needed.
pub struct Worker {
    /// The names of the backends that are compared, and `nvrtc`; all if empty.
    among: Vec<String>,
    patience: Duration,
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
            patience: PATIENCE,
            process: None,
        }
    }

    /// The same that takes a device to hang after so long.
    pub fn patient(mut self, patience: Duration) -> Worker {
        self.patience = patience;
        self
    }

    /// The verdict on a case. A crash or a hang is a finding, too; the devices that did not are asked all the same.
    pub fn judge(&mut self, case: &Case) -> Verdict {
        let mut hearing = Hearing::default();
        while !hearing.is_over() {
            if let Err(how) = self.ask(case, &mut hearing) {
                self.process = None;
                hearing.blame(how);
            }
        }
        let verdict = hearing.verdict();
        // A device that was lost, or faulted, may not come back in this process.
        let is_spoilt = verdict.has(Kind::Differs) || verdict.has(Kind::Failed);
        if is_spoilt || self.process.as_ref().is_some_and(|p| p.judged >= CASES) {
            self.process = None;
        }
        verdict
    }

    fn ask(&mut self, case: &Case, hearing: &mut Hearing) -> Result<(), String> {
        let process = match &mut self.process {
            Some(process) => process,
            none => none.insert(start(&self.among).map_err(|e| e.to_string())?),
        };
        process.judged += 1;
        let (text, without) = (case.to_string(), hearing.heard().join(","));
        let sent = write!(process.input, "{} {without}\n{text}", text.len());
        sent.and_then(|()| process.input.flush())
            .map_err(|e| format!("the worker is gone: {e}"))?;
        while !hearing.is_over() {
            match process.answers.recv_timeout(self.patience) {
                Ok(line) => hearing.hear(&line)?,
                Err(RecvTimeoutError::Timeout) => return Err("it hangs".into()),
                Err(RecvTimeoutError::Disconnected) => {
                    let status = process.child.wait().map_err(|e| e.to_string())?;
                    return Err(format!("it crashes: {status}"));
                }
            }
        }
        Ok(())
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
///
/// # Panics
/// Nobody listens.
pub(crate) fn answer(event: &Event) {
    println!("\n{MARK}{}", event.encode());
    std::io::stdout().flush().expect("somebody listens");
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
        let (len, without) = line.trim_end().split_once(' ').unwrap_or((line.trim(), ""));
        let len = len.parse().map_err(|_| line.clone())?;
        let without: Vec<_> = without.split(',').collect();
        let mut text = vec![0; len];
        input.read_exact(&mut text).map_err(|e| e.to_string())?;
        let case = Case::parse(&String::from_utf8(text).map_err(|e| e.to_string())?)?;
        court.judge(&case, &without, &mut |event| answer(&event));
    }
}
