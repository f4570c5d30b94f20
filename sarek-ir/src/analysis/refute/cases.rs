//! Refutations by Farkas' lemma, and case splits on the sign of an integer.

use super::claim::Substitution;
use super::monomial::{Monomial, Var};
use super::{Claim, Polynomial, Reasons, System};

/// The monomials that a hypothesis is multiplied by.
const COFACTORS: usize = 4;

/// The steps of the proofs that operands of a monotone function are in an order.
const OPERANDS: u32 = 6;

/// The steps of the proofs that its values are not.
const VALUES: u32 = 16;

impl System {
    /// Proves that an equality has no solution, because its polynomial is positive or negative.
    pub(super) fn refutes_equality(&self) -> Option<Reasons> {
        self.equal.iter().find_map(|claim| {
            let [above, below] = [1, -1].map(|sign| (&claim.polynomial, sign));
            let found = self.proves_positive(above.0, above.1);
            let found = found.or_else(|| self.proves_positive(below.0, below.1));
            found.map(|reasons| reasons | claim.reasons)
        })
    }

    /// Proves that a fact is false: its polynomial is negative.
    pub(super) fn refutes_fact(&self) -> Option<Reasons> {
        self.facts.iter().find_map(|claim| {
            let found = self.proves_positive(&claim.polynomial, -1)?;
            Some(found | claim.reasons)
        })
    }

    /// Proves that a polynomial, stated to be other than 0, is 0.
    pub(super) fn refutes_inequality(&mut self) -> Option<Reasons> {
        for at in 0..self.unequal.len() {
            let claim = self.unequal[at].clone();
            if let Some(reasons) = self.is_zero(&claim.polynomial) {
                return Some(reasons | claim.reasons);
            }
        }
        None
    }

    /// Proves by cases that an id is the same for both threads, and uses that.
    pub(super) fn decide_id(&mut self) -> bool {
        for at in 0..self.ids.len() {
            let difference = essential(&self.ids[at].polynomial);
            if difference.constant().is_some() {
                continue;
            }
            if let Some(reasons) = self.is_zero(&difference) {
                let claim = self.ids.remove(at);
                self.proved |= claim.reasons | reasons;
                self.assume_zero(difference, reasons);
                return true;
            }
        }
        false
    }

    /// Proves by cases that one side of an equivalence is 0, and uses that for the other.
    pub(super) fn decide_equivalence(&mut self) -> bool {
        for at in 0..self.equivalences.len() {
            if !self.equivalences[at].given.is_zero() {
                continue;
            }
            for side in [0, 1] {
                let polynomial = essential(&self.equivalences[at].sides[side]);
                if let Some(reasons) = self.is_zero(&polynomial) {
                    let [a, b] = self.equivalences[at].sides.clone();
                    let reasons = reasons | self.equivalences.swap_remove(at).reasons;
                    self.assume_zero(a, reasons);
                    self.assume_zero(b, reasons);
                    return true;
                }
            }
        }
        false
    }

    /// Refutes both `p >= 1` and `p <= -1`.
    fn is_zero(&mut self, p: &Polynomial) -> Option<Reasons> {
        if p.is_zero() {
            return Some(0);
        }
        let one = Polynomial::number(1);
        let mut reasons = 0;
        for sign in [1, -1] {
            let hypothesis = p.scaled(sign)?.minus(&one)?.tightened();
            if let Some(found) = self.refutes_shifted(&hypothesis) {
                reasons |= found;
                continue;
            }
            let facts = self.facts.len();
            self.facts.push(Claim::new(hypothesis.clone(), 0));
            // These short proofs have steps of their own.
            let steps = self.steps.replace(self.monotony.get());
            let mut found = self.refutes_by_monotony();
            self.monotony.set(self.steps.replace(steps));
            if found.is_none() {
                self.facts.truncate(facts + 1);
                found = self.refutes(&hypothesis);
            }
            self.facts.truncate(facts);
            reasons |= found?;
        }
        Some(reasons)
    }

