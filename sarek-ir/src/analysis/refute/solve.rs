//! Applies the rules until the threads are the same, or until no rule applies.

use super::claim::{Equivalence, Substitution};
use super::monomial::{Monomial, Var};
use super::{Claim, Polynomial, Reasons, System};

/// The rule applications of a question.
const ROUNDS: usize = 32;

impl System {
    /// Replaces all defined variables.
    pub(super) fn substitute_definitions(&mut self) {
        let mut definitions = std::mem::take(&mut self.definitions).into_iter();
        while let Some((var, is)) = definitions.next() {
            if is.polynomial.has(var) {
                let difference = Polynomial::var(var).minus(&is.polynomial);
                self.equal
                    .extend(difference.map(|d| Claim::new(d, is.reasons)));
                continue;
            }
            let mut substitution = Substitution {
                var,
                divisor: 1,
                by: is.polynomial,
                reasons: is.reasons,
            };
            let mut rest: Vec<(Var, Claim)> = vec![];
            for (other, mut is) in definitions {
                is.substitute(&substitution);
                if other == var {
                    // A second definition of the variable is an equality.
                    let difference = substitution.by.minus(&is.polynomial);
                    let reasons = substitution.reasons | is.reasons;
                    self.equal
                        .extend(difference.map(|d| Claim::new(d, reasons)));
                } else {
                    rest.push((other, is));
                }
            }
            definitions = rest.into_iter();
            self.replace(&mut substitution);
        }
    }

    /// Applies the rules. Returns the conditions that the proof used.
    pub(super) fn solve(&mut self) -> Option<Reasons> {
        for _ in 0..ROUNDS {
            self.tidy();
            if let Some(reasons) = self.absurd() {
                return Some(reasons);
            }
            if self.ids.is_empty() {
                return Some(self.proved);
            }
            if self.eliminate(2)
                || self.follow_equivalence()
                || self.same_values()
                || self.split_digits()
                || self.join()
            {
                continue;
            }
            if self.eliminate_multiple() {
                continue;
            }
            if let Some(reasons) = self.refutes_equality() {
                return Some(reasons);
            }
            if self.decide_id() || self.decide_equivalence() || self.eliminate(usize::MAX) {
                continue;
            }
            return self.refutes_inequality().or_else(|| self.refutes_fact());
        }
        None
    }

    /// Removes constraints that say nothing, and normalises the others.
    pub(super) fn tidy(&mut self) {
        let facts = std::mem::take(&mut self.facts);
        for mut fact in facts {
            fact.polynomial = fact.polynomial.tightened();
            // A fact that is no obstacle says nothing.
            if fact.polynomial.obstacle().is_some() {
                self.add_fact(fact);
            }
        }
        self.sign_unequal();
        self.equal.retain(|claim| !claim.polynomial.is_zero());
        for claim in &mut self.equal {
            let polynomial = std::mem::take(&mut claim.polynomial);
            claim.polynomial = polynomial.reduced();
        }
        let proved = &mut self.proved;
        self.ids.retain(|claim| {
            let same = claim.polynomial.is_zero();
            if same {
                *proved |= claim.reasons;
            }
            !same
        });
    }

    /// Turns what is not 0 and never negative into a fact: it is at least 1.
    fn sign_unequal(&mut self) {
        let signed = self.unequal.iter().filter_map(|claim| {
            let sides = [Some(claim.polynomial.clone()), claim.polynomial.scaled(-1)];
            let mut sides = sides.into_iter().flatten();
            let natural = sides.find(|p| !p.is_zero() && p.obstacle().is_none())?;
            let rest = natural.minus(&Polynomial::number(1))?;
            Some(Claim::new(rest.tightened(), claim.reasons))
        });
        for fact in signed.collect::<Vec<_>>() {
            if fact.polynomial.obstacle().is_some() {
                self.add_fact(fact);
            }
        }
    }

    /// Adds a fact, unless it is there under no more conditions.
    pub(super) fn add_fact(&mut self, fact: Claim) {
        let same = |other: &&mut Claim| other.polynomial == fact.polynomial;
        match self.facts.iter_mut().find(same) {
            Some(other) => {
                if fact.reasons.count_ones() < other.reasons.count_ones() {
                    other.reasons = fact.reasons;
                }
            }
            None => self.facts.push(fact),
        }
    }

    /// Finds a constraint that no values of its variables satisfy.
    pub(super) fn absurd(&self) -> Option<Reasons> {
        let equality = self.equal.iter().find(|claim| {
            let divisor = claim.polynomial.content();
            let constant = claim.polynomial.constant_term().unsigned_abs();
            constant.checked_rem(divisor).unwrap_or(constant) != 0
        });
        let negative = |claim: &&Claim| claim.polynomial.constant().is_some_and(|value| value < 0);
        let fact = || self.facts.iter().find(negative);
        let inequality = || self.unequal.iter().find(|claim| claim.polynomial.is_zero());
        match equality.or_else(fact).or_else(inequality) {
            Some(found) => Some(found.reasons),
            None => self.opposed(),
        }
    }

