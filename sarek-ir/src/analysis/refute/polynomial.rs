//! Polynomials over the integers. All arithmetic is checked.

use super::monomial::{Monomial, Var};

/// A sum of products of variables, with integer coefficients.
///
/// An operation returns `None` if a coefficient leaves `i64` or a product has more than eight factors.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Polynomial {
    /// Terms in ascending order of their monomials. No coefficient is 0.
    terms: Vec<Term>,
}

/// A monomial and its coefficient.
pub(super) type Term = (Monomial, i64);

impl Polynomial {
    /// The constant polynomial.
    pub fn number(value: i64) -> Polynomial {
        Polynomial::term(Monomial::ONE, value)
    }

    /// A variable.
    pub fn var(var: Var) -> Polynomial {
        Polynomial::term(Monomial::var(var), 1)
    }

    pub(super) fn term(monomial: Monomial, coefficient: i64) -> Polynomial {
        let terms = match coefficient {
            0 => vec![],
            _ => vec![(monomial, coefficient)],
        };
        Polynomial { terms }
    }

    /// The sum.
    pub fn plus(&self, other: &Polynomial) -> Option<Polynomial> {
        self.combine(1, other, 1, Monomial::ONE)
    }

    /// The difference.
    pub fn minus(&self, other: &Polynomial) -> Option<Polynomial> {
        self.combine(1, other, -1, Monomial::ONE)
    }

    /// The product.
    pub fn times(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut product = Polynomial::default();
        for &(monomial, coefficient) in &other.terms {
            product = product.combine(1, self, coefficient, monomial)?;
        }
        Some(product)
    }

    /// A multiple.
    pub fn scaled(&self, by: i64) -> Option<Polynomial> {
        Polynomial::default().combine(1, self, by, Monomial::ONE)
    }

    /// The quotient by a single term, if there is no remainder.
    pub fn quotient(&self, by: &Polynomial) -> Option<Polynomial> {
        let [term] = by.terms[..] else { return None };
        let (quotient, rest) = self.divided(term);
        rest.is_zero().then_some(quotient)
    }

    /// True for the polynomial 0.
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// The value, if it is a number.
    pub fn constant(&self) -> Option<i64> {
        match self.terms[..] {
            [] => Some(0),
            [(Monomial::ONE, value)] => Some(value),
            _ => None,
        }
    }

    /// The value modulo 2, if it is the same for all values of the variables. A power is as odd as its base.
    pub fn parity(&self) -> Option<bool> {
        let mut odd: Vec<Vec<Var>> = vec![];
        for &(monomial, coefficient) in &self.terms {
            if coefficient % 2 == 0 {
                continue;
            }
            let mut vars: Vec<Var> = monomial.vars().collect();
            vars.dedup();
            match odd.iter().position(|other| *other == vars) {
                Some(at) => _ = odd.swap_remove(at),
                None => odd.push(vars),
            }
        }
        match odd.as_slice() {
            [] => Some(false),
            [vars] if vars.is_empty() => Some(true),
            _ => None,
        }
    }

    /// The variable `x`, if this is `x - c` with `c >= 0`, and `x` may be negative.
    pub fn signed_above(&self) -> Option<Var> {
        let mut others = self.terms().iter().filter(|(m, _)| *m != Monomial::ONE);
        let (monomial, 1) = others.next()? else {
            return None;
        };
        let is_single = others.next().is_none() && monomial.degree() == 1;
        let var = monomial.vars().next().filter(|_| is_single)?;
        (self.constant_term() <= 0 && !var.is_natural()).then_some(var)
    }

    pub(super) fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// `a * self + b * monomial * other`, for a positive `a`. The monomial order is kept by multiplication, so this is
    /// a merge.
    pub(super) fn combine(
        &self,
        a: i64,
        other: &Polynomial,
        b: i64,
        monomial: Monomial,
    ) -> Option<Polynomial> {
        let left = &self.terms[..];
        let mut terms = Vec::with_capacity(left.len() + other.terms.len());
        let mut at = 0;
        for &(factor, coefficient) in &other.terms {
            let product = factor.times(monomial)?;
            let mut sum = coefficient.checked_mul(b)?;
            while at < left.len() && left[at].0.0 < product.0 {
                terms.push((left[at].0, left[at].1.checked_mul(a)?));
                at += 1;
            }
            if at < left.len() && left[at].0.0 == product.0 {
                sum = left[at].1.checked_mul(a)?.checked_add(sum)?;
                at += 1;
            }
            if sum != 0 {
                terms.push((product, sum));
            }
        }
        for &(factor, coefficient) in &left[at..] {
            terms.push((factor, coefficient.checked_mul(a)?));
        }
        Some(Polynomial { terms })
    }

    /// True if the variable occurs.
    pub(super) fn has(&self, var: Var) -> bool {
        self.terms.iter().any(|(m, _)| m.exponent(var) != 0)
    }

    /// The constant term.
    pub(super) fn constant_term(&self) -> i64 {
        match self.terms.first() {
            Some((Monomial::ONE, value)) => *value,
            _ => 0,
        }
    }

