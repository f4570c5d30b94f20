//! Turns terms into values of variables, with the constraints of their definitions.

use super::translate::{Monotone, Name, Side, Stop, Translation};
use super::{Reading, Setting};
use crate::Builtin;
use crate::analysis::linear::{
    Atom, Branch, Definition, Fact, Form, Function, Poly, Symbol, term_form,
};
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
            Definition::Quotient { dividend, divisor } => self.quotient(
                (number, unsigned, name),
                [dividend, divisor],
                (side, reader),
            )?,
            Definition::Xor(a, b) => {
                self.exclusive_or((number, unsigned, name), [a, b], (side, reader))?
            }
            Definition::Injective(_, of) => {
                let of = self.form(of, reader)?;
                let value = Polynomial::var(self.variable(name, unsigned)?.0);
                if let Some(side) = side {
                    self.injective(number, side, [&value, &of])?;
                }
                value
            }
            Definition::ByCases {
                function,
                operands,
                branches,
            } => {
                let of = (*function, branches.as_slice());
                let value = self.by_cases((number, unsigned, name), of, (side, reader))?;
                let is_monotone = matches!(function, Function::Min | Function::Max);
                if let (Some(side), [a, b], true) = (side, &operands[..], is_monotone) {
                    for (own, common) in [(a, b), (b, a)] {
                        if common.uniform().is_some() {
                            let (own, common) =
                                (self.form(own, reader)?, self.form(common, reader)?);
                            let of = Monotone::Of(*function);
                            self.monotone((side, of), [&common, &own, &value])?;
                        }
                    }
                }
                value
            }
            Definition::OneOf(cases) => {
                let chosen = self.chosen.iter().find(|c| c.is_of(side, number));
                let chosen = chosen.map(|chosen| chosen.number);
                let each = cases.iter().map(|(_, facts)| facts.as_slice());
                let chosen = chosen.or_else(|| self.decided(reader, each));
                let chosen = chosen.ok_or(Stop::Cases {
                    side,
                    term: number,
                    count: cases.len(),
                })?;
                let (value, facts) = &cases[chosen];
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

    /// The value of a term whose cases are told apart only if a proof needs that.
    fn by_cases(
        &mut self,
        (number, unsigned, name): (u32, bool, Name),
        (function, branches): (Function, &[Branch]),
        (side, reader): (Option<Side>, Side),
    ) -> Result<Polynomial, Stop> {
        let decides = match function {
            Function::Turn(of) => of,
            Function::Min
            | Function::Max
            | Function::Choice
            | Function::Power
            | Function::And
            | Function::Wrapping
            | Function::Reversed { .. } => number,
        };
        let chosen = self.chosen.iter().find(|c| c.is_of(side, decides));
        let chosen = chosen.map(|chosen| chosen.number).or_else(|| {
            let each = branches.iter().map(|branch| branch.facts.as_slice());
            self.decided(reader, each)
        });
        let branch = chosen.map(|chosen| &branches[chosen]);
        if branch.is_none() && !branches.is_empty() {
            self.open.push((decides, side, branches.len()));
        }
        let value = match branch.and_then(|branch| branch.value.as_ref()) {
            Some(value) => {
                self.rely_on(value);
                self.form(&value.form, reader)?
            }
            None => Polynomial::var(self.variable(name, unsigned)?.0),
        };
        for fact in branch.iter().flat_map(|branch| &branch.facts) {
            self.fact(fact, reader)?;
        }
        Ok(value)
    }

    /// The only case that does not contradict the facts at a thread's access, nor those of the chosen cases. Everything
    /// depends on the conditions of the facts that decide.
    fn decided<'f>(
        &mut self,
        side: Side,
        cases: impl Iterator<Item = &'f [Fact]>,
    ) -> Option<usize> {
        let mut known: Vec<&Fact> = vec![];
        for chosen in self.chosen.iter().filter(|case| case.side == Some(side)) {
            known.extend(self.setting.terms.get(chosen.term).facts_of(chosen.number));
        }
        known.extend(self.at[side as usize]);
        let (mut left, mut deciding) = (vec![], vec![]);
        for (number, facts) in cases.enumerate() {
            let pairs = facts
                .iter()
                .flat_map(|fact| known.iter().map(move |of| (fact, *of)));
            let mut against = pairs.filter(|(fact, known)| fact.contradicts(known));
            // One without conditions is best.
            match against
                .clone()
                .find(|pair| is_plain(pair.0) && is_plain(pair.1))
            {
                Some(_) => {}
                None => match against.next() {
                    Some((fact, known)) => deciding.extend([fact.clone(), known.clone()]),
                    None => left.push(number),
                },
            }
        }
        let [number] = left[..] else { return None };
        for fact in deciding {
            self.rely_on_fact(&fact);
        }
        Some(number)
    }

    /// The quotient of a term, with its remainder.
    fn quotient(
        &mut self,
        (number, unsigned, name): (u32, bool, Name),
        [dividend, divisor]: [&Form<Poly>; 2],
        (side, reader): (Option<Side>, Side),
    ) -> Result<Polynomial, Stop> {
        let in_common = divisor.uniform().is_some();
        let (dividend, divisor) = self.divided((number, unsigned), [dividend, divisor], reader)?;
        let (quotient, _) = self.variable(name, unsigned)?;
        let quotient = Polynomial::var(quotient);
        if let Some(side) = side.filter(|_| in_common) {
            self.monotone((side, Monotone::Quotient), [&divisor, &dividend, &quotient])?;
        }
        let rest = match (divisor.constant(), dividend.parity()) {
            (Some(2), Some(odd)) => Polynomial::number(odd.into()),
            (_, _) => {
                let (rest, _) = self.variable(Name::Remainder(side, number), true)?;
                Polynomial::var(rest)
            }
        };
        let beyond = divisor.minus(&rest).ok_or(Stop::NoProof)?;
        let beyond = beyond.minus(&Polynomial::number(1));
        self.system
            .at_least_zero(beyond.ok_or(Stop::NoProof)?, self.under);
        let sum = divisor.times(&quotient).and_then(|whole| whole.plus(&rest));
        let sum = sum.ok_or(Stop::NoProof)?;
        match self.reading {
            Reading::Digits if side.is_none() => self.bound_by(&dividend, &sum)?,
            Reading::Digits | Reading::Plain | Reading::Sums | Reading::OfIndex => {
                self.equate(&dividend, &sum)?;
            }
        }
        if let Some(side) = side {
            let parts = [dividend, divisor, rest];
            self.divisions.insert((side, number), parts);
        }
        Ok(quotient)
    }

    /// States that values of the two threads are in the order of their operands, if the other operand is the same. The parts
    /// are that one, the thread's own operand, and the value.
    fn monotone(
        &mut self,
        (side, function): (Side, Monotone),
        parts: [&Polynomial; 3],
    ) -> Result<(), Stop> {
        let parts = parts.map(Polynomial::clone);
        for ((of_side, of), [common, operand, value], reasons) in &self.monotone {
            if *of_side != side.other() || *of != function || *common != parts[0] {
                continue;
            }
            let operands = parts[1].minus(operand).ok_or(Stop::NoProof)?;
            let values = parts[2].minus(value).ok_or(Stop::NoProof)?;
            let reasons = reasons | self.under;
            self.system.monotone([operands, values], reasons);
        }
        self.monotone.push(((side, function), parts, self.under));
        Ok(())
    }

    /// The exclusive or of a term.
    fn exclusive_or(
        &mut self,
        (number, unsigned, name): (u32, bool, Name),
        [of_a, of_b]: [&Form<Poly>; 2],
        (side, reader): (Option<Side>, Side),
    ) -> Result<Polynomial, Stop> {
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
        if let (Some(most_a), Some(most_b)) = (self.setting.most(of_a), self.setting.most(of_b))
            && let Some(end) = most_a.max(most_b).checked_add(1)
            && let Some(end) = end.checked_next_power_of_two()
            && let Ok(end) = i64::try_from(end)
        {
            let most = Polynomial::number(end - 1);
            let rest = most.minus(&value).ok_or(Stop::NoProof)?;
            self.system.at_least_zero(rest, self.under);
        }
        // Bits that both have count twice in the sum.
        if let Some(common) = self.setting.common_bits([of_a, of_b]) {
            let common = self.form(&common, reader)?;
            let without = common.scaled(-2).and_then(|twice| sum.plus(&twice));
            let rest = without.and_then(|without| without.minus(&value));
            self.system.zero(rest.ok_or(Stop::NoProof)?, self.under);
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
            // `x ^ x >> k` is injective, as in Gray codes.
            for (half, whole, of) in [(of_a, of_b, &b), (of_b, of_a, &a)] {
                if self.setting.is_halved(half) == Some(whole) {
                    self.injective(number, side, [&value, of])?;
                }
            }
        }
        Ok(value)
    }

    /// States that XOR is injective in each operand, once its parts are known for both threads.
    fn pair_up(&mut self, number: u32, side: Side, parts: [&Polynomial; 3]) -> Result<(), Stop> {
        let parts = parts.map(Polynomial::clone);
        if let Some((others, conditions)) = self.xors.get(&(side.other(), number)) {
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

    /// Given a fact that a value has no bits of a mask, states that values of the two threads do not differ by the mask,
    /// unless it is 0: `i = j + mask` would have the bits of the mask, if `j` does not.
    pub(super) fn without_bits(&mut self, fact: &Fact, side: Side) -> Result<(), Stop> {
        let Some([a, b]) = self.setting.operands_of_and(&fact.form) else {
            return Ok(());
        };
        for (own, mask) in [(a, b), (b, a)] {
            if mask.uniform().is_none() {
                continue;
            }
            let parts = [self.form(own, side)?, self.form(mask, side)?];
            for (of, [other, of_other], reasons) in &self.without {
                if *of != side.other() || *of_other != parts[1] {
                    continue;
                }
                let reasons = reasons | self.under;
                let difference = parts[0].minus(other).ok_or(Stop::NoProof)?;
                for by in [Some(parts[1].clone()), parts[1].scaled(-1)] {
                    let given = by.and_then(|by| difference.minus(&by));
                    let sides = [difference.clone(), Polynomial::number(0)];
                    self.system
                        .equivalent(given.ok_or(Stop::NoProof)?, sides, reasons);
                }
            }
            self.without.push((side, parts, self.under));
        }
        Ok(())
    }

    /// States that a function of one value is injective, once its parts are known for both threads.
    fn injective(&mut self, number: u32, side: Side, parts: [&Polynomial; 2]) -> Result<(), Stop> {
        let [value, of] = parts.map(Polynomial::clone);
        if let Some(([value_of_other, other], conditions)) =
            self.injections.get(&(side.other(), number))
        {
            let reasons = self.under | conditions;
            let values = value.minus(value_of_other).ok_or(Stop::NoProof)?;
            let operands = of.minus(other).ok_or(Stop::NoProof)?;
            self.system
                .equivalent(Polynomial::number(0), [values, operands], reasons);
        }
        self.injections
            .insert((side, number), ([value, of], self.under));
        Ok(())
    }

    /// Dividend and divisor of a quotient. A quotient by `a·b` is one by `b` of the quotient by `a`, if the kernel has that
    /// one, too: the digits of a number are then those of all its quotients.
    fn divided(
        &mut self,
        (number, unsigned): (u32, bool),
        [dividend, divisor]: [&Form<Poly>; 2],
        reader: Side,
    ) -> Result<(Polynomial, Polynomial), Stop> {
        if unsigned
            && let Some((inner, factor)) = self.setting.inner_quotient(number, dividend, divisor)
        {
            let inner = self.form(&inner, reader)?;
            let factor = self.form(&Form::of(factor), reader)?;
            return Ok((inner, factor));
        }
        Ok((self.form(dividend, reader)?, self.form(divisor, reader)?))
    }

    /// Adds an equality that replaces no variable.
    fn bound_by(&mut self, is: &Polynomial, sum: &Polynomial) -> Result<(), Stop> {
        for [a, b] in [[is, sum], [sum, is]] {
            let difference = a.minus(b).ok_or(Stop::NoProof)?;
            self.system.at_least_zero(difference, self.under);
        }
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

/// True if a fact holds in every launch.
fn is_plain(fact: &Fact) -> bool {
    fact.exact.is_empty() && fact.extents.is_empty()
}

impl<'a> Setting<'a> {
    /// The quotient of the same dividend by the largest proper divisor of a product, and the other factor.
    fn inner_quotient(
        self,
        number: u32,
        dividend: &Form<Poly>,
        divisor: &Form<Poly>,
    ) -> Option<(Form<Poly>, Poly)> {
        let product = divisor.uniform().filter(|product| product.is_natural())?;
        let mut best: Option<(u32, &Poly, Poly)> = None;
        for (other, term) in self.terms.numbered() {
            let Definition::Quotient {
                dividend: of,
                divisor: by,
            } = &term.definition
            else {
                continue;
            };
            let Some(by) = by.uniform().filter(|by| other != number && by.is_natural()) else {
                continue;
            };
            let (factor, rest) = product.divided(by);
            let proper = rest.is_zero() && factor.is_natural() && factor.as_constant() != Some(1);
            let larger = best
                .as_ref()
                .is_none_or(|(_, best, _)| by.is_multiple_of(best));
            if proper && larger && of == dividend && by.as_constant() != Some(1) {
                best = Some((other, by, factor));
            }
        }
        let (other, _, factor) = best?;
        let in_common = dividend.uniform().is_some();
        Some((term_form(other, true, in_common), factor))
    }

    /// The operands, if a form is the bitwise and of two values.
    fn operands_of_and(self, form: &Form<Poly>) -> Option<[&'a Form<Poly>; 2]> {
        let Some(Atom::Term(number, true)) = form.sole_atom() else {
            return None;
        };
        match &self.terms.get(number).definition {
            Definition::ByCases {
                function: Function::And,
                operands,
                ..
            } => operands.iter().collect::<Vec<_>>().try_into().ok(),
            _ => None,
        }
    }

    /// The bitwise and of two values that threads do not have in common, if the kernel has it.
    fn common_bits(self, of: [&Form<Poly>; 2]) -> Option<Form<Poly>> {
        let numbers = self.terms.numbered().map(|(number, _)| number);
        let mut each = numbers.map(|number| term_form(number, true, false));
        each.find(|form| {
            let operands = self.operands_of_and(form);
            operands.is_some_and(|[a, b]| [a, b] == of || [b, a] == of)
        })
    }

    /// The value of which a form is the quotient by a power of two greater than 1.
    fn is_halved(self, form: &Form<Poly>) -> Option<&'a Form<Poly>> {
        let Some(Atom::Term(number, true)) = form.sole_atom() else {
            return None;
        };
        match &self.terms.get(number).definition {
            Definition::Quotient { dividend, divisor } => {
                let by = divisor.as_constant()?;
                (by > 1 && by.count_ones() == 1).then_some(dividend)
            }
            _ => None,
        }
    }

    /// The largest value of a form, if it is a number, the thread's index in a block whose extent is one, a quotient of
    /// such a value, or a remainder by a number.
    fn most(self, form: &Form<Poly>) -> Option<u64> {
        if let Some(Atom::Id(Builtin::ThreadIdx(axis))) = form.sole_atom() {
            return Some(u64::from(self.kernel.block?[axis.index()]) - 1);
        }
        if let Some(by) = self.terms.remainder_by(form) {
            return u64::try_from(by.as_constant()?).ok()?.checked_sub(1);
        }
        if let Some(Atom::Term(number, true)) = form.sole_atom()
            && let Definition::Quotient { dividend, divisor } = &self.terms.get(number).definition
        {
            let divisor = u64::try_from(divisor.as_constant()?).ok()?;
            return self.most(dividend)?.checked_div(divisor);
        }
        u64::try_from(form.as_constant()?).ok()
    }
}
