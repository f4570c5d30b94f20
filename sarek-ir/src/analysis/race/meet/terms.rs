//! Turns terms into values of variables, with the constraints of their definitions.

use super::Setting;
use super::translate::{Name, Side, Stop, Translation};
use crate::Builtin;
use crate::analysis::linear::{Atom, Definition, Form, Poly, Symbol};
use crate::analysis::refute::Polynomial;

impl Translation<'_> {
    /// The value of a term. A term of one side is that thread's own; `reader` is the side that its forms are read for.
    pub(super) fn term(
        &mut self,
        number: u32,
        unsigned: bool,
        side: Option<Side>,
        reader: Side,
    ) -> Result<Polynomial, Stop> {
        if let Some(known) = self.values.get(&(side, number, unsigned)) {
            return Ok(known.clone());
        }
        let term = self.setting.terms.get(number);
        let name = match side {
            Some(side) => Name::Atom(side, Atom::Term(number, unsigned)),
            None => Name::Symbol(Symbol::Term(number, unsigned)),
        };
        let value = match &term.definition {
            Definition::Any => Polynomial::var(self.variable(name, unsigned)?.0),
            Definition::Product(a, b) => {
                let (a, b) = (self.form(a, reader)?, self.form(b, reader)?);
                a.times(&b).ok_or(Stop::NoProof)?
            }
            Definition::Quotient { dividend, divisor } => {
                let (dividend, divisor) =
                    (self.form(dividend, reader)?, self.form(divisor, reader)?);
                let (quotient, _) = self.variable(name, unsigned)?;
                let (rest, _) = self.variable(Name::Remainder(side, number), true)?;
                let (quotient, rest) = (Polynomial::var(quotient), Polynomial::var(rest));
                let beyond = divisor.minus(&rest).ok_or(Stop::NoProof)?;
                let beyond = beyond.minus(&Polynomial::number(1));
                self.system
                    .at_least_zero(beyond.ok_or(Stop::NoProof)?, self.under);
                let sum = divisor.times(&quotient).and_then(|whole| whole.plus(&rest));
                self.equate(&dividend, &sum.ok_or(Stop::NoProof)?)?;
                quotient
            }
            Definition::Xor(of_a, of_b) => {
                let (a, b) = (self.form(of_a, reader)?, self.form(of_b, reader)?);
                let value = Polynomial::var(self.variable(name, unsigned)?.0);
                let sum = a.plus(&b).ok_or(Stop::NoProof)?;
                let limits = [
                    sum.minus(&value),
                    value.plus(&a).and_then(|sum| sum.minus(&b)),
                    value.plus(&b).and_then(|sum| sum.minus(&a)),
                ];
                for limit in limits {
                    self.system
                        .at_least_zero(limit.ok_or(Stop::NoProof)?, self.under);
                }
                if let (Some(most_a), Some(most_b)) =
                    (self.setting.most(of_a), self.setting.most(of_b))
                    && let Some(end) = (most_a.max(most_b) + 1).checked_next_power_of_two()
                {
                    let most = Polynomial::number(end.min(1 << 62) as i64 - 1);
                    let rest = most.minus(&value).ok_or(Stop::NoProof)?;
                    self.system.at_least_zero(rest, self.under);
                }
                // An operand changes the other one unless it is 0.
                for (operand, other) in [(of_a, &b), (of_b, &a)] {
                    if operand.as_constant().is_some_and(|number| number != 0) {
                        let change = value.minus(other).ok_or(Stop::NoProof)?;
                        self.system.not_zero(change, self.under);
                    }
                }
                if let Some(side) = side {
                    self.pair_up(number, side, [&value, &a, &b])?;
                }
                value
            }
            Definition::OneOf(cases) => {
                let of = side.unwrap_or(Side::First);
                let chosen = self
                    .chosen
                    .iter()
                    .find(|c| c.side == of && c.term == number);
                let chosen = chosen.ok_or(Stop::Cases {
                    side: of,
                    term: number,
                    count: cases.len(),
                })?;
                let (value, facts) = &cases[chosen.number];
                self.rely_on(value);
                for fact in facts {
                    self.fact(fact, reader)?;
                }
                self.form(&value.form, reader)?
            }
        };
        self.values.insert((side, number, unsigned), value.clone());
        for fact in &term.facts {
            self.fact(fact, reader)?;
        }
        Ok(value)
    }

    /// States that XOR is injective in each operand, once its parts are known for both threads.
    fn pair_up(&mut self, number: u32, side: Side, parts: [&Polynomial; 3]) -> Result<(), Stop> {
        let other = match side {
            Side::First => Side::Second,
            Side::Second => Side::First,
        };
        let parts = parts.map(Polynomial::clone);
        if let Some((others, conditions)) = self.xors.get(&(other, number)) {
            let reasons = self.under | conditions;
            let difference = |at: usize| parts[at].minus(&others[at]).ok_or(Stop::NoProof);
            let [value, a, b] = [difference(0)?, difference(1)?, difference(2)?];
            self.system
                .equivalent(b.clone(), [value.clone(), a.clone()], reasons);
            self.system.equivalent(a, [value, b], reasons);
        }
        self.xors.insert((side, number), (parts, self.under));
        Ok(())
    }

    /// Adds an equality, as the definition of a variable if one side is one.
    fn equate(&mut self, is: &Polynomial, sum: &Polynomial) -> Result<(), Stop> {
        let alone = self
            .names
            .values()
            .copied()
            .find(|var| *is == Polynomial::var(*var));
        if let Some(var) = alone.filter(|var| !self.defined.contains(var)) {
            self.defined.push(var);
            self.system.define(var, sum.clone(), self.under);
            return Ok(());
        }
        let difference = is.minus(sum).ok_or(Stop::NoProof)?;
        self.system.zero(difference, self.under);
        Ok(())
    }
}

impl Setting<'_> {
    /// The largest value of a form, if it is a number, or the thread's index in a block whose extent is one.
    fn most(self, form: &Form<Poly>) -> Option<u64> {
        if let Some(Atom::Id(Builtin::ThreadIdx(axis))) = form.sole_atom() {
            return Some(u64::from(self.kernel.block?[axis.index()]) - 1);
        }
        u64::try_from(form.as_constant()?).ok()
    }
}
