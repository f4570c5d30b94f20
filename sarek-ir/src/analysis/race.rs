//! Race check: proves that no two threads access one element of a `&mut` slice that the kernel writes. This is
//! the race-freedom contract of safe kernels.
//!
//! The proof shows that an index determines the thread. Take `y[4 * i + k]`, where `i` is the global id and `k`
//! counts from 0 to 3. Two threads have different `i`, so their indices differ by at least 1, whatever `k` is.
//!
//! In general, every access of a slice must have an index `base + P + low`:
//!
//! - `P = Σ cⱼ·idⱼ` is a sum of ids, the same in all accesses: here `4·i`.
//! - `low` is a sum of bounded locals: here `k`. It may differ between accesses, but must lie in `0..c₀`, where `c₀`
//!   is the smallest coefficient: here 4.
//!
//! Ordered by their coefficients, the ids must be digits of a mixed-radix number. Each id but the last has a bound
//! `idⱼ < Bⱼ`, from a guard or from the extent of its axis, and `cⱼ·Bⱼ <= cⱼ₊₁`. Then equal indices have equal ids.
//! An axis without an id in the index must have one thread, or a guard must admit only one (`global_idx_y() == 0`).
//!
//! These rules are fast, and most kernels need no other. If they fail for all accesses together, each pair of accesses
//! is checked by itself. Any of these proofs suffices:
//!
//! - The ranges of the two indices do not overlap ([`apart`]).
//! - Block ids and thread ids are separate digits ([`tiles`]).
//! - Threads exchange elements in pairs ([`exchange`]).
//!
//! The last attempt is a refutation ([`meet`]): the facts at both accesses and the equality of their indices have no
//! solution for two different threads. It follows the values of mutable locals, loops, quotients and products, which the
//! rules above do not. It may assume bounds of named constants ([`ConstantBound`]), which rustc checks.
//!
//! If an index depends on the result of a function, the proof may assume usual forms of that result ([`called`]).
//!
//! A condition that only a launch can decide becomes a [`Precondition`].
//!
//! Indices of strided views are checked coordinate by coordinate ([`view`]). Shared arrays are checked within
//! one barrier interval of one block ([`shared`]).

mod apart;
mod buffer;
pub mod called;
mod counterexample;
mod exchange;
pub mod function;
mod meet;
mod missing;
mod reason;
mod shared;
mod tiles;
mod view;

use std::collections::BTreeSet;

use buffer::Buffer;
pub use counterexample::{Assumed, Counterexample, Element};
pub use meet::ConstantBound;
use meet::{Constants, Setting};
pub use missing::Missing;
pub use reason::{Race, Reason};

use super::access::{Access, Place, accesses, accesses_of_values};
use super::linear::{Atom, relied_on};
use super::range::{LaunchFacts, analyse};
use super::uniformity::Among;
use crate::{Axis, Builtin, Expr, ExprId, Kernel, LocalId, Memory, Precondition, SUBGROUP, Stmt};

/// Checks that no two threads access one element if one of them writes it. Returns the preconditions of a
/// launch.
///
/// # Errors
/// One race for each slice or shared array that is not proved free of races.
pub fn check(kernel: &Kernel) -> Result<Vec<Precondition>, Vec<Race>> {
    let mut constants = Constants::none().with_subgroups(kernel);
    let proved = prove(kernel, &mut constants);
    proved.map_err(|races| with_counterexamples(kernel, races))
}

/// [`check`] that may also assume bounds of constants that the user's crate names. A race has the fact that the proof
/// lacks, if a usual one suffices.
///
/// # Errors
/// One race for each slice or shared array that is not proved free of races.
pub fn check_with_constants(kernel: &Kernel) -> Result<Proof, Vec<Race>> {
    let proved = proof(kernel, Constants::of(kernel));
    proved.map_err(|races| explained(kernel, races))
}

/// [`check_with_constants`] without explanations, with these bounds of constants.
fn proof(kernel: &Kernel, mut constants: Constants) -> Result<Proof, Vec<Race>> {
    let preconditions = prove(kernel, &mut constants)?;
    Ok(Proof {
        preconditions,
        constants: constants.used,
    })
}

/// The assumptions under which a kernel is free of races.
#[derive(Clone, Debug)]
pub struct Proof {
    /// The preconditions of a launch.
    pub preconditions: Vec<Precondition>,
    /// Bounds of named constants, which rustc has to check.
    pub constants: Vec<ConstantBound>,
}

