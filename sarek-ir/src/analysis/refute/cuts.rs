//! Cuts: facts that hold only because variables are integers.
//!
//! A variable with a number as bound is replaced by the bound, which weakens a fact. If a number divides the coefficients
//! that remain, the constant is rounded: `2·q + r >= 1` with `r <= 1` gives `2·q >= 0`, and with `r = 0` gives `q >= 1`.
//! A fact about a multiple of a variable is divided by it in the same way.
//! These are cuts of Chvátal and Gomory (Chvátal, *Edmonds polytopes and a hierarchy of combinatorial problems*, 1973).

use super::monomial::{Monomial, Var};
use super::{Claim, Polynomial, System};

impl System {
    /// Adds the cuts that one variable gives.
    pub(super) fn cut(&mut self) {
        let bounds: Vec<(Var, i64, u128)> = self.facts.iter().filter_map(upper_bound).collect();
        let mut found = vec![];
        for fact in &self.facts {
            for (var, most, reasons) in &bounds {
                let term = Monomial::var(*var);
                let mut terms = fact.polynomial.terms().iter();
                let factor = terms.find(|(m, _)| *m == term).map_or(0, |(_, c)| *c);
                if factor <= 0 || fact.polynomial.terms().len() < 3 {
                    continue;
                }
                let at_most = Polynomial::number(*most).minus(&Polynomial::var(*var));
                let rest = at_most
                    .and_then(|rest| fact.polynomial.combine(1, &rest, factor, Monomial::ONE));
                if let Some(rest) = rest.filter(|rest| rest.content() > 1) {
                    found.push(Claim::new(rest.tightened(), fact.reasons | reasons));
                }
            }
        }
        for claim in found {
            self.add_fact(claim);
        }
    }
}

impl System {
    /// Adds what facts about multiples say about the other factor. For a natural variable `d`, `d·u + l >= 0` with `l < 0`
    /// gives `u >= 1`: from `q·w + r < h·w` follows `q < h` in this way. For a number `d`, the quotient is rounded.
    pub(super) fn cut_products(&mut self) {
        let mut found = vec![];
        for fact in &self.facts {
            for base in self.bases(&fact.polynomial) {
                let (high, low) = fact.polynomial.divided(base);
                if high.constant().is_some() || low.is_zero() {
                    continue;
                }
                // Terms that are never positive are left out.
                let most = low.constant_term();
                let others = low.minus(&Polynomial::number(most));
                let others = others.and_then(|others| others.scaled(-1));
                if others.is_none_or(|others| others.obstacle().is_some()) {
                    continue;
                }
                let rest = match base {
                    (Monomial::ONE, number) => {
                        let multiple = high.scaled(number);
                        multiple.and_then(|m| m.plus(&Polynomial::number(most)))
                    }
                    (_, _) if most < 0 => high.minus(&Polynomial::number(1)),
                    (_, _) => None,
                };
                found.extend(rest.map(|rest| Claim::new(rest.tightened(), fact.reasons)));
            }
        }
        for claim in found {
            if claim.polynomial.obstacle().is_some() {
                self.add_fact(claim);
            }
        }
    }
}

/// The variable that the fact bounds by a number from above, if that is all that it says.
fn upper_bound(fact: &Claim) -> Option<(Var, i64, u128)> {
    let most = fact.polynomial.constant_term();
    let mut others = fact
        .polynomial
        .terms()
        .iter()
        .filter(|(m, _)| *m != Monomial::ONE);
    let (monomial, -1) = others.next()? else {
        return None;
    };
    let single = others.next().is_none() && monomial.degree() == 1;
    let var = monomial.vars().next().filter(|_| single)?;
    Some((var, most, fact.reasons))
}
