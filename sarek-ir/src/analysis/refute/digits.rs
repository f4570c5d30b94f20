//! Splits equalities into digits: `d·u + l = 0` with `|l| < d` implies `u = 0` and `l = 0`.

use super::monomial::Monomial;
use super::polynomial::Term;
use super::{Claim, Polynomial, Reasons, System};

impl System {
    /// Replaces one equality by its digits; false if no equality has any.
    pub(super) fn split_digits(&mut self) -> bool {
        for at in 0..self.equal.len() {
            let claim = &self.equal[at];
            for base in self.bases(&claim.polynomial) {
                let (high, low) = claim.polynomial.divided(base);
                // A constant digit is better refuted by the sign of the equality.
                if high.constant().is_some() {
                    continue;
                }
                let Some(reasons) = self.is_digit(base, &low) else {
                    continue;
                };
                let reasons = reasons | claim.reasons;
                self.equal.swap_remove(at);
                self.assume_zero(high, reasons);
                self.assume_zero(low, reasons);
                return true;
            }
        }
        false
    }

    /// Proves `|low| < base`.
    fn is_digit(&self, base: Term, low: &Polynomial) -> Option<Reasons> {
        let most = Polynomial::term(base.0, base.1).minus(&Polynomial::number(1))?;
        if low.is_zero() {
            return self.proves(Some(most));
        }
        let above = self.proves(most.minus(low))?;
        let below = self.proves(most.plus(low))?;
        Some(above | below)
    }

    /// The bases by which an equality may be split, from the lowest degree: products of the natural uniform variables
    /// of a term, times its coefficient or 1.
    pub(super) fn bases(&self, equality: &Polynomial) -> Vec<Term> {
        let mut bases: Vec<Term> = vec![];
        for &(monomial, coefficient) in equality.terms() {
            let mut products = vec![Monomial::ONE];
            for var in monomial.vars() {
                if var.is_natural() && self.uniform[var.number()] {
                    for at in 0..products.len() {
                        products.extend(products[at].times(Monomial::var(var)));
                    }
                }
            }
            let size = coefficient.checked_abs().unwrap_or(1);
            for product in products {
                for number in [1, size] {
                    let base = (product, number);
                    if base != (Monomial::ONE, 1) && !bases.contains(&base) {
                        bases.push(base);
                    }
                }
            }
        }
        bases.sort_by_key(|(m, number)| (m.degree(), m.0, *number));
        bases
    }

    /// Adds the equality of a polynomial with 0.
    pub(super) fn assume_zero(&mut self, polynomial: Polynomial, reasons: Reasons) {
        if !polynomial.is_zero() {
            self.equal.push(Claim::new(polynomial.reduced(), reasons));
        }
    }
}
