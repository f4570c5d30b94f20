//! Race check of shared arrays: no two threads of a block access one element within one barrier interval if one
//! of them stores.
//!
//! Two accesses in one interval that may collide must be separated in one of these ways:
//!
//! - The ranges of their indices do not overlap: `[0, s)` and `[s, 2s)` (`apart`).
//! - Threads exchange elements in pairs (`exchange`). Each index is the thread's id, or that id XORed with a
//!   common mask. A guard lets only one thread of each pair through.
//! - The same thread makes both accesses. Each axis of the block needs a proof of this: a guard lets only one
//!   thread through, the block has one thread there, or the index determines the thread. For the latter, the thread
//!   ids must be digits of a mixed-radix number `base + P + low`, as for slices. Multiples of a modulus `M` may
//!   be added if `P + low` stays below `M`: `k * block_dim_x() + thread_idx_x()`.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::apart::apart;
use super::buffer::{IdPart, extents_of, ids_of, needs_of, offsets_within, orders, pinned};
use super::exchange::exchange;
use super::meet::{ConstantBound, Constants, Setting};
use super::reason::same_for_all;
use super::{Needs, Race, Reason, is_store, names_threads_of_block};
use crate::analysis::access::{Access, barrier_intervals, barrier_intervals_of_values};
use crate::analysis::linear::{Affine, Atom, Bound, Limit, Poly, block_dim, is_digit};
use crate::analysis::uniformity::Among;
use crate::{Axis, Builtin, Kernel, Memory, Precondition};

/// Checks all shared arrays except atomic ones. `among` holds assumptions about the threads of the block.
pub(super) fn check(
    kernel: &Kernel,
    among: &Among,
    constants: &mut Constants,
) -> Result<Vec<Precondition>, Vec<Race>> {
    let (accesses, phases) = barrier_intervals(kernel, among);
    let mut needs: Vec<Precondition> = vec![];
    let mut races: BTreeMap<Memory, Race> = BTreeMap::new();
    let mut seen = HashSet::new();
    for phase in phases {
        for (i, j) in pairs(&accesses, &phase) {
            if !seen.insert((i, j)) {
                continue;
            }
            let (a, b) = (&accesses[i], &accesses[j]);
            match (Pair { kernel, a, b }).check(i == j) {
                Ok(found) => {
                    for need in found {
                        if !needs.contains(&need) {
                            needs.push(need);
                        }
                    }
                }
                Err(reason) => {
                    let race = || race(a, b, reason);
                    races.entry(a.memory).or_insert_with(race);
                }
            }
        }
    }
    if !races.is_empty() {
        let (accesses, intervals, terms) = barrier_intervals_of_values(kernel, among);
        races.retain(|memory, _| {
            let found = constants.first_proof(|assumed, used| {
                let setting = Setting {
                    kernel,
                    terms: &terms,
                    in_block: true,
                    assumed,
                };
                none_meet(setting, *memory, (&accesses, &intervals), used)
            });
            let is_race = found.is_none();
            super::add(&mut needs, found.unwrap_or_default());
            is_race
        });
    }
    if races.is_empty() {
        Ok(needs)
    } else {
        Err(races.into_values().collect())
    }
}

/// The preconditions under which no two threads of a block meet in one interval at an element of an array.
fn none_meet(
    setting: Setting<'_>,
    memory: Memory,
    (accesses, intervals): (&[Access], &[BTreeSet<usize>]),
    used: &mut Vec<ConstantBound>,
) -> Option<Needs> {
    let mut needs = vec![];
    let mut seen = HashSet::new();
    for (i, j) in intervals
        .iter()
        .flat_map(|interval| pairs(accesses, interval))
    {
        let (a, b) = (&accesses[i], &accesses[j]);
        if a.memory == memory && seen.insert((i, j)) {
            super::add(&mut needs, setting.apart(a, b, used)?);
        }
    }
    Some(needs)
}

/// The pairs of accesses in a barrier interval that may race.
pub(super) fn pairs(accesses: &[Access], phase: &BTreeSet<usize>) -> Vec<(usize, usize)> {
    let mut pairs = vec![];
    for &i in phase {
        for &j in phase.range(i..) {
            let (a, b) = (&accesses[i], &accesses[j]);
            // A call is no race with itself: the callee is checked where it is defined.
            let of_call = i == j && a.lent;
            if a.memory == b.memory && (is_store(a) || is_store(b)) && !of_call {
                pairs.push((i, j));
            }
        }
    }
    pairs
}

