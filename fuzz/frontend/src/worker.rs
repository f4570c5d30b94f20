//! The process that executes inputs and reports its progress to the supervisor.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::execute::{Outcome, catch_panics, execute};
use crate::input::{Input, Macro};
use crate::mutate;
use crate::seeds::Seeds;

/// The number of inputs between two progress reports. It is 1 when the supervisor searches for the input of a crash.
pub const STRIDE: u64 = 512;

/// The time limit of an input. One that takes longer is a finding.
pub const SLOW: Duration = Duration::from_secs(2);

/// The stack size in bytes. In rustc, macros have what is left of 8 MiB. This program also parses the expansion, which needs more stack in
/// a debug build.
const STACK: usize = if cfg!(debug_assertions) {
    8 << 20
} else {
    4 << 20
};

/// Executes the inputs in `range`, with a stack like rustc's. Before each `stride` of them, prints the number of the next one.
pub fn serve(range: std::ops::Range<u64>, stride: u64) {
    on_stack(move || {
        catch_panics();
        let seeds = Seeds::read();
        let mut accepted = [0u64; Macro::ALL.len()];
        for number in range.clone() {
            if (number - range.start).is_multiple_of(stride) {
                send(&format!("at {number}"));
            }
            let input = mutate::input(&seeds, number);
            let start = Instant::now();
            match execute(&input) {
                Ok(Outcome::Rejected) => {}
                Ok(Outcome::Accepted) => accepted[input.of as usize] += 1,
                Err(bug) => {
                    let message = bug.message.replace('\n', " ");
                    send(&format!("bug {number} {}\t{message}", bug.place));
                }
            }
            if start.elapsed() > SLOW {
                let time = start.elapsed().as_secs();
                send(&format!("bug {number} slow\ttakes {time} s"));
            }
        }
        let counts = Macro::ALL.map(|m| format!("{}={}", m.name(), accepted[m as usize]));
        send(&format!("accepted {}", counts.join(" ")));
    });
}

/// Executes one input from the corpus. Returns a description of the problem, if there is one.
pub fn serve_one(input: &Input) -> Option<String> {
    let text = input.to_string();
    on_stack(move || {
        catch_panics();
        let input = Input::parse(&text).ok()?;
        let bug = execute(&input).err()?;
        Some(format!("{}\t{}", bug.place, bug.message))
    })
}

fn on_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(run);
    thread.expect("a thread").join().expect("panics are caught")
}

fn send(line: &str) {
    let mut out = std::io::stdout().lock();
    // The supervisor has ended.
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}
