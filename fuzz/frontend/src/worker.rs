//! The process that executes inputs, and tells its supervisor how far it is.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::execute::{Outcome, catch_panics, execute};
use crate::input::{Input, Macro};
use crate::mutate;
use crate::seeds::Seeds;

/// Inputs between two reports; in a careful process, 1.
pub const STRIDE: u64 = 512;

/// An input that takes longer is a finding.
pub const SLOW: Duration = Duration::from_secs(2);

/// rustc gives macros the rest of 8 MiB. Here expansions are read once more, which takes more where it is not optimised.
const STACK: usize = if cfg!(debug_assertions) {
    8 << 20
} else {
    4 << 20
};

/// Executes the inputs of `range` on a stack such as rustc's; before each `stride` of them prints the next one's number.
pub fn serve(range: std::ops::Range<u64>, stride: u64) {
    on_stack(move || {
        catch_panics();
        let seeds = Seeds::read();
        let mut accepted = [0u64; Macro::ALL.len()];
        for number in range.clone() {
            if (number - range.start).is_multiple_of(stride) {
                say(&format!("at {number}"));
            }
            let input = mutate::input(&seeds, number);
            let start = Instant::now();
            match execute(&input) {
                Ok(Outcome::Rejected) => {}
                Ok(Outcome::Accepted) => accepted[input.of as usize] += 1,
                Err(wrong) => {
                    let message = wrong.message.replace('\n', " ");
                    say(&format!("wrong {number} {}\t{message}", wrong.place));
                }
            }
            if start.elapsed() > SLOW {
                let time = start.elapsed().as_secs();
                say(&format!("wrong {number} slow\ttakes {time} s"));
            }
        }
        let counts = Macro::ALL.map(|m| format!("{}={}", m.name(), accepted[m as usize]));
        say(&format!("accepted {}", counts.join(" ")));
    });
}

/// Executes one kept input; says what is wrong with it.
pub fn serve_one(input: &Input) -> Option<String> {
    let text = input.to_string();
    on_stack(move || {
        catch_panics();
        let input = Input::parse(&text).ok()?;
        let wrong = execute(&input).err()?;
        Some(format!("{}\t{}", wrong.place, wrong.message))
    })
}

fn on_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(run);
    thread.expect("a thread").join().expect("panics are caught")
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // Without a supervisor there is nobody to tell.
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}