fn prove(kernel: &Kernel, constants: &mut Constants) -> Result<Vec<Precondition>, Vec<Race>> {
    let all = accesses(kernel);
    let mut preconditions = relied_on(kernel);
    let mut races = vec![];
    let mut values = None;
    let memories: BTreeSet<Memory> = all.iter().map(|a| a.memory).collect();
    for memory in memories {
        let of_buffer = all.iter().filter(|a| a.memory == memory);
        let of_buffer: Vec<&Access> = of_buffer.collect();
        let is_store = |a: &&Access| matches!(a.place, Place::Store(_));
        if !of_buffer.iter().any(is_store) {
            continue;
        }
        let buffer = Buffer::new(kernel, &of_buffer);
        let checked = match buffer.rank() {
            0 => {
                let whole = buffer.check();
                whole.or_else(|race| in_pairs(kernel, &of_buffer).ok_or(race))
            }
            _ => buffer.check_view(),
        };
        let mut by_refutation = |constants: &mut Constants| {
            let (accesses, terms) = values.get_or_insert_with(|| accesses_of_values(kernel));
            let of_buffer = accesses.iter().filter(|a| a.memory == memory);
            let of_buffer: Vec<&Access> = of_buffer.collect();
            constants.expect_digits(kernel, &of_buffer);
            constants.first_proof(|assumed, used| {
                let setting = Setting {
                    kernel,
                    terms,
                    in_block: false,
                    assumed,
                };
                none_meet(setting, &of_buffer, used)
            })
        };
        let rows = |needs: &Needs| needs.iter().filter(|need| is_row(need)).count();
        match checked {
            Ok(needs) if needs.iter().any(|need| is_used(need, &of_buffer)) => {
                let other = by_refutation(&mut Constants::none());
                let other = other.filter(|other| rows(other) < rows(&needs));
                add(&mut preconditions, other.unwrap_or(needs));
            }
            Ok(needs) => add(&mut preconditions, needs),
            Err(race) => match by_refutation(constants) {
                Some(needs) => add(&mut preconditions, needs),
                None => match missing::positive(kernel, &race) {
                    Some(needs) => add(&mut preconditions, needs),
                    None => races.push(race),
                },
            },
        }
    }
    match shared::check(kernel, &Among::default(), constants) {
        Ok(needs) => add(&mut preconditions, needs),
        Err(found) => races.extend(found),
    }
    if races.is_empty() {
        Ok(preconditions)
    } else {
        Err(races)
    }
}

/// True if the kernel tells threads apart along an axis. It does not mean launches with one thread there.
fn names_threads(kernel: &Kernel, axis: Axis) -> bool {
    names_threads_of_block(kernel, axis) || names_blocks(kernel, axis)
}

/// True if the kernel tells the threads of a block apart along an axis.
fn names_threads_of_block(kernel: &Kernel, axis: Axis) -> bool {
    names(kernel, &[Builtin::ThreadIdx(axis)])
}

/// True if the kernel tells the threads of a launch apart along an axis, other than by their blocks.
fn names_own_threads(kernel: &Kernel, axis: Axis) -> bool {
    names(
        kernel,
        &[Builtin::ThreadIdx(axis), Builtin::GlobalIdx(axis)],
    )
}

/// True if the kernel tells blocks apart along an axis.
fn names_blocks(kernel: &Kernel, axis: Axis) -> bool {
    names(kernel, &[Builtin::BlockIdx(axis), Builtin::GlobalIdx(axis)])
}

/// True if the kernel reads one of these ids, other than to bind a local that it never reads.
fn names(kernel: &Kernel, ids: &[Builtin]) -> bool {
    let is_read = |local: LocalId| {
        let mut exprs = kernel.exprs.iter();
        exprs.any(|expr| *expr == Expr::Local(local))
    };
    let is_unused = |id: ExprId| {
        let mut stmts = kernel.stmts.iter();
        stmts.any(|stmt| match *stmt {
            Stmt::Let { local, init } => init == Some(id) && !is_read(local),
            _ => false,
        })
    };
    let mut exprs = (0..).map(ExprId).zip(kernel.exprs.iter());
    exprs.any(|(at, expr)| {
        let is_one = matches!(expr, Expr::Builtin(id) if ids.contains(id));
        is_one && !is_unused(at)
    })
}

/// True if the launch must have one thread along an axis.
fn is_row(need: &Precondition) -> bool {
    matches!(need, Precondition::SingleThread(_))
}

/// True if the launch must have one thread along an axis whose ids the kernel uses.
fn is_used(need: &Precondition, accesses: &[&Access]) -> bool {
    let Precondition::SingleThread(axis) = need else {
        return false;
    };
    let forms = accesses.iter().flat_map(|access| {
        let own = access
            .form
            .iter()
            .chain(access.coordinates.iter().flatten());
        let own = own.map(|affine| &affine.form);
        own.chain(access.bounds.iter().map(|bound| &bound.form))
    });
    let mut atoms = forms.flat_map(|form| form.terms());
    atoms.any(|(atom, _)| matches!(atom, Atom::Id(id) if id.axis() == Some(*axis)))
}

