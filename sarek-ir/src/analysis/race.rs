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
//! If this fails for all accesses together, each pair of accesses is checked by itself. Any of these proofs
//! suffices:
//!
//! - The ranges of the two indices do not overlap ([`apart`]).
//! - Block ids and thread ids are separate digits ([`tiles`]).
//! - Threads exchange elements in pairs ([`exchange`]).
//!
//! A condition that only a launch can decide becomes a [`Precondition`].
//!
//! Indices of strided views are checked coordinate by coordinate ([`view`]). Shared arrays are checked within
//! one barrier interval of one block ([`shared`]).

mod apart;
mod buffer;
mod counterexample;
mod exchange;
pub mod function;
mod reason;
mod shared;
mod tiles;
mod view;

use std::collections::BTreeSet;

use buffer::Buffer;
pub use counterexample::Counterexample;
pub use reason::{Race, Reason};

use super::access::{Access, Place, accesses};
use super::linear::relied_on;
use super::range::{LaunchFacts, analyse};
use super::uniformity::Among;
use crate::{Axis, Builtin, Kernel, Memory, Precondition};

/// Checks that no two threads access one element if one of them writes it. Returns the preconditions of a
/// launch.
///
/// # Errors
/// One race for each slice or shared array that is not proved free of races.
pub fn check(kernel: &Kernel) -> Result<Vec<Precondition>, Vec<Race>> {
    let all = accesses(kernel);
    let mut preconditions = relied_on(kernel);
    let mut races = vec![];
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
        match checked {
            Ok(needs) => add(&mut preconditions, needs),
            Err(race) => races.push(race),
        }
    }
    match shared::check(kernel, &Among::default()) {
        Ok(needs) => add(&mut preconditions, needs),
        Err(found) => races.extend(found),
    }
    if races.is_empty() {
        Ok(preconditions)
    } else {
        Err(races)
    }
}

/// True if range analysis proves that a launch satisfies the preconditions.
pub fn satisfied(kernel: &Kernel, needs: &[Precondition], facts: &LaunchFacts<'_>) -> bool {
    let ranges = analyse(kernel, facts);
    needs.iter().all(|need| match need {
        Precondition::SingleThread(axis) => facts.extent[axis.index()] <= 1,
        Precondition::ExtentAtMost(axis, n) => facts.extent[axis.index()] <= *n,
        Precondition::BlockAtMost(axis, n) => u64::from(facts.block[axis.index()]) <= *n,
        Precondition::NoOverflow(e) => ranges.no_overflow(*e),
        Precondition::Holds(site) => ranges.proved(*site),
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
