//! Judges cases in another process, since a driver's compiler may crash, hang, or leak memory.
//!
//! The worker reads cases from its standard input. Before each case is a line with the length of its text and the devices to leave out.
//! The worker answers with one line for each [`Event`].

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::case::Case;
use crate::judge::Comparison;
use crate::verdict::{Event, Kind, Progress, Verdict};

/// The time limit of one device for a case.
pub const DEVICE_TIMEOUT: Duration = Duration::from_secs(300);

/// The number of cases after which a worker is replaced, since it never frees compiled programs.
const CASES: u32 = 150;

/// A handle to a process that judges cases, started on first use.
pub struct Worker {
    /// The backends to compare, `nvrtc` included; all if empty.
    among: Vec<String>,
    timeout: Duration,
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
        // The process may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Worker {
    /// A worker that compares these backends, or all if the list is empty.
    pub fn new(among: &[&str]) -> Worker {
        Worker {
            among: among.iter().map(|s| (*s).to_owned()).collect(),
            timeout: DEVICE_TIMEOUT,
            process: None,
        }
    }

    /// Sets the time after which a device counts as hung.
    pub fn with_timeout(mut self, timeout: Duration) -> Worker {
        self.timeout = timeout;
        self
    }

    /// Judges a case. A crash or hang is a finding of the device at work; the remaining devices still run.
    pub fn judge(&mut self, case: &Case) -> Verdict {
        let mut progress = Progress::default();
        while !progress.is_over() {
            if let Err(message) = self.ask(case, &mut progress) {
                self.process = None;
                progress.blame_device(message);
            }
        }
        let verdict = progress.verdict();
        // A device that was lost, or that faulted, may be unusable in this process.
        let is_spoilt = verdict.has(Kind::Differs) || verdict.has(Kind::Failed);
        if is_spoilt || self.process.as_ref().is_some_and(|p| p.judged >= CASES) {
            self.process = None;
        }
        verdict
    }

    fn ask(&mut self, case: &Case, progress: &mut Progress) -> Result<(), String> {
        let process = match &mut self.process {
            Some(process) => process,
            none => none.insert(start(&self.among).map_err(|e| e.to_string())?),
        };
        process.judged += 1;
        let (text, without) = (case.to_string(), progress.finished().join(","));
        let sent = write!(process.input, "{} {without}\n{text}", text.len());
        sent.and_then(|()| process.input.flush())
            .map_err(|e| format!("the worker is gone: {e}"))?;
        while !progress.is_over() {
            match process.answers.recv_timeout(self.timeout) {
                Ok(line) => progress.record(&line)?,
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

/// Receives the answers of a judging process as it prints them.
pub(crate) fn answers(output: ChildStdout) -> Receiver<String> {
    let (sender, answers) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            // A driver may print to standard output too.
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

/// Prints an event as one line.
///
/// # Panics
/// Standard output is closed.
pub(crate) fn answer(event: &Event) {
    println!("\n{MARK}{}", event.encode());
    std::io::stdout().flush().expect("the output is open");
}

/// Serves as a worker: judges cases from standard input until it ends.
///
/// # Errors
/// Standard input cannot be read, or a case is malformed.
pub fn serve(among: &str) -> Result<(), String> {
    let names: Vec<_> = among.split(',').filter(|n| !n.is_empty()).collect();
    let comparison = Comparison::of_ir(&names);
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
        comparison.judge(&case, &without, &mut |event| answer(&event));
    }
}