/// Adds to each race of a kernel a counterexample, if there is one, and the fact that the proof lacks.
fn explained(kernel: &Kernel, races: Vec<Race>) -> Vec<Race> {
    let mut races = with_counterexamples(kernel, races);
    for race in &mut races {
        race.missing = missing::find(kernel, race);
    }
    races
}

/// Adds a counterexample to each race that is to be reported, if there is one.
fn with_counterexamples(kernel: &Kernel, mut races: Vec<Race>) -> Vec<Race> {
    for race in &mut races {
        counterexample::explain(kernel, race);
    }
    races
}

/// True if range analysis proves that a launch satisfies the preconditions.
pub fn satisfied(kernel: &Kernel, needs: &[Precondition], facts: &LaunchFacts<'_>) -> bool {
    let ranges = analyse(kernel, facts);
    needs.iter().all(|need| match need {
        Precondition::SingleThread(axis) => facts.extent[axis.index()] <= 1,
        Precondition::ExtentAtMost(axis, n) => facts.extent[axis.index()] <= *n,
        Precondition::BlockAtMost(axis, n) => u64::from(facts.block[axis.index()]) <= *n,
        Precondition::GridAtMost(axis, n) => facts.grid[axis.index()] <= *n,
        Precondition::BlockMultipleOf(n) => facts.grid[0] <= 1 || facts.block[0].is_multiple_of(*n),
        Precondition::NoOverflow(e) => ranges.no_overflow(*e),
        Precondition::Holds(site) => ranges.proved(*site),
        Precondition::Positive(param) => facts.args[param.index()].is_positive(),
        // These are the subgroups of the interpreter.
        Precondition::SubgroupSize(n) => u64::from(*n) == SUBGROUP,
        Precondition::SubgroupSizeIs(_) => false,
        Precondition::EqualSubgroups => true,
        Precondition::WholeSubgroups => {
            facts.grid[0] <= 1 || u64::from(facts.block[0]).is_multiple_of(SUBGROUP)
        }
        Precondition::BlockOfSubgroups => u64::from(facts.block[0]).is_multiple_of(SUBGROUP),
    })
}

fn add(all: &mut Needs, needs: Needs) {
    for need in needs {
        if !all.contains(&need) {
            all.push(need);
        }
    }
}

/// The preconditions under which no two accesses of a slice collide, each pair checked by itself; `None` if a
/// pair may collide.
fn in_pairs(kernel: &Kernel, accesses: &[&Access]) -> Option<Needs> {
    let mut needs = vec![];
    for (i, a) in accesses.iter().enumerate() {
        for (j, b) in accesses.iter().enumerate().skip(i) {
            if is_store(a) || is_store(b) {
                add(&mut needs, pair(kernel, a, b, i == j)?);
            }
        }
    }
    Some(needs)
}

/// [`in_pairs`] by refutation.
fn none_meet(
    setting: Setting<'_>,
    accesses: &[&Access],
    used: &mut Vec<ConstantBound>,
) -> Option<Needs> {
    let mut needs = vec![];
    for (i, a) in accesses.iter().enumerate() {
        for b in &accesses[i..] {
            if is_store(a) || is_store(b) {
                add(&mut needs, setting.apart(a, b, used)?);
            }
        }
    }
    Some(needs)
}

fn pair(kernel: &Kernel, a: &Access, b: &Access, same: bool) -> Option<Needs> {
    if !same && let Some(needs) = apart::apart(kernel, a, b) {
        return Some(needs);
    }
    if let Ok(needs) = Buffer::new(kernel, &[a, b]).check() {
        return Some(needs);
    }
    let (mut needs, told) = match exchange::exchange(a, b) {
        Some((Builtin::GlobalIdx(axis), needs)) => (needs, axis_alone(axis)),
        Some(_) | None => tiles::tiles(kernel, a, b)?,
    };
    for (axis, told) in Axis::ALL.into_iter().zip(told) {
        if !told {
            if names_threads(kernel, axis) {
                return None;
            }
            needs.push(Precondition::SingleThread(axis));
        }
    }
    Some(needs)
}

fn axis_alone(axis: Axis) -> [bool; 3] {
    let mut told = [false; 3];
    told[axis.index()] = true;
    told
}

fn is_store(access: &Access) -> bool {
    matches!(access.place, Place::Store(_))
}

/// The preconditions of a launch.
type Needs = Vec<Precondition>;

#[cfg(test)]
mod patterns;
#[cfg(test)]
mod soundness;
#[cfg(test)]
mod tests;
