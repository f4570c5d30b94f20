//! Quotients by constants, as atoms of forms.

use super::{Atom, Coefficient, Form};

/// A quotient, rounded down.
#[derive(Clone, Debug)]
pub struct Quotient<C> {
    /// The dividend.
    pub dividend: Form<C>,
    /// The divisor, which is positive.
    pub divisor: i128,
    /// The dividend minus the divisor times the quotient. It is at least 0 and below the divisor.
    pub remainder: Form<C>,
}

/// The quotients that occur as atoms. Equal quotients are one atom.
#[derive(Clone, Debug)]
pub struct Quotients<C>(Vec<Quotient<C>>);

impl<C> Default for Quotients<C> {
    fn default() -> Quotients<C> {
        Quotients(vec![])
    }
}

impl<C: Coefficient> Quotients<C> {
    /// `dividend / divisor`, rounded down, for a positive divisor; `None` if a number does not fit.
    pub fn quotient(&mut self, dividend: &Form<C>, divisor: i128) -> Option<Form<C>> {
        if let Some(value) = dividend.as_constant() {
            return Some(Form::constant(value.div_euclid(divisor)));
        }
        let same = |q: &Quotient<C>| q.divisor == divisor && q.dividend == *dividend;
        if let Some(number) = self.0.iter().position(same) {
            return Some(Form::atom(Atom::Quotient(number as u32)));
        }
        let quotient = Form::atom(Atom::Quotient(self.0.len() as u32));
        let remainder = dividend.plus(&quotient, &C::constant(-divisor))?;
        self.0.push(Quotient {
            dividend: dividend.clone(),
            divisor,
            remainder,
        });
        Some(quotient)
    }

    /// The quotient with a number.
    pub fn get(&self, number: u32) -> &Quotient<C> {
        &self.0[number as usize]
    }

    /// All quotients, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Quotient<C>> {
        self.0.iter()
    }
}
