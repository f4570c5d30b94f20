//! Counts uniform factors from a number: `r·w - 2·r` is `r·w'` with `w = w' + 2`.

use super::claim::Substitution;
use super::monomial::{Monomial, Var};
use super::{Claim, Polynomial, Reasons, System};

impl System {
    /// Replaces uniform factors that occur with a number subtracted, as in `r·(w - 2)`, by that number and a new variable, if
    /// they are at least the number.
    pub(super) fn shift(&mut self) {
        let mut bounds: Vec<(Var, i64, Reasons)> = vec![];
        for fact in &self.facts {
            if let Some((var, least)) = self.lower_bound(fact)
                && let Some(by) = self.subtracted_from(var)
                && by <= least
                && !bounds.iter().any(|(of, ..)| *of == var)
            {
                bounds.push((var, by, fact.reasons));
            }
        }
        for (var, by, reasons) in bounds {
            let rest = self.variable(true, true).map(Polynomial::var);
            let by = rest.and_then(|rest| rest.plus(&Polynomial::number(by)));
            let Some(by) = by else { return };
            self.replace(&mut Substitution {
                var,
                divisor: 1,
                by,
                reasons,
            });
        }
        self.tidy();
    }

    /// The uniform variable that a fact bounds by a number from below, if its other terms are never positive.
    fn lower_bound(&self, fact: &Claim) -> Option<(Var, i64)> {
        let least = fact.polynomial.constant_term().checked_neg()?;
        let mut found = None;
        for &(monomial, coefficient) in fact.polynomial.terms() {
            let Some(var) = monomial.vars().next() else {
                continue;
            };
            let is_alone = monomial == Monomial::var(var) && coefficient == 1;
            let is_first = is_alone && found.replace(var).is_none();
            if !is_first && (is_alone || !monomial.is_natural() || coefficient >= 0) {
                return None;
            }
        }
        let var = found.filter(|var| var.is_natural() && self.is_uniform(*var))?;
        (least > 0).then_some((var, least))
    }

    /// The number `k` of a factor `var - k` in an equality.
    fn subtracted_from(&self, var: Var) -> Option<i64> {
        self.equal.iter().find_map(|claim| {
            let (with, rest) = claim.polynomial.divided((Monomial::var(var), 1));
            with.terms().iter().find_map(|(cofactor, coefficient)| {
                let mut alone = rest.terms().iter();
                let (_, other) = alone.find(|(monomial, _)| monomial == cofactor)?;
                let multiple = other.checked_neg()?.checked_div(*coefficient)?;
                let is_exact = multiple.checked_mul(*coefficient) == other.checked_neg();
                (is_exact && multiple > 0 && *cofactor != Monomial::ONE).then_some(multiple)
            })
        })
    }
}
