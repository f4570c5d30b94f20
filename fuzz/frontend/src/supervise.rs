//! Runs worker processes and finds the inputs on which they crash or hang.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::worker::STRIDE;

/// The options of a run.
pub struct Options {
    /// The number of the first input.
    pub first: u64,
    /// The number of inputs.
    pub count: u64,
    /// The time limit.
    pub time: Duration,
    /// The number of processes.
    pub jobs: usize,
}

/// The results of a run.
#[derive(Default, Debug)]
pub struct Findings {
    /// The number of inputs executed.
    pub executed: u64,
    /// The number of inputs accepted, by macro.
    pub accepted: BTreeMap<String, u64>,
    /// The bugs found, by place.
    pub bugs: BTreeMap<String, Finding>,
}

/// A bug, with the inputs that show it.
#[derive(Default, Debug)]
pub struct Finding {
    /// The message of the first input.
    pub message: String,
    /// The numbers of the first few inputs.
    pub numbers: Vec<u64>,
    /// The number of inputs that show it.
    pub count: u64,
}

/// The number of inputs that one process executes. Then it is replaced, so leaked memory does not accumulate.
const SHARE: u64 = 200 * STRIDE;

/// The time without output after which a worker counts as hung.
const WORKER_TIMEOUT: Duration = Duration::from_secs(30);

/// The way a worker ended.
enum End {
    Done,
    /// It crashed or hung at this input or one of the next `stride` inputs.
    Lost(u64, &'static str),
    TimeUp,
}

/// Executes the inputs and prints findings as they occur.
pub fn run(options: &Options) -> Findings {
    let findings = Mutex::new(Findings::default());
    let next = AtomicU64::new(options.first);
    let end = options.first.saturating_add(options.count);
    let deadline = Instant::now().checked_add(options.time);
    std::thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| {
                loop {
                    let first = next.fetch_add(SHARE, Ordering::Relaxed);
                    let is_late = deadline.is_some_and(|d| Instant::now() > d);
                    if first >= end || is_late {
                        return;
                    }
                    share(first, end.min(first + SHARE), deadline, &findings);
                }
            });
        }
    });
    findings.into_inner().unwrap_or_else(|e| e.into_inner())
}

/// Executes the inputs from `at` to `end`, with a new process after each crash or hang.
fn share(mut at: u64, end: u64, deadline: Option<Instant>, findings: &Mutex<Findings>) {
    while at < end {
        let lost = match watch(at, end, STRIDE, deadline, findings) {
            End::Done | End::TimeUp => return,
            End::Lost(from, _) => from,
        };
        let stride_end = end.min(lost + STRIDE);
        // Executes the lost stride again, one input at a time. Findings that both passes report are counted twice.
        at = match watch(lost, stride_end, 1, None, findings) {
            End::Done | End::TimeUp => stride_end,
            End::Lost(number, how) => {
                note(findings, number, how, "the process is lost");
                number + 1
            }
        };
    }
}

/// Runs one worker until it ends.
fn watch(
    first: u64,
    end: u64,
    stride: u64,
    deadline: Option<Instant>,
    findings: &Mutex<Findings>,
) -> End {
    let mut child = spawn(first, end, stride);
    let lines = lines(&mut child);
    let mut at = first;
    let outcome = loop {
        match lines.recv_timeout(WORKER_TIMEOUT) {
            Ok(line) => {
                let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
                match word {
                    "at" => {
                        let now = rest.parse().unwrap_or(at);
                        executed(findings, now - at);
                        at = now;
                        if deadline.is_some_and(|d| Instant::now() > d) {
                            break End::TimeUp;
                        }
                    }
                    "bug" => {
                        let (number, what) = rest.split_once(' ').unwrap_or((rest, ""));
                        let (place, message) = what.split_once('\t').unwrap_or((what, ""));
                        note(findings, number.parse().unwrap_or(at), place, message);
                    }
                    _ => accepted(findings, rest),
                }
            }
            Err(RecvTimeoutError::Timeout) => break End::Lost(at, "hang"),
            Err(RecvTimeoutError::Disconnected) => {
                let is_done = child.wait().is_ok_and(|status| status.success());
                if is_done {
                    executed(findings, end - at);
                    break End::Done;
                }
                break End::Lost(at, "crash");
            }
        }
    };
    // The worker may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
    outcome
}

fn spawn(first: u64, end: u64, stride: u64) -> Child {
    let exe = std::env::current_exe().expect("this program's own path");
    let numbers = [first, end, stride].map(|n| n.to_string()).join(",");
    let mut command = Command::new(exe);
    command.args(["--worker", &numbers]);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().expect("this program once more")
}

/// Receives the output of a process line by line.
fn lines(child: &mut Child) -> mpsc::Receiver<String> {
    let (send, receive) = mpsc::channel();
    let out = BufReader::new(child.stdout.take().expect("it is piped"));
    std::thread::spawn(move || {
        for line in out.lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                return;
            }
        }
    });
    receive
}

fn executed(findings: &Mutex<Findings>, count: u64) {
    let mut findings = findings.lock().unwrap_or_else(|e| e.into_inner());
    let (before, after) = (findings.executed, findings.executed + count);
    findings.executed = after;
    const REPORT_INTERVAL: u64 = 1_000_000;
    if before / REPORT_INTERVAL != after / REPORT_INTERVAL {
        println!("{after} executed, {} bugs", findings.bugs.len());
    }
}

fn accepted(findings: &Mutex<Findings>, counts: &str) {
    let mut findings = findings.lock().unwrap_or_else(|e| e.into_inner());
    for count in counts.split(' ') {
        if let Some((name, count)) = count.split_once('=') {
            let count: u64 = count.parse().unwrap_or_default();
            *findings.accepted.entry(name.to_owned()).or_default() += count;
        }
    }
}

fn note(findings: &Mutex<Findings>, number: u64, place: &str, message: &str) {
    let mut findings = findings.lock().unwrap_or_else(|e| e.into_inner());
    let finding = findings.bugs.entry(place.to_owned()).or_default();
    if finding.count == 0 {
        finding.message = message.to_owned();
        println!("input {number}: {place}: {message}");
    }
    finding.count += 1;
    if finding.numbers.len() < 5 {
        finding.numbers.push(number);
    }
}
