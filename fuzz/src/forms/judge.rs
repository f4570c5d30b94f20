//! Judges candidates: an accepted kernel must not race.

use std::collections::BTreeMap;
use std::fmt;

use sarek_ir::Kernel;
use sarek_ir::analysis::race;
use sarek_ir::analysis::range::{ArgFact, LaunchFacts};
use sarek_ir::link::link;
use sarek_ir::{ParamKind, Value};

use super::{Candidate, candidate, launch, names};
use crate::case::Launch;
use crate::items::Items;
use crate::sanitizer::first_race;

/// The number of launches that are drawn for a kernel, and the largest number that run.
const DRAWN: u64 = 40;
const RUN: usize = 8;

/// A kernel that the race proof accepts, linked.
pub struct Accepted {
    /// The kernel with its preconditions.
    pub kernel: Kernel,
}

impl Accepted {
    /// Launches that fulfil the preconditions.
    pub fn launches(&self, seed: u64) -> impl Iterator<Item = Launch> {
        drawn(&self.kernel, seed).filter(|launch| is_allowed(&self.kernel, launch))
    }
}

fn drawn(kernel: &Kernel, seed: u64) -> impl Iterator<Item = Launch> {
    let block = kernel.block;
    (0..DRAWN).map(move |at| launch::draw(seed.wrapping_mul(DRAWN).wrapping_add(at), block))
}

/// Lowers and links a candidate; `None` if the race proof refuses it.
///
/// # Errors
/// The frontend rejects it for another reason.
pub fn accepted(candidate: &Candidate, seed: u64) -> Result<Option<Accepted>, String> {
    let Some(kernel) = lowered(candidate, seed, true)? else {
        return Ok(None);
    };
    let items = Items::read(&candidate.items)?;
    if !kernel.links.is_empty() {
        // The frontend leaves these bounds to rustc.
        let proof = race::check_with_constants(&kernel);
        let proof = proof.map_err(|_| "the proof depends on the preconditions")?;
        if !items.satisfy(&kernel, &proof.constants) {
            return Ok(None);
        }
    }
    let kernel = link(&kernel, &items.links(&kernel)?);
    Ok(Some(Accepted { kernel }))
}

/// Lowers a candidate; `None` if its threads race or may miss a barrier.
fn lowered(candidate: &Candidate, seed: u64, is_safe: bool) -> Result<Option<Kernel>, String> {
    let case = candidate.generated(launch::small(seed), is_safe).case();
    let tokens = |text: &str| text.parse().map_err(|e| format!("{e}"));
    let (options, function) = (tokens(&case.options)?, tokens(&case.function)?);
    match sarek_frontend::expand::lowered(options, function) {
        Ok(mut kernel) => {
            // Random kernels wrap, as those of a release build do.
            kernel.overflows = Default::default();
            Ok(Some(kernel))
        }
        Err(errors) if errors.iter().all(|error| error.contains("SRK06")) => Ok(None),
        Err(errors) => Err(errors.join("\n")),
    }
}

/// True if a launch fulfils the preconditions of a kernel.
fn is_allowed(kernel: &Kernel, launch: &Launch) -> bool {
    let (mut scalars, mut lens) = (launch.scalars.iter(), launch.lens.iter());
    let args = kernel.params.iter().map(|param| match param.kind {
        ParamKind::Slice { .. } => ArgFact::Len(*lens.next().expect("a length each") as u64),
        ParamKind::Scalar(_) | ParamKind::Value(_) | ParamKind::Reference(_) => {
            ArgFact::Scalar(Value::Usize(*scalars.next().expect("a value each")))
        }
    });
    let args: Vec<ArgFact> = args.collect();
    let (grid, block) = launch.shape.blocks();
    let facts = LaunchFacts {
        grid: grid.map(|n| n as u64),
        block: block.map(|n| n as u32),
        extent: [0, 1, 2].map(|axis| (grid[axis] * block[axis]) as u64),
        args: &args,
    };
    race::satisfied(kernel, &kernel.preconditions, &facts)
}

