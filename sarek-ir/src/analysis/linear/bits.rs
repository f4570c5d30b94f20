//! Bitwise operators with powers of two that are no numbers, such as `1 << bits`.

use super::{Affine, Atom, Definition, Form, Function, Poly, Resolver, Symbol, Term, Terms};
use crate::ExprId;

impl Resolver<'_> {
    /// The bitwise and with a power of two `p`, a single bit: `p · (q - 2 · (q / 2))` for `q = i / p`.
    pub(super) fn single_bit(&mut self, value: &Affine, bit: &Affine) -> Option<Affine> {
        if !self.is_bit(&bit.form) {
            return None;
        }
        let by = bit.form.uniform()?;
        let quotient = self.quotient_term(value, bit, true)?;
        let half = self.quotient_term(&quotient, &Affine::of(Form::constant(2)), true)?;
        let digit = quotient.plus(&half, -2)?;
        let mut found = digit.with(digit.form.times(by)?).with_conditions(bit);
        found.needs_exact = true;
        Some(found)
    }

    /// True if a value is a power of two, and not 0.
    fn is_bit(&self, form: &Form<Poly>) -> bool {
        let (Some(value), Some(terms)) = (form.uniform(), &self.terms) else {
            return false;
        };
        if let Some(number) = value.as_constant() {
            return number > 0 && number.count_ones() == 1;
        }
        let is_power = |number: u32| match &terms.get(number).definition {
            Definition::ByCases { function, .. } => *function == Function::Power,
            _ => false,
        };
        let Some(mut products) = value.terms() else {
            return false;
        };
        match (products.next(), products.next()) {
            (Some(([Symbol::Term(number, _)], by)), None) => {
                is_power(*number) && by > 0 && by.count_ones() == 1
            }
            (_, _) => false,
        }
    }

    /// The expressions that must not overflow for two values to have no bits in common: one is a multiple of a power of two
    /// that the other one does not reach, or one is a power of two, and the other one a multiple of its double with a
    /// smaller rest.
    pub(super) fn are_disjoint(&self, a: &Affine, b: &Affine) -> Option<Vec<ExprId>> {
        let sides = [(&a.form, &b.form), (&b.form, &a.form)];
        sides.into_iter().find_map(|(low, high)| {
            let terms = self.terms.as_ref()?;
            if let Some(end) = terms.remainder_by(low) {
                let powers = high.terms().iter().map(|(_, factor)| factor);
                let mut each = powers.chain([&high.base]);
                if each.all(|factor| factor.is_multiple_of(end)) {
                    return self.is_power_of_two(&Form::of(end.clone()));
                }
            }
            let exact = self.is_power_of_two(high)?;
            let (bit, next) = (high.uniform()?, high.uniform()?.scaled(2));
            let mut rest = low.clone();
            rest.retain(|(_, factor)| !factor.is_multiple_of(&next));
            if rest.base.is_multiple_of(&next) {
                rest.base = Poly::constant(0);
            }
            let is_below = |end: &Poly| bit.is_multiple_of(end);
            let is_none = rest.as_constant() == Some(0);
            (is_none || terms.remainder_by(&rest).is_some_and(is_below)).then_some(exact)
        })
    }

    /// The exclusive or with a power of two, if the kernel has the bits of the value beside it, as in `i & p == 0`.
    pub(super) fn flipped_bit(&mut self, value: &Affine, bit: &Affine) -> Option<Affine> {
        if !self.is_bit(&bit.form) {
            return None;
        }
        let wanted = Definition::Quotient {
            dividend: value.form.clone(),
            divisor: bit.form.clone(),
        };
        if !self.terms.as_ref()?.have_half(&wanted) {
            return None;
        }
        let common = self.single_bit(value, bit)?;
        value.plus(bit, 1)?.plus(&common, -2)
    }
}

impl Terms {
    /// True if a quotient is among the terms, and its half is.
    fn have_half(&self, quotient: &Definition) -> bool {
        let numbered = self
            .numbered()
            .find(|(_, term)| term.definition == *quotient);
        let Some((number, _)) = numbered else {
            return false;
        };
        let is_half = |(_, term): (u32, &Term)| match &term.definition {
            Definition::Quotient { dividend, divisor } => {
                let is_of = dividend.sole_atom() == Some(Atom::Term(number, true));
                divisor.as_constant() == Some(2) && is_of
            }
            _ => false,
        };
        self.numbered().any(is_half)
    }

    /// The divisor, if the form is the remainder of a division of natural numbers by it.
    pub fn remainder_by<'a>(&'a self, form: &Form<Poly>) -> Option<&'a Poly> {
        form.terms().iter().find_map(|(atom, factor)| {
            let Atom::Term(number, true) = *atom else {
                return None;
            };
            let Definition::Quotient { dividend, divisor } = &self.get(number).definition else {
                return None;
            };
            let by = divisor.uniform()?;
            let mut rest = form.clone();
            rest.set(*atom, Poly::constant(0));
            (factor.scaled(-1) == *by && rest == *dividend).then_some(by)
        })
    }
}