    /// The greatest common divisor of all coefficients but the constant term; 0 for a number.
    pub(super) fn content(&self) -> u64 {
        let mut divisor = 0;
        for (monomial, coefficient) in &self.terms {
            if *monomial != Monomial::ONE {
                divisor = gcd(divisor, coefficient.unsigned_abs());
                if divisor == 1 {
                    break;
                }
            }
        }
        divisor
    }

    /// The greatest monomial that divides all terms.
    pub(super) fn common_monomial(&self) -> Monomial {
        let Some((first, rest)) = self.terms.split_first() else {
            return Monomial::ONE;
        };
        rest.iter()
            .fold(first.0, |common, (m, _)| common.common(*m))
    }

    /// Divides by the greatest common divisor of the coefficients.
    pub(super) fn reduced(mut self) -> Polynomial {
        let mut divisor = 0;
        for (_, coefficient) in &self.terms {
            divisor = gcd(divisor, coefficient.unsigned_abs());
            if divisor == 1 {
                return self;
            }
        }
        if let Ok(divisor) = i64::try_from(divisor) {
            for (_, coefficient) in &mut self.terms {
                *coefficient /= divisor;
            }
        }
        self
    }

    /// The strongest inequality `p >= 0` with the same integer solutions and direction: the coefficients are divided by
    /// their common divisor, and the constant is rounded down.
    pub(super) fn tightened(mut self) -> Polynomial {
        let divisor = match i64::try_from(self.content()) {
            Ok(divisor) if divisor > 1 => divisor,
            _ => return self,
        };
        for (_, coefficient) in &mut self.terms {
            *coefficient = coefficient.div_euclid(divisor);
        }
        self.terms.retain(|(_, coefficient)| *coefficient != 0);
        self
    }

    /// The quotient and the remainder of a division by a term, term by term.
    pub(super) fn divided(&self, by: Term) -> (Polynomial, Polynomial) {
        let (mut quotient, mut rest) = (Polynomial::default(), Polynomial::default());
        for &(monomial, coefficient) in &self.terms {
            match monomial.divided(by.0) {
                Some(factor) if coefficient.checked_rem(by.1) == Some(0) => {
                    quotient.terms.push((factor, coefficient / by.1));
                }
                Some(_) | None => rest.terms.push((monomial, coefficient)),
            }
        }
        (quotient, rest)
    }

    /// The term of the highest degree that may be negative.
    pub(super) fn obstacle(&self) -> Option<Term> {
        let mut found: Option<Term> = None;
        let mut highest = 0;
        for &(monomial, coefficient) in &self.terms {
            if coefficient < 0 || !monomial.is_natural() {
                let degree = monomial.degree();
                if degree >= highest {
                    (found, highest) = (Some((monomial, coefficient)), degree);
                }
            }
        }
        found
    }

    /// An estimate of the work that is left to prove that the polynomial is never negative.
    pub(super) fn work(&self) -> usize {
        let mut work = self.terms.len();
        for &(monomial, coefficient) in &self.terms {
            if coefficient < 0 || !monomial.is_natural() {
                work += 2 + 2 * monomial.degree() as usize;
            }
        }
        work
    }

    /// A variable that occurs in one term only, alone, and its coefficient there. Among those that `wanted` accepts, the
    /// first one with the smallest coefficient.
    pub(super) fn linear(&self, wanted: impl Fn(Var, u64) -> bool) -> Option<(Var, i64)> {
        let mut found: Option<(Var, i64)> = None;
        for &(monomial, coefficient) in &self.terms {
            if monomial.degree() != 1 {
                continue;
            }
            let size = coefficient.unsigned_abs();
            for var in monomial.vars() {
                let smaller = found.is_none_or(|(_, best)| size < best.unsigned_abs());
                if smaller && wanted(var, size) && self.occurrences(var) == 1 {
                    found = Some((var, coefficient));
                }
            }
        }
        found
    }

    /// The number of terms with the variable.
    fn occurrences(&self, var: Var) -> usize {
        let with = self.terms.iter().filter(|(m, _)| m.exponent(var) != 0);
        with.count()
    }

    /// `divisor^d * self`, with `var` replaced by `by / divisor`. The exponent `d` is the highest one of the variable.
    pub(super) fn replaced(&self, var: Var, by: &Polynomial, divisor: i64) -> Option<Polynomial> {
        let exponents = self.terms.iter().map(|(m, _)| m.exponent(var));
        let highest = exponents.max().unwrap_or(0);
        let mut sum = Polynomial::default();
        for &(monomial, coefficient) in &self.terms {
            let exponent = monomial.exponent(var);
            let scale = divisor.checked_pow(highest - exponent)?;
            let mut rest = monomial;
            let mut factor = Polynomial::number(coefficient.checked_mul(scale)?);
            for _ in 0..exponent {
                rest = rest.divided(Monomial::var(var))?;
                factor = factor.times(by)?;
            }
            sum = sum.combine(1, &factor, 1, rest)?;
        }
        Some(sum)
    }
}

/// The greatest common divisor.
pub(super) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