    /// Refutes the system with a hypothesis `x >= p`, where a product of `x` and a thread's variable occurs, and `p` is never
    /// negative. Replaces `x` by `p + k` for a new natural `k`, which makes the signs of the products known.
    fn refutes_shifted(&self, hypothesis: &Polynomial) -> Option<Reasons> {
        let claims = self.equal.iter();
        let products = claims.flat_map(|claim| claim.polynomial.terms());
        let products: Vec<Monomial> = products
            .map(|(m, _)| *m)
            .filter(|m| m.degree() > 1)
            .collect();
        let multiplied = |var: Var| {
            let own = |m: &&Monomial| {
                let others = m.vars().filter(|of| !self.is_uniform(*of));
                m.exponent(var) > 0 && others.count() > 1
            };
            products.iter().any(|m| own(&m))
        };
        let mut vars = hypothesis.terms().iter().filter_map(|(m, factor)| {
            let var = m
                .vars()
                .next()
                .filter(|_| m.degree() == 1 && *factor == 1)?;
            Some(var).filter(|var| var.is_natural() && multiplied(*var))
        });
        let (var, least) = vars.find_map(|var| {
            let least = Polynomial::var(var).minus(hypothesis)?;
            (least.obstacle().is_none() && !least.has(var)).then_some((var, least))
        })?;
        let mut shifted = self.clone();
        let more = shifted.variable(true, false)?;
        shifted.replace(&mut Substitution {
            var,
            divisor: 1,
            by: least.plus(&Polynomial::var(more))?,
            reasons: 0,
        });
        shifted.tidy();
        let found = shifted.absurd().or_else(|| shifted.refutes_equality());
        self.steps.set(shifted.steps.get());
        found
    }

    /// Refutes the system by the order of a monotone function's values, if a short proof shows that of its operands. Adds the
    /// orders that were found to the facts.
    fn refutes_by_monotony(&mut self) -> Option<Reasons> {
        let facts = self.facts.len();
        for at in 0..self.monotone.len() {
            for sign in [1, -1] {
                let function = &self.monotone[at];
                let Some(order) = function.values.scaled(sign) else {
                    continue;
                };
                if order.obstacle().is_none() {
                    continue;
                }
                let Some(reasons) = self.proves_in(OPERANDS, function.operands.scaled(sign)) else {
                    continue;
                };
                let reasons = reasons | function.reasons;
                if let Some(found) = self.proves_sign(VALUES, &order, -1) {
                    return Some(found | reasons);
                }
                self.facts.push(Claim::new(order, reasons));
            }
        }
        if self.facts.len() == facts {
            return None;
        }
        let is_linear = |claim: &&Claim| {
            let mut terms = claim.polynomial.terms().iter();
            terms.all(|(m, _)| m.degree() <= 1)
        };
        self.equal.iter().filter(is_linear).find_map(|claim| {
            let mut signs = [1, -1].into_iter();
            let found = signs.find_map(|sign| self.proves_sign(VALUES, &claim.polynomial, sign));
            found.map(|reasons| reasons | claim.reasons)
        })
    }

    /// Refutes the system with a hypothesis that is among the facts.
    fn refutes(&self, hypothesis: &Polynomial) -> Option<Reasons> {
        let mut vars: Vec<Var> = vec![];
        for (monomial, _) in hypothesis.terms() {
            for var in monomial.vars() {
                if !vars.contains(&var) {
                    vars.push(var);
                }
            }
        }
        for factor in self.cofactors(&vars).into_iter().take(COFACTORS) {
            let product = Polynomial::default().combine(1, hypothesis, 1, factor);
            let negative = product.and_then(|p| self.proves_positive(&p, -1));
            if negative.is_some() {
                return negative;
            }
        }
        self.refutes_equality()
    }
}

/// The polynomial without the monomial that divides all its terms. If the result is 0, the polynomial is.
fn essential(polynomial: &Polynomial) -> Polynomial {
    let factor = polynomial.common_monomial();
    let rest = polynomial.divided((factor, 1)).0.reduced();
    // The factor of a single term is all that may be 0.
    if rest.constant().is_some() {
        polynomial.clone()
    } else {
        rest
    }
}
