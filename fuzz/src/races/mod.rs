//! Tests the proof of race freedom against the sanitizer: an accepted kernel must not race.
//!
//! Candidates ([`make`]) call functions and methods with arguments that are uniform in a block, or that differ between threads. This
//! module evaluates the facts about each function, and the conditions on its calls, as rustc does for a program
//! ([`sarek_ir::analysis::contract::Facts`]). It runs each accepted kernel in several thread orders, for each launch that the kernel's
//! preconditions allow.

mod make;

pub use make::{Candidate, candidate};

use std::fmt;

use quote::quote;
use sarek_ir::analysis::contract::{Refusal, accepted};
use sarek_ir::analysis::race;
use sarek_ir::analysis::range::{ArgFact, LaunchFacts};
use sarek_ir::interp::{Host, Ids, Machine, Sanitize, Stop};
use sarek_ir::link::link;
use sarek_ir::{Kernel, ParamId, Value};

use crate::items::Items;

/// The launch: threads per block, blocks, and the length of `table`.
const BLOCK: u32 = 8;
const BLOCKS: u64 = 2;
const TABLE: u64 = 4;

/// The result of judging a candidate.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// The candidate is refused.
    Refused {
        /// The reason.
        because: String,
        /// True if it was refused because threads disagree on an argument, and it did race.
        races: bool,
    },
    /// The candidate is accepted, and no run raced.
    Clean {
        /// True if the preconditions allowed a launch.
        launched: bool,
    },
    /// The candidate is accepted, but two threads raced.
    Races(String),
}

/// Judges a candidate.
///
/// # Errors
/// The frontend rejects it for a reason other than races and barriers.
pub fn judge(candidate: &Candidate, seed: u64) -> Result<Outcome, String> {
    let refused = |because: String| Outcome::Refused {
        because,
        races: false,
    };
    let items = match Items::read(&candidate.items) {
        Ok(items) => items,
        Err(message) => return of_threads(message).map(refused),
    };
    let tokens = candidate.kernel.parse().map_err(|e| format!("{e}"))?;
    let expansion = sarek_frontend::expand::kernel(quote!(block = 8), tokens);
    let Some(kernel) = expansion.kernel else {
        return of_threads(expansion.errors.join("\n")).map(refused);
    };
    let verdict = items
        .facts(&kernel)?
        .and_then(|facts| accepted(&kernel, &facts));
    let linked = link(&kernel, &items.links(&kernel)?);
    let (mut launched, mut met) = (false, None);
    for n in 0..3 {
        let may_run = verdict.is_err() || launches(&linked, n);
        launched |= may_run;
        let mut orders = (0..3).filter(|_| may_run);
        met = met.or_else(|| orders.find_map(|order| races(&linked, n, seed ^ order)));
    }
    Ok(match (verdict, met) {
        (Ok(_), Some(message)) => Outcome::Races(message),
        (Ok(_), None) => Outcome::Clean { launched },
        (Err(refusal), met) => Outcome::Refused {
            because: format!("{refusal:?}"),
            races: met.is_some() && matches!(refusal, Refusal::Disagrees(..)),
        },
    })
}

/// Returns the errors if they are about races and barriers. Others are mistakes of the generator, and returned as an error.
fn of_threads(errors: String) -> Result<String, String> {
    match errors.contains("SRK06") {
        true => Ok(errors),
        false => Err(errors),
    }
}

/// True if the launch with this `n` satisfies the kernel's preconditions.
fn launches(kernel: &Kernel, n: u64) -> bool {
    let threads = BLOCKS * u64::from(BLOCK);
    let args = [
        ArgFact::Len(threads),
        ArgFact::Len(TABLE),
        ArgFact::Scalar(Value::Usize(n)),
    ];
    let facts = LaunchFacts {
        grid: [BLOCKS, 1, 1],
        block: [BLOCK, 1, 1],
        extent: [threads, 1, 1],
        args: &args,
    };
    race::satisfied(kernel, &kernel.preconditions, &facts)
}

/// Runs one block under the sanitizer, and describes the race that it finds.
fn races(kernel: &Kernel, n: u64, seed: u64) -> Option<String> {
    let settings = Sanitize {
        seed,
        unwritten: true,
        overflow: false,
    };
    let block_dim = [BLOCK.into(), 1, 1];
    let ids = Ids {
        thread_idx: [0; 3],
        block_idx: [1, 0, 0],
        block_dim,
        grid_dim: [BLOCKS, 1, 1],
        global_dim: [BLOCKS * u64::from(BLOCK), 1, 1],
    };
    let mut machine = Machine::sanitizing(kernel, settings);
    match machine.run(&ids, block_dim, &mut Arguments(n)) {
        Err(Stop::Found(found)) => Some(found.text(kernel)),
        Err(_) | Ok(()) => None,
    }
}

/// The arguments `y`, `table` and `n`.
struct Arguments(u64);

impl Host for Arguments {
    fn scalar(&self, _: ParamId) -> Value {
        Value::Usize(self.0)
    }

    fn len(&self, slice: ParamId) -> u64 {
        match slice {
            ParamId(0) => BLOCKS * u64::from(BLOCK),
            _ => TABLE,
        }
    }

    fn load(&mut self, _: ParamId, index: u64) -> Value {
        Value::U32(index as u32 + 1)
    }

    fn store(&mut self, _: ParamId, _: u64, _: Value) {}
}

/// The counts over some candidates.
#[derive(Clone, Default, Debug)]
pub struct RaceTally {
    /// Candidates accepted and launched without a race.
    pub clean: u32,
    /// Candidates refused.
    pub refused: u32,
    /// Candidates refused because the threads disagree on an argument of a call.
    pub disagreeing: u32,
    /// The disagreeing candidates that do race.
    pub racing: u32,
    /// The problems found, with their seeds.
    pub findings: Vec<(u64, String)>,
}

impl RaceTally {
    /// Judges the candidate of a seed.
    pub fn judge_seed(&mut self, seed: u64) {
        match judge(&candidate(seed), seed) {
            Ok(Outcome::Clean { launched }) => self.clean += u32::from(launched),
            Ok(Outcome::Refused { because, races }) => {
                self.refused += 1;
                self.disagreeing += u32::from(because.starts_with("Disagrees"));
                self.racing += u32::from(races);
            }
            Ok(Outcome::Races(message)) => self
                .findings
                .push((seed, format!("accepted, and {message}"))),
            Err(message) => self
                .findings
                .push((seed, format!("not a kernel: {message}"))),
        }
    }
}

impl fmt::Display for RaceTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RaceTally {
            clean,
            refused,
            disagreeing,
            racing,
            findings,
        } = self;
        for (seed, message) in findings {
            let Candidate { items, kernel } = candidate(*seed);
            writeln!(f, "seed {seed}: {message}\n{items}{kernel}\n")?;
        }
        write!(
            f,
            "{clean} accepted and clean, {refused} refused, {disagreeing} of them for a divergent argument, of which {racing} race; {} findings",
            findings.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepted_kernels_do_not_race() {
        let mut tally = RaceTally::default();
        for seed in 0..400 {
            tally.judge_seed(seed);
        }
        assert!(tally.findings.is_empty(), "{tally}");
        let enough = tally.clean > 30 && tally.disagreeing > 5 && tally.racing > 3;
        assert!(enough, "{tally}");
    }
}
