//! The proof that functions are free of races, against the sanitizer: a call that is accepted does not race.
//!
//! Candidates ([`make`]) give functions and methods values that all threads of a block have or that differ. What is proved of each function, and
//! what its calls are asked, is known here as rustc knows it of a program ([`sarek_ir::analysis::contract::Facts`]). Each kernel that
//! its callers may launch is run in several orders.

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

/// Threads of a block, and elements that one can index.
const BLOCK: u32 = 8;
const BLOCKS: u64 = 2;
const TABLE: u64 = 4;

/// What became of a candidate.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// It is refused.
    Refused {
        /// Why.
        because: String,
        /// Do its threads disagree on an argument, and did they race for that?
        races: bool,
    },
    /// It is accepted, and was clean.
    Clean {
        /// Was it launched at all?
        launched: bool,
    },
    /// It is accepted, and two threads met.
    Races(String),
}

/// Judges a candidate.
///
/// # Errors
/// It is no kernel, for another reason than what its threads do.
pub fn judge(candidate: &Candidate, seed: u64) -> Result<Outcome, String> {
    let refused = |because: String| Outcome::Refused {
        because,
        races: false,
    };
    let items = match Items::read(&candidate.items) {
        Ok(items) => items,
        Err(how) => return of_threads(how).map(refused),
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
        (Ok(_), Some(how)) => Outcome::Races(how),
        (Ok(_), None) => Outcome::Clean { launched },
        (Err(refusal), met) => Outcome::Refused {
            because: format!("{refusal:?}"),
            races: met.is_some() && matches!(refusal, Refusal::Disagrees(..)),
        },
    })
}

/// Errors about races and barriers; those of another kind are the generator's.
fn of_threads(errors: String) -> Result<String, String> {
    match errors.contains("SRK06") {
        true => Ok(errors),
        false => Err(errors),
    }
}

/// Does a launch satisfy what the kernel takes of it?
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

/// The race that the sanitizer finds in a block.
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

/// `y`, `table` and `n`.
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

/// What was seen of some candidates.
#[derive(Clone, Default, Debug)]
pub struct Seen {
    /// Accepted, and launched without a race.
    pub clean: u32,
    /// Refused.
    pub refused: u32,
    /// Refused at a call since its threads disagree on an argument.
    pub disagreeing: u32,
    /// Those of these that race.
    pub racing: u32,
    /// What is wrong, with the seed.
    pub findings: Vec<(u64, String)>,
}

impl Seen {
    /// Judges the candidate of a seed.
    pub fn look_at(&mut self, seed: u64) {
        match judge(&candidate(seed), seed) {
            Ok(Outcome::Clean { launched }) => self.clean += u32::from(launched),
            Ok(Outcome::Refused { because, races }) => {
                self.refused += 1;
                self.disagreeing += u32::from(because.starts_with("Disagrees"));
                self.racing += u32::from(races);
            }
            Ok(Outcome::Races(how)) => self.findings.push((seed, format!("accepted, and {how}"))),
            Err(how) => self.findings.push((seed, format!("no kernel: {how}"))),
        }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Seen {
            clean,
            refused,
            disagreeing,
            racing,
            findings,
        } = self;
        for (seed, how) in findings {
            let Candidate { items, kernel } = candidate(*seed);
            writeln!(f, "seed {seed}: {how}\n{items}{kernel}\n")?;
        }
        write!(
            f,
            "{clean} accepted and clean, {refused} refused, {disagreeing} of them for an argument that differs, of which {racing} race; {} findings",
            findings.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_accepted_does_not_race() {
        let mut seen = Seen::default();
        for seed in 0..400 {
            seen.look_at(seed);
        }
        assert!(seen.findings.is_empty(), "{seen}");
        let enough = seen.clean > 30 && seen.disagreeing > 5 && seen.racing > 3;
        assert!(enough, "{seen}");
    }
}
