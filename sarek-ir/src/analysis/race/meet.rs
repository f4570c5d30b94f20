//! Race check of two accesses by refutation: no two threads satisfy the facts at both accesses and use one element.
//!
//! The values are those of the resolver of values, so that they may stand in loops, and be quotients or products. Each
//! thread has its own copy of the variables that differ between threads. [`System`] does the proof. Only the conditions
//! that it used become preconditions.

mod constants;
mod ids;
mod subgroups;
mod terms;
mod translate;

use std::cell::Cell;

use super::Needs;
use crate::analysis::access::Access;
use crate::analysis::linear::{Atom, Fact, Terms};
use crate::{Axis, Kernel, Precondition};
pub use constants::ConstantBound;
pub(super) use constants::{Assumption, Constants, Steps};
use translate::{Case, Condition, Side, Stop, Translation};

/// More combinations of cases than these are not examined.
const MOST_CASES: u32 = 64;

/// The steps of all attempts for one question.
const MOST_STEPS: u32 = 3000;

/// The steps that the translation of one combination of cases counts for.
const TRANSLATION: u32 = 12;

/// The setting of a question.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) terms: &'a Terms,
    /// True for threads of one block.
    pub(super) in_block: bool,
    pub(super) assumed: Assumption<'a>,
}

impl Setting<'_> {
    /// The preconditions under which two different threads do not meet at these accesses; `None` without a proof. Adds
    /// the assumed bounds that the proof used.
    pub(super) fn apart(
        self,
        a: &Access,
        b: &Access,
        used: &mut Vec<ConstantBound>,
    ) -> Option<Needs> {
        let axes = [Axes::All, Axes::InOneBlock, Axes::OfIndex];
        let of_axes = |reading| axes.map(|axes| (axes, reading));
        let usual = axes.map(|axes| [(axes, Reading::Sums), (axes, Reading::Plain)]);
        let others = [Reading::Digits, Reading::OfIndex].map(of_axes);
        let others = others.into_iter().filter(|_| self.assumed.is_thorough);
        let attempts = usual.into_iter().flatten().chain(others.flatten());
        let last = self.assumed.last.and_then(Cell::get);
        let attempts = last
            .into_iter()
            .chain(attempts.filter(|of| last != Some(*of)));
        let all = MOST_STEPS.min(self.assumed.steps.get());
        let mut steps = all;
        let found = attempts.into_iter().find_map(|(axes, reading)| {
            let mut question = Question {
                setting: self,
                accesses: [a, b],
                axes,
                reading,
                chosen: vec![],
                needs: vec![],
                used: vec![],
                left: MOST_CASES,
                steps,
            };
            let found = question.each_case();
            steps = question.steps;
            found?;
            if let Some(last) = self.assumed.last {
                last.set(Some((axes, reading)));
            }
            used.extend(question.used);
            Some(question.needs)
        });
        let left = self.assumed.steps.get() - (all - steps);
        self.assumed.steps.set(left);
        found
    }

    /// False if the rules of the proof show that the facts at an access contradict each other.
    pub(super) fn may_happen(self, access: &Access) -> bool {
        let mut of = Translation::new(self, [access; 2], (&[], Reading::Plain));
        let mut facts = access.facts.iter();
        if facts.any(|fact| of.fact(fact, Side::First).is_err()) {
            return true;
        }
        of.finish().0.contradiction().is_none()
    }
}

/// The axes whose ids tell threads apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::analysis::race) enum Axes {
    /// All axes of the ids in indices and facts.
    All,
    /// The same, but the launch must have one block along those whose block ids the indices do not mention.
    InOneBlock,
    /// Those of the indices. The launch must have one thread along the others.
    OfIndex,
}

/// A way to turn forms into polynomials. Each has proofs that the others do not find.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::analysis::race) enum Reading {
    Plain,
    /// A variable stands for each sum that is a factor.
    Sums,
    /// The bases of digits stay single variables: a width is not replaced by twice its half, and `w - 2` becomes a variable. A
    /// remainder stands for itself, not for its dividend without a multiple of the divisor.
    Digits,
    /// Without the facts about quotients and other terms that the indices do not have.
    OfIndex,
}

