//! Refutes systems of polynomial constraints over the integers. It knows variables and polynomials, no kernels.
//!
//! # The question
//!
//! Two threads compute an index from their own variables and from variables that are the same for both. A [`System`]
//! holds the facts about these variables, and the equality of the two indices. [`System::same_thread`] shows that only
//! one thread can satisfy it: it refutes the system for two different threads.
//!
//! Take the index `r·w + c` with `c < w`. The variables of the two threads are `r, c` and `r', c'`; the width `w` is
//! uniform. The facts are `w - 1 - c >= 0` and `w - 1 - c' >= 0`, the equality is `r·w + c - r'·w - c' = 0`, and the
//! differences of the thread ids are `r - r'` and `c - c'`.
//!
//! # Constraints
//!
//! | method | constraint |
//! |---|---|
//! | [`System::variable`] | `x >= 0`, if `x` is natural |
//! | [`System::at_least_zero`] | `p >= 0` |
//! | [`System::zero`] | `p = 0` |
//! | [`System::define`] | `x = p`; `x` is replaced everywhere |
//! | [`System::not_zero`] | `p ≠ 0` |
//! | [`System::equivalent`] | `a = 0` exactly if `b = 0`, where `given = 0` |
//! | [`System::monotone`] | `b >= 0` if `a >= 0`, and `b <= 0` if `a <= 0` |
//! | [`System::thread_id`] | the threads are the same if all these are 0 |
//!
//! Division: `q = i / w` and `r = i % w` satisfy `i = q·w + r` and `r < w`, with natural `q` and `r`. If `i` is a
//! variable without other definition, the caller should define it: `i := q·w + r`. If `i` is a sum, the equality
//! `i - q·w - r = 0` proves as much. A definition of `r` by `i - q·w` proves less, because `r` is usually a digit.
//!
//! # Rules
//!
//! 1. *Substitution.* Definitions come first, then equalities of two terms. Other equalities are solved for a variable
//!    only if no other rule applies, because that destroys their digits.
//! 2. *Elimination.* A variable that several equalities share is eliminated from all but one, as in Gaussian elimination.
//!    An equality `c·x = p` is used without division: the other equalities are multiplied by `c`.
//! 3. *Divisibility.* An equality has no solution if the common divisor of its coefficients does not divide its
//!    constant. This is the gcd test (Banerjee, *Dependence Analysis for Supercomputing*, 1988).
//! 4. *Digits.* `d·u + l = 0` with `|l| < d` implies `u = 0` and `l = 0`: these are the digits of a mixed-radix
//!    number (Knuth, *The Art of Computer Programming*, volume 2, section 4.1). The base `d` is a number or a product of
//!    uniform variables.
//! 5. *Linear combination.* `goal >= 0` holds if `goal` is a sum of facts, each with a factor that is never negative,
//!    and of terms that are never negative. For numbers as factors this is Farkas' lemma (1902). With products as
//!    factors it is Handelman's theorem (*Representing polynomials by positive linear functions on compact convex
//!    polyhedra*, 1988). Here a factor is a number times a product of natural variables.
//! 6. *Cases.* An integer `u` is 0 if both `u >= 1` and `u <= -1` are refuted. This decides the ids' differences after
//!    the digits, and gives a linear combination the integrality that it lacks.
//! 7. *Shift.* A uniform `w` with `w >= 2` is `w' + 2` with a natural `w'`: a translation of the variables.
//! 8. *Monotony.* With `i + 1 <= i'` in a case, `n·(i + 1) <= n·i'`, and then the quotients of both by the same number are in
//!    this order.
//!
//! # Soundness
//!
//! Each rule is valid for all integers, so an answer is a proof. Arithmetic is checked. A step whose coefficients leave
//! `i64`, or whose products have more than eight factors, is not taken. Machine integers wrap; a caller must state that
//! its values are exact.
//!
//! The method is incomplete, as any for polynomials over the integers must be (Matiyasevich, 1970). No answer means
//! nothing.
//!
//! # Reasons
//!
//! A constraint may depend on conditions, for example on those of a launch. The caller numbers them and passes a bit
//! set. An answer has the conditions of the constraints that its proof used: a combination has the union of its parts',
//! and a substitution adds its own to each constraint that it rewrites. They suffice for the proof, but need not be the
//! fewest.
//!
//! # Cost
//!
//! Rule 5 is a best-first search from the goal. It removes the term of the highest degree that may be negative by a fact,
//! and prefers results with little left to remove. Depth, breadth, and steps of a search are limited, and so are the
//! steps of a question: 600, or about 10 ms in an unoptimised build. Usual indices take fewer than 100. A linear
//! program would be complete for linear facts, but is slow in the unoptimised builds in which most users run
//! procedural macros.

mod cases;
mod claim;
mod cuts;
mod digits;
mod monomial;
mod polynomial;
mod search;
mod shift;
mod solve;

use std::cell::Cell;

use claim::{Claim, Equivalence, Monotone};
pub use monomial::Var;
pub use polynomial::Polynomial;

/// A set of conditions, one bit each. The caller numbers them.
pub type Reasons = u128;