    /// Finds two facts whose sum is a negative number.
    fn opposed(&self) -> Option<Reasons> {
        let first = |claim: &Claim| {
            let mut terms = claim.polynomial.terms().iter();
            terms.find(|(m, _)| *m != Monomial::ONE).copied()
        };
        let firsts: Vec<_> = self.facts.iter().map(first).collect();
        for (at, a) in self.facts.iter().enumerate() {
            let Some((monomial, factor)) = firsts[at].filter(|(_, factor)| *factor < 0) else {
                continue;
            };
            for (b, other) in self.facts.iter().zip(&firsts) {
                let opposite = factor.checked_neg().map(|factor| (monomial, factor)) == *other;
                if opposite
                    && a.polynomial
                        .terms()
                        .len()
                        .abs_diff(b.polynomial.terms().len())
                        <= 1
                    && let Some(sum) = a.polynomial.plus(&b.polynomial)
                    && sum.constant().is_some_and(|sum| sum < 0)
                {
                    return Some(a.reasons | b.reasons);
                }
            }
        }
        None
    }

    /// Assumes that one side of an equivalence is 0, because the other is.
    fn follow_equivalence(&mut self) -> bool {
        let ready = |e: &Equivalence| e.given.is_zero() && e.sides.iter().any(Polynomial::is_zero);
        let Some(at) = self.equivalences.iter().position(ready) else {
            return false;
        };
        let found = self.equivalences.swap_remove(at);
        for side in found.sides {
            self.assume_zero(side, found.reasons);
        }
        true
    }

    /// Assumes that a function has the same values for the same operands.
    fn same_values(&mut self) -> bool {
        let Some(at) = self.monotone.iter().position(|f| f.operands.is_zero()) else {
            return false;
        };
        let found = self.monotone.swap_remove(at);
        self.assume_zero(found.values, found.reasons);
        true
    }

    /// Solves an equality of at most the given number of terms for a variable, and replaces the variable.
    fn eliminate(&mut self, most: usize) -> bool {
        for at in 0..self.equal.len() {
            let claim = &self.equal[at];
            if claim.polynomial.terms().len() > most {
                continue;
            }
            let own = claim
                .polynomial
                .linear(|var, size| size == 1 && !self.is_uniform(var));
            let found = own.or_else(|| claim.polynomial.linear(|_, size| size == 1));
            let solved = found.and_then(|(var, coefficient)| claim.solved(var, coefficient));
            if let Some(mut substitution) = solved {
                self.equal.swap_remove(at);
                self.replace(&mut substitution);
                return true;
            }
        }
        false
    }

    /// Solves an equality with a product of a thread's variables, which has no digits, for a multiple of a variable that also
    /// occurs in another equality. Replaces the variable, so that the divisibility is lost.
    fn eliminate_multiple(&mut self) -> bool {
        for at in 0..self.equal.len() {
            let claim = &self.equal[at];
            let own = |var: Var| !self.is_uniform(var);
            let terms = claim.polynomial.terms().iter();
            if !terms
                .clone()
                .any(|(m, _)| m.vars().filter(|var| own(*var)).count() > 1)
            {
                continue;
            }
            let found = claim.polynomial.linear(|var, _| self.is_link(var));
            let solved = found.and_then(|(var, coefficient)| claim.solved(var, coefficient));
            if let Some(mut substitution) = solved {
                self.equal.swap_remove(at);
                self.replace(&mut substitution);
                return true;
            }
        }
        false
    }

    /// Eliminates a variable of an equality from the other equalities: a step of Gaussian elimination. The equality
    /// itself stays, so nothing is lost.
    fn join(&mut self) -> bool {
        for at in 0..self.equal.len() {
            let claim = &self.equal[at];
            if claim.pivot {
                continue;
            }
            let found = claim.polynomial.linear(|var, _| self.is_link(var));
            let solved = found.and_then(|(var, coefficient)| claim.solved(var, coefficient));
            if let Some(substitution) = solved
                && self.shortens(at, &substitution)
            {
                self.equal[at].pivot = true;
                for (other, claim) in self.equal.iter_mut().enumerate() {
                    if other != at {
                        claim.substitute(&substitution);
                    }
                }
                return true;
            }
        }
        false
    }

    /// True if a variable of a thread occurs in several equalities.
    fn is_link(&self, var: Var) -> bool {
        let with = self.equal.iter().filter(|claim| claim.polynomial.has(var));
        !self.is_uniform(var) && with.count() > 1
    }

    /// True if a substitution makes no equality but the given one longer, or replaces a variable without facts.
    fn shortens(&self, pivot: usize, substitution: &Substitution) -> bool {
        let mut facts = self.facts.iter();
        if !facts.any(|claim| claim.polynomial.has(substitution.var)) {
            return true;
        }
        let others = self.equal.iter().enumerate().filter(|(at, _)| *at != pivot);
        let mut others = others.map(|(_, claim)| &claim.polynomial);
        others.all(|polynomial| {
            let changed = substitution.applied(polynomial);
            changed.is_none_or(|changed| changed.terms().len() <= polynomial.terms().len())
        })
    }

    /// Substitutes in all constraints.
    pub(super) fn replace(&mut self, substitution: &mut Substitution) {
        let lists = [
            &mut self.facts,
            &mut self.equal,
            &mut self.unequal,
            &mut self.ids,
        ];
        for claim in lists.into_iter().flatten() {
            claim.substitute(substitution);
        }
        for equivalence in &mut self.equivalences {
            equivalence.substitute(substitution);
        }
        for function in &mut self.monotone {
            function.substitute(substitution);
        }
        if substitution.var.is_natural() {
            let by = std::mem::take(&mut substitution.by);
            self.facts.push(Claim::new(by, substitution.reasons));
        }
    }

    pub(super) fn is_uniform(&self, var: Var) -> bool {
        self.uniform[var.number()]
    }
}