/// A question about two accesses.
struct Question<'a> {
    setting: Setting<'a>,
    accesses: [&'a Access; 2],
    axes: Axes,
    reading: Reading,
    chosen: Vec<Case>,
    needs: Needs,
    used: Vec<ConstantBound>,
    /// The combinations of cases that may still be examined.
    left: u32,
    /// The steps that the proofs of all cases together may still take.
    steps: u32,
}

impl Question<'_> {
    /// Examines all combinations of cases that extend the chosen ones.
    fn each_case(&mut self) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        self.steps = self.steps.checked_sub(TRANSLATION)?;
        match self.one_case() {
            Ok(()) => Some(()),
            Err(Stop::NoProof) => None,
            Err(Stop::Cases { side, term, count }) => (0..count).try_for_each(|number| {
                self.chosen.push(Case { side, term, number });
                let done = self.each_case();
                self.chosen.pop();
                done
            }),
        }
    }

    /// Examines one combination of cases.
    fn one_case(&mut self) -> Result<(), Stop> {
        let [a, b] = self.accesses;
        let as_read = (self.chosen.as_slice(), self.reading);
        let mut of = Translation::new(self.setting, self.accesses, as_read);
        if self.reading == Reading::Sums && !of.name_sums(self.accesses)? {
            return Err(Stop::NoProof);
        }
        of.indices(a, b)?;
        let (of_indices, blocks) = (of.used, of.blocks);
        let of_index = of.atoms();
        let has_no_others = |fact: &&Fact| {
            let mut terms = fact.form.terms().iter();
            self.reading != Reading::OfIndex
                || terms.all(|(atom, _)| !matches!(atom, Atom::Term(..)) || of_index.contains(atom))
        };
        for (side, access) in [(Side::First, a), (Side::Second, b)] {
            for fact in access.facts.iter().filter(has_no_others) {
                of.fact(fact, side)?;
            }
        }
        let used = match self.axes {
            Axes::OfIndex => of_indices,
            Axes::All | Axes::InOneBlock => of.used,
        };
        let in_threads = |axis: Axis| {
            let at = axis.index();
            of.used[at] && of.split[at] && !blocks[at]
        };
        let alone = match self.axes {
            Axes::All => [false; 3],
            Axes::InOneBlock => Axis::ALL.map(in_threads),
            Axes::OfIndex => [false; 3],
        };
        match self.axes {
            Axes::InOneBlock if alone == [false; 3] => return Err(Stop::NoProof),
            // Without another block id, the index is meant for each block.
            Axes::InOneBlock if blocks == [false; 3] && self.setting.kernel.block.is_none() => {
                return Err(Stop::NoProof);
            }
            Axes::OfIndex if of.used == of_indices => return Err(Stop::NoProof),
            Axes::All | Axes::InOneBlock | Axes::OfIndex => {}
        }
        let open = of.first_open();
        if used == [false; 3] {
            return Err(open.unwrap_or(Stop::NoProof));
        }
        let needs = of.thread_ids(used, alone)?;
        let (system, conditions, always) = of.finish();
        let proof = system.same_thread_within(&mut self.steps);
        let reasons = proof.ok_or(open.unwrap_or(Stop::NoProof))?;
        super::add(&mut self.needs, needs);
        super::add(&mut self.needs, always);
        for (number, condition) in conditions.into_iter().enumerate() {
            match condition {
                _ if reasons & (1 << number) == 0 => {}
                Condition::OfLaunch(condition) => super::add(&mut self.needs, condition),
                Condition::OfConstant(bound) if self.used.contains(&bound) => {}
                Condition::OfConstant(bound) => self.used.push(bound),
            }
        }
        Ok(())
    }
}

/// The precondition that a launch, or its blocks, have one thread along an axis; `None` if the kernel tells threads
/// apart there.
fn single(setting: Setting<'_>, axis: Axis) -> Option<Precondition> {
    let is_named = match setting.in_block {
        true => super::names_threads_of_block(setting.kernel, axis),
        false => super::names_threads(setting.kernel, axis),
    };
    match (setting.in_block, setting.kernel.block) {
        _ if is_named => None,
        (false, _) => Some(Precondition::SingleThread(axis)),
        (true, None) => Some(Precondition::BlockAtMost(axis, 1)),
        (true, Some(_)) => None,
    }
}

#[cfg(test)]
mod random;
#[cfg(test)]
mod soundness;
#[cfg(test)]
mod tests;