/// The result of judging a candidate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The race proof refuses it.
    Refused {
        /// True if a launch races.
        races: bool,
    },
    /// It is accepted, and no launch raced.
    Clean {
        /// True if a launch fulfilled the preconditions.
        launched: bool,
    },
    /// It is accepted, but this launch races.
    Races(Box<Launch>, String),
}

/// Judges a candidate.
///
/// # Errors
/// The frontend rejects it for a reason other than races and barriers.
pub fn judge(candidate: &Candidate, seed: u64) -> Result<Outcome, String> {
    let Some(accepted) = accepted(candidate, seed)? else {
        return Ok(Outcome::Refused {
            races: refused_races(candidate, seed)?,
        });
    };
    let mut launched = false;
    for launch in accepted.launches(seed).take(RUN) {
        launched = true;
        if let Some(message) = first_race(&accepted.kernel, &launch, seed) {
            return Ok(Outcome::Races(Box::new(launch), message));
        }
    }
    Ok(Outcome::Clean { launched })
}

/// True if a refused candidate, as an unsafe kernel, races in a launch.
fn refused_races(candidate: &Candidate, seed: u64) -> Result<bool, String> {
    let Some(kernel) = lowered(candidate, seed, false)? else {
        return Ok(false);
    };
    let items = Items::read(&candidate.items)?;
    let kernel = link(&kernel, &items.links(&kernel)?);
    // An accepted kernel that uses no ids of an axis would ask for one thread along it.
    let is_plane = candidate.uses_rows();
    let is_line = |launch: &Launch| launch.shape.blocks().0[1] * launch.shape.blocks().1[1] == 1;
    let launches = drawn(&kernel, seed).filter(|launch| is_plane || is_line(launch));
    let mut launches = launches.take(RUN);
    Ok(launches.any(|launch| first_race(&kernel, &launch, seed).is_some()))
}

/// The counts of a form.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counts {
    /// Candidates that are accepted, launched and clean.
    pub clean: u32,
    /// Candidates that are accepted, but no drawn launch fulfils their preconditions.
    pub idle: u32,
    /// Candidates that are refused.
    pub refused: u32,
    /// The refused candidates that race in some launch.
    pub racing: u32,
}

/// The counts over some candidates.
#[derive(Clone, Default, Debug)]
pub struct FormTally {
    /// The counts of each form.
    pub forms: BTreeMap<&'static str, Counts>,
    /// The problems found, with their seeds.
    pub findings: Vec<(u64, String)>,
}

impl FormTally {
    /// Judges the candidate of a seed.
    pub fn judge_seed(&mut self, seed: u64) {
        let candidate = candidate(seed);
        let counts = self.forms.entry(candidate.form).or_default();
        match judge(&candidate, seed) {
            Ok(Outcome::Clean { launched: true }) => counts.clean += 1,
            Ok(Outcome::Clean { launched: false }) => counts.idle += 1,
            Ok(Outcome::Refused { races }) => {
                counts.refused += 1;
                counts.racing += u32::from(races);
            }
            Ok(Outcome::Races(launch, message)) => {
                let case = candidate.generated(*launch, true).case();
                let text = format!("accepted, and {message}\n{case}");
                self.findings.push((seed, text));
            }
            Err(message) => {
                let text = format!("not a kernel: {message}\n{}", candidate.case(seed));
                self.findings.push((seed, text));
            }
        }
    }
}

impl fmt::Display for FormTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (seed, message) in &self.findings {
            writeln!(f, "seed {seed}: {message}")?;
        }
        writeln!(f, "   clean    idle refused  racing")?;
        for name in names() {
            let counts = self.forms.get(name).copied().unwrap_or_default();
            let Counts {
                clean,
                idle,
                refused,
                racing,
            } = counts;
            writeln!(f, "{clean:8}{idle:8}{refused:8}{racing:8}  {name}")?;
        }
        write!(f, "{} findings", self.findings.len())
    }
}
