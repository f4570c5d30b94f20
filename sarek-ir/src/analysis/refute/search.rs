//! Proofs of inequalities by linear combinations of facts, whose factors are natural monomials.

use super::monomial::{Monomial, Var};
use super::polynomial::{Term, gcd};
use super::{Polynomial, Reasons, System};

/// The goals that all searches of a question replace by others.
pub(super) const STEPS: u32 = 600;
/// The same for the searches about monotone functions.
pub(super) const MONOTONY: u32 = 300;
/// The goals that one search replaces by others.
const STEPS_OF_SEARCH: u32 = 20;
/// The goals that replace one goal.
const BREADTH: usize = 4;
/// The facts that one combination uses, with repetition.
const DEPTH: usize = 7;
/// The scale of a strict inequality. A combination has rational factors, so it may show `p > 0` only by `p >= 1 / SCALE`.
const SCALE: i64 = 64;

/// A polynomial that is to be proved not negative. It implies the goal of the search.
struct Goal {
    polynomial: Polynomial,
    /// The term that is to be removed; none if the goal is proved.
    obstacle: Option<Term>,
    /// An estimate of the cost of a proof.
    work: usize,
    /// The facts used.
    depth: usize,
    reasons: Reasons,
    /// True if the goals that imply this one were found.
    expanded: bool,
}

impl Goal {
    fn new(polynomial: Polynomial, depth: usize, reasons: Reasons) -> Goal {
        let polynomial = polynomial.reduced();
        let obstacle = polynomial.obstacle();
        let work = match obstacle {
            Some(_) => polynomial.work() + depth,
            None => 0,
        };
        Goal {
            polynomial,
            obstacle,
            work,
            depth,
            reasons,
            expanded: false,
        }
    }

    fn is_same(&self, other: &Goal) -> bool {
        self.obstacle == other.obstacle && self.polynomial == other.polynomial
    }
}

impl System {
    /// Proves `goal >= 0` by a best-first search. A goal without a polynomial left the limits of arithmetic.
    pub(super) fn proves(&self, goal: Option<Polynomial>) -> Option<Reasons> {
        self.proves_in(STEPS_OF_SEARCH, goal)
    }

    /// [`System::proves`] with at most this many steps.
    pub(super) fn proves_in(&self, steps: u32, goal: Option<Polynomial>) -> Option<Reasons> {
        let mut goals = vec![Goal::new(goal?, 0, 0)];
        for _ in 0..steps {
            let open = goals.iter_mut().filter(|goal| !goal.expanded);
            let next = open.min_by_key(|goal| (goal.work, goal.reasons.count_ones()))?;
            let Some(obstacle) = next.obstacle else {
                return Some(next.reasons);
            };
            next.expanded = true;
            let steps = self.steps.get();
            self.steps.set(steps.checked_sub(1)?);
            let (depth, reasons) = (next.depth + 1, next.reasons);
            if depth > DEPTH {
                continue;
            }
            let mut found = self.expand(&next.polynomial, obstacle);
            found.sort_by_key(|(polynomial, _)| polynomial.work());
            for (polynomial, more) in found.into_iter().take(BREADTH) {
                let goal = Goal::new(polynomial, depth, reasons | more);
                if !goals.iter().any(|other| other.is_same(&goal)) {
                    goals.push(goal);
                }
            }
        }
        None
    }

    /// Proves `sign · p > 0`.
    pub(super) fn proves_positive(&self, p: &Polynomial, sign: i64) -> Option<Reasons> {
        self.proves_sign(STEPS_OF_SEARCH, p, sign)
    }

    /// [`System::proves_positive`] with at most this many steps.
    pub(super) fn proves_sign(&self, steps: u32, p: &Polynomial, sign: i64) -> Option<Reasons> {
        let scaled = p.scaled(sign * SCALE)?;
        self.proves_in(steps, scaled.minus(&Polynomial::number(1)))
    }

    /// The goals that remain if a multiple of a fact removes the obstacle.
    fn expand(&self, goal: &Polynomial, obstacle: Term) -> Vec<(Polynomial, Reasons)> {
        let mut found = vec![];
        for fact in &self.facts {
            for &term in fact.polynomial.terms() {
                if (term.1 < 0) == (obstacle.1 < 0)
                    && let Some(rest) = without(goal, obstacle, &fact.polynomial, term)
                {
                    found.push((rest, fact.reasons));
                }
            }
        }
        found
    }

    /// The variables' cofactors in facts and equalities: the natural monomials by which a hypothesis about these
    /// variables can be multiplied to meet a term there.
    pub(super) fn cofactors(&self, vars: &[Var]) -> Vec<Monomial> {
        let mut found = vec![Monomial::ONE];
        for claim in self.facts.iter().chain(&self.equal) {
            for (monomial, _) in claim.polynomial.terms() {
                for var in vars {
                    let Some(rest) = monomial.divided(Monomial::var(*var)) else {
                        continue;
                    };
                    if rest.is_natural() && !found.contains(&rest) {
                        found.push(rest);
                    }
                }
            }
        }
        found
    }
}

/// `a · goal - b · m · fact` without the obstacle, for the least positive numbers `a` and `b` and a natural monomial
/// `m`. The fact's term has the sign of the obstacle.
fn without(goal: &Polynomial, obstacle: Term, fact: &Polynomial, term: Term) -> Option<Polynomial> {
    let factor = obstacle.0.divided(term.0)?;
    if !factor.is_natural() {
        return None;
    }
    let (size, own) = (obstacle.1.unsigned_abs(), term.1.unsigned_abs());
    let divisor = gcd(size, own);
    let a = i64::try_from(own / divisor).ok()?;
    let b = i64::try_from(size / divisor).ok()?;
    goal.combine(a, fact, -b, factor)
}