fn race(a: &Access, b: &Access, reason: Reason) -> Race {
    let (a, b) = if is_store(a) { (a, b) } else { (b, a) };
    Race {
        memory: a.memory,
        first: (a.place, a.loc),
        second: (b.place, b.loc),
        reason,
        counterexample: None,
        missing: None,
    }
}

/// Two accesses, possibly the same one.
#[derive(Clone, Copy)]
struct Pair<'a> {
    kernel: &'a Kernel,
    a: &'a Access,
    b: &'a Access,
}

impl Pair<'_> {
    fn check(self, same: bool) -> Result<Needs, Reason> {
        if !same && let Some(needs) = apart(self.kernel, self.a, self.b) {
            return Ok(needs);
        }
        self.one_thread()
    }

    /// The preconditions under which one thread makes both accesses if they collide.
    fn one_thread(self) -> Result<Needs, Reason> {
        let pins = Axis::ALL.map(|axis| self.pin(axis));
        let any_pinned = pins.iter().any(Option::is_some);
        let (mut needs, mut used) = (vec![], [false; 3]);
        match self.separate() {
            Ok((found, axes)) => (needs, used) = (found, axes),
            Err(_) if any_pinned => {}
            Err(reason) => return Err(reason),
        }
        for (axis, pin) in Axis::ALL.into_iter().zip(pins) {
            match (used[axis.index()], pin, self.kernel.block) {
                (true, _, _) => {}
                (false, Some(bounds), _) => needs.extend(bounds.iter().flat_map(needs_of)),
                (false, None, Some(block)) if block[axis.index()] == 1 => {}
                (false, None, Some(_)) => return Err(Reason::Axis(axis)),
                (false, None, None) if names_threads_of_block(self.kernel, axis) => {
                    return Err(Reason::Axis(axis));
                }
                (false, None, None) => needs.push(Precondition::BlockAtMost(axis, 1)),
            }
        }
        Ok(needs)
    }

    /// The guards that let the same single thread of an axis through at both accesses.
    fn pin(self, axis: Axis) -> Option<Vec<Bound>> {
        let id = Atom::Id(Builtin::ThreadIdx(axis));
        let ((v, a), (w, b)) = (pinned(self.a, id)?, pinned(self.b, id)?);
        (v == w).then(|| [a, b].concat().into_iter().cloned().collect())
    }

    /// Checks that the indices tell threads apart. Returns the preconditions, and the axes along which they do.
    fn separate(self) -> Result<(Needs, [bool; 3]), Reason> {
        if let Some((Builtin::ThreadIdx(axis), needs)) = exchange(self.a, self.b) {
            let mut used = [false; 3];
            used[axis.index()] = true;
            return Ok((needs, used));
        }
        let (Some(a), Some(b)) = (&self.a.form, &self.b.form) else {
            return Err(Reason::Opaque);
        };
        let ids = ids_of(&a.form);
        if ids != ids_of(&b.form) {
            return Err(Reason::Different);
        }
        if ids.is_empty() {
            return Err(same_for_all(self.kernel, Some(a), self.a.index));
        }
        let of_thread = |(id, _): &(Builtin, Poly)| matches!(id, Builtin::ThreadIdx(_));
        if !ids.iter().all(of_thread) {
            return Err(Reason::Mixed);
        }
        let mut reason = Reason::Overlapping;
        for modulus in self.moduli(a, b) {
            for sign in [1, -1] {
                let [Some(a), Some(b)] = [a, b].map(|affine| affine.signed(sign)) else {
                    continue;
                };
                match self.digits([a, b], modulus.as_ref()) {
                    Ok(needs) => {
                        let mut used = [false; 3];
                        let axes = ids.iter().filter_map(|(id, _)| id.axis());
                        axes.for_each(|axis| used[axis.index()] = true);
                        return Ok((needs, used));
                    }
                    Err(found) => reason = found,
                }
            }
        }
        Err(reason)
    }

    /// The moduli to try: none, coefficients of locals, the difference of the bases, and the width of the
    /// block.
    fn moduli(self, a: &Affine, b: &Affine) -> Vec<Option<Poly>> {
        let mut moduli = vec![None];
        let locals = a.form.terms().iter().chain(b.form.terms());
        let of_locals = locals.filter_map(|(atom, c)| match atom {
            Atom::Local(_) | Atom::Param(_) => Some(c.clone()),
            Atom::Id(_) | Atom::Exchange(..) | Atom::Quotient(_) | Atom::Term(..) => None,
        });
        let difference = b.form.base.minus(&a.form.base);
        let whole = block_dim(self.kernel, Axis::X);
        for m in of_locals.chain([difference.clone(), difference.scaled(-1), whole]) {
            if !m.is_zero() && m.is_natural() && !moduli.contains(&Some(m.clone())) {
                moduli.push(Some(m));
            }
        }
        moduli
    }

    fn digits(self, forms: [Affine; 2], modulus: Option<&Poly>) -> Result<Needs, Reason> {
        let [mut a, mut b] = forms;
        let mut needs: Needs = [&a, &b].into_iter().flat_map(extents_of).collect();
        for (affine, access) in [(&a, self.a), (&b, self.b)] {
            if affine.needs_exact || modulus.is_some() {
                needs.push(Precondition::NoOverflow(access.index));
            }
        }
        if let Some(modulus) = modulus {
            for affine in [&mut a, &mut b] {
                let stays = |(atom, c): &(Atom, Poly)| {
                    matches!(atom, Atom::Id(_)) || !c.is_multiple_of(modulus)
                };
                affine.form.retain(stays);
            }
            if b.form.base.minus(&a.form.base).is_multiple_of(modulus) {
                b.form.base = a.form.base.clone();
            }
        }
        let ids = ids_of(&a.form);
        let ordered = orders(ids.len())
            .into_iter()
            .find_map(|order| self.in_order(&ids, &order, modulus));
        let (order_needs, stride) = ordered.ok_or(Reason::Overlapping)?;
        needs.extend(order_needs);
        let sides = [(self.a, Some(&a.form)), (self.b, Some(&b.form))];
        let low = [true, false]
            .into_iter()
            .find_map(|innermost| offsets_within(self.kernel, &sides, &stride, innermost).ok());
        needs.extend(low.ok_or(Reason::Neighbour)?);
        Ok(needs)
    }

    /// Checks that each id is a digit below the next coefficient in this order, and the last one below the
    /// modulus. Returns the preconditions and the smallest coefficient.
    fn in_order(
        self,
        ids: &IdPart,
        order: &[usize],
        modulus: Option<&Poly>,
    ) -> Option<(Needs, Poly)> {
        let mut needs = vec![];
        let stride = ids[*order.first()?].1.clone();
        if !stride.is_natural() {
            return None;
        }
        for (k, at) in order.iter().enumerate() {
            let next = match order.get(k + 1) {
                Some(next) => &ids[*next].1,
                None => match modulus {
                    Some(modulus) => modulus,
                    None => break,
                },
            };
            let (id, low) = &ids[*at];
            needs.extend(self.digit(id.axis()?, low, next)?);
        }
        Some((needs, stride))
    }

    /// The preconditions that keep `low * thread_idx` below `high`.
    fn digit(self, axis: Axis, low: &Poly, high: &Poly) -> Option<Needs> {
        let fits = |most: &Poly| is_digit(low, most, high);
        if fits(&block_dim(self.kernel, axis).minus(&Poly::constant(1))) {
            return Some(vec![]);
        }
        let guard = |access: &Access| {
            access
                .bounds
                .iter()
                .find(|b| match &b.limit {
                    Limit::AtMost(most) => {
                        b.is_of(Atom::Id(Builtin::ThreadIdx(axis))) && fits(most)
                    }
                    Limit::AtLeast(_) => false,
                })
                .map(needs_of)
        };
        if let (Some(a), Some(b)) = (guard(self.a), guard(self.b)) {
            return Some([a, b].concat());
        }
        let (low, high) = (low.as_constant()?, high.as_constant()?);
        let most = u64::try_from(high.checked_div(low)?)
            .ok()
            // One thread alone never races, so this would say nothing.
            .filter(|n| *n > 1)?;
        let free = self.kernel.block.is_none();
        free.then(|| vec![Precondition::BlockAtMost(axis, most)])
    }
}

impl Affine {
    fn signed(&self, sign: i128) -> Option<Affine> {
        match sign < 0 {
            true => self.negated(),
            false => Some(self.clone()),
        }
    }
}

#[cfg(test)]
pub(super) mod soundness;
#[cfg(test)]
mod tests;
