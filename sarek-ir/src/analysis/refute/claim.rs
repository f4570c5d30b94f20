//! Constraints with their conditions, and substitution in them.

use super::monomial::Var;
use super::{Polynomial, Reasons};

/// A polynomial of a constraint, and the conditions under which the constraint holds.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub polynomial: Polynomial,
    pub reasons: Reasons,
    /// True for an equality that was used to eliminate a variable from the other equalities.
    pub pivot: bool,
}

/// Two polynomials of which both or none are 0, if a third one is 0.
#[derive(Clone, Debug)]
pub(super) struct Equivalence {
    pub given: Polynomial,
    pub sides: [Polynomial; 2],
    pub reasons: Reasons,
}

/// The differences of two operands and of two values of a function that never falls if its operand grows.
#[derive(Clone, Debug)]
pub(super) struct Monotone {
    pub operands: Polynomial,
    pub values: Polynomial,
    pub reasons: Reasons,
}

/// The equality `divisor · var = by`, with a positive divisor.
#[derive(Debug)]
pub(super) struct Substitution {
    pub var: Var,
    pub divisor: i64,
    pub by: Polynomial,
    pub reasons: Reasons,
}

impl Claim {
    pub fn new(polynomial: Polynomial, reasons: Reasons) -> Claim {
        Claim {
            polynomial,
            reasons,
            pivot: false,
        }
    }

    /// The equality with this claim's polynomial, solved for a variable. The variable must occur in one term only, alone,
    /// with the given coefficient.
    pub fn solved(&self, var: Var, coefficient: i64) -> Option<Substitution> {
        let term = Polynomial::var(var).scaled(coefficient)?;
        let rest = self.polynomial.minus(&term)?;
        Some(Substitution {
            var,
            divisor: coefficient.checked_abs()?,
            by: rest.scaled(-coefficient.signum())?,
            reasons: self.reasons,
        })
    }

    /// Substitutes in the claim. A claim that would leave the limits of arithmetic stays as it is: it is valid, but of
    /// little use.
    pub fn substitute(&mut self, substitution: &Substitution) {
        if let Some(polynomial) = substitution.applied(&self.polynomial) {
            self.polynomial = polynomial;
            self.reasons |= substitution.reasons;
        }
    }
}

impl Equivalence {
    pub fn substitute(&mut self, substitution: &Substitution) {
        for side in self.sides.iter_mut().chain([&mut self.given]) {
            if let Some(polynomial) = substitution.applied(side) {
                *side = polynomial;
                self.reasons |= substitution.reasons;
            }
        }
    }
}

impl Monotone {
    pub fn substitute(&mut self, substitution: &Substitution) {
        for side in [&mut self.operands, &mut self.values] {
            if let Some(polynomial) = substitution.applied(side) {
                *side = polynomial;
                self.reasons |= substitution.reasons;
            }
        }
    }
}

impl Substitution {
    /// A positive multiple of the polynomial, without the variable and without a common divisor of its coefficients.
    /// `None` if the variable does not occur, or the result leaves the limits of arithmetic.
    pub fn applied(&self, polynomial: &Polynomial) -> Option<Polynomial> {
        if !polynomial.has(self.var) {
            return None;
        }
        let changed = polynomial.replaced(self.var, &self.by, self.divisor)?;
        Some(changed.reduced())
    }
}