/// Constraints on two threads.
#[derive(Clone, Debug)]
pub struct System {
    /// The numbers of natural and of other variables in use.
    natural: u8,
    signed: u8,
    /// The variables, by number, that are the same for both threads.
    uniform: [bool; 256],
    /// Polynomials that are not negative.
    facts: Vec<Claim>,
    /// Polynomials that are 0.
    equal: Vec<Claim>,
    definitions: Vec<(Var, Claim)>,
    /// Polynomials that are not 0.
    unequal: Vec<Claim>,
    equivalences: Vec<Equivalence>,
    monotone: Vec<Monotone>,
    /// The threads are the same if all these are 0.
    ids: Vec<Claim>,
    /// The steps that the searches of this question may still take.
    steps: Cell<u32>,
    /// The steps that the proofs about monotone functions may still take.
    monotony: Cell<u32>,
    /// The conditions under which the ids that are no longer in the list are the same.
    proved: Reasons,
    /// True if factors that are at least a number are counted from it.
    from_bounds: bool,
}

impl Default for System {
    fn default() -> System {
        System::new()
    }
}

impl System {
    /// A system without constraints.
    pub fn new() -> System {
        System {
            natural: 0,
            signed: 0,
            uniform: [false; 256],
            facts: vec![],
            equal: vec![],
            definitions: vec![],
            unequal: vec![],
            equivalences: vec![],
            monotone: vec![],
            ids: vec![],
            steps: Cell::new(search::STEPS),
            monotony: Cell::new(search::MONOTONY),
            proved: 0,
            from_bounds: false,
        }
    }

    /// A new variable. A natural one is never negative; a uniform one is the same for both threads. `None` if there are
    /// 127 variables of its kind, natural or not.
    pub fn variable(&mut self, natural: bool, uniform: bool) -> Option<Var> {
        let count = match natural {
            true => &mut self.natural,
            false => &mut self.signed,
        };
        let var = Var::new(*count, natural)?;
        *count += 1;
        self.uniform[var.number()] = uniform;
        Some(var)
    }

    /// States `p >= 0`.
    pub fn at_least_zero(&mut self, p: Polynomial, reasons: Reasons) {
        self.facts.push(Claim::new(p, reasons));
    }

    /// States `p = 0`.
    pub fn zero(&mut self, p: Polynomial, reasons: Reasons) {
        self.equal.push(Claim::new(p, reasons));
    }

    /// States `var = is`, and replaces the variable everywhere.
    pub fn define(&mut self, var: Var, is: Polynomial, reasons: Reasons) {
        self.definitions.push((var, Claim::new(is, reasons)));
    }

    /// States `var >= 0` for a variable without definition, so that it may be a factor in proofs. `None` if there are too many
    /// variables.
    pub fn natural(&mut self, var: Var, reasons: Reasons) -> Option<()> {
        let natural = self.variable(true, self.uniform[var.number()])?;
        self.define(var, Polynomial::var(natural), reasons);
        Some(())
    }

    /// States `p ≠ 0`.
    pub fn not_zero(&mut self, p: Polynomial, reasons: Reasons) {
        // What is never negative is at least 1.
        if p.obstacle().is_none()
            && let Some(rest) = p.minus(&Polynomial::number(1))
        {
            self.at_least_zero(rest, reasons);
        }
        self.unequal.push(Claim::new(p, reasons));
    }

    /// States that, if `given` is 0, `a` is 0 exactly if `b` is 0. Take `a` and `b` as the differences of the results and
    /// of one operand of a function that is injective in this operand, such as XOR, and `given` as the difference of the
    /// other operand.
    pub fn equivalent(&mut self, given: Polynomial, [a, b]: [Polynomial; 2], reasons: Reasons) {
        self.equivalences.push(Equivalence {
            given,
            sides: [a, b],
            reasons,
        });
    }

    /// States that `values` has the sign of `operands`, or is 0. Take the differences of two operands and of two results of a
    /// function that never falls if its operand grows, such as a quotient.
    pub fn monotone(&mut self, [operands, values]: [Polynomial; 2], reasons: Reasons) {
        self.monotone.push(Monotone {
            operands,
            values,
            reasons,
        });
    }

    /// Adds the difference of an id of the two threads. The threads are the same if all differences are 0.
    pub fn thread_id(&mut self, difference: Polynomial) {
        self.ids.push(Claim::new(difference, 0));
    }

    /// Counts uniform factors from their least values: with `w >= 2`, a variable stands for `w - 2`. Products such as
    /// `r·(w - 2)` are digits then.
    pub fn count_from_bounds(&mut self) {
        self.from_bounds = true;
    }

    /// Proves that no two different threads satisfy the system. Returns the conditions that the proof used.
    #[cfg(test)]
    pub fn same_thread(self) -> Option<Reasons> {
        self.same_thread_within(&mut u32::MAX.clone())
    }

    /// Proves that no two different threads satisfy the system, with steps from a budget. Returns the conditions that the
    /// proof used.
    pub fn same_thread_within(mut self, budget: &mut u32) -> Option<Reasons> {
        let steps = search::STEPS.min(*budget);
        let most = search::MONOTONY.min(*budget - steps);
        self.steps.set(steps);
        self.monotony.set(most);
        self.substitute_definitions();
        self.tidy();
        if self.from_bounds {
            self.shift();
        }
        self.cut();
        self.cut_products();
        let found = self.solve();
        *budget -= steps - self.steps.get() + most - self.monotony.get();
        found
    }

    /// Proves that the system has no solution at all, with the same rules. Returns the conditions that the proof used.
    pub fn contradiction(mut self) -> Option<Reasons> {
        self.ids = vec![Claim::new(Polynomial::number(1), 0)];
        self.same_thread_within(&mut u32::MAX.clone())
    }
}

#[cfg(test)]
mod tests;
