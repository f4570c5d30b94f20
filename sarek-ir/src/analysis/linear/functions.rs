//! Intrinsic functions of integers and bitwise operators, as terms whose value depends on the case.
//!
//! A minimum is one of its operands. Most proofs need only that it is at most either, and the others tell the cases apart,
//! see [`Definition::ByCases`].

use super::symbol::is_unsigned;
use super::{
    Affine, Atom, Branch, Definition, Fact, Form, Function, Poly, Relation, Resolver, Symbol,
    term_form,
};
use crate::{BinaryOp, ExprId, Intrinsic, List, Scalar};

/// A relation of a term to a value.
type Limit = (Relation, Form<Poly>);

impl Resolver<'_> {
    /// The value of an intrinsic function of integers.
    pub(super) fn intrinsic_term(
        &mut self,
        id: ExprId,
        (intrinsic, args): (Intrinsic, List),
        ty: Scalar,
    ) -> Option<Affine> {
        self.terms.as_ref()?;
        let args: Vec<ExprId> = self.kernel.list(args).collect();
        let values: Option<Vec<Affine>> = args.iter().map(|arg| self.affine(*arg)).collect();
        let (values, unsigned) = (values?, is_unsigned(ty));
        match (intrinsic, values.as_slice()) {
            (Intrinsic::Min, [a, b]) => self.smaller(a, b, unsigned),
            (Intrinsic::Max, [a, b]) => self.larger(a, b, unsigned),
            (Intrinsic::Clamp, [value, least, most]) => {
                let raised = self.larger(value, least, unsigned)?;
                self.smaller(&raised, most, unsigned)
            }
            (Intrinsic::SaturatingSub, [a, b]) if unsigned => {
                let (difference, zero) = (a.form.minus(&b.form)?, Form::constant(0));
                let limits = [
                    (Relation::Ge, difference.clone()),
                    (Relation::Le, a.form.clone()),
                    (Relation::Ge, zero.clone()),
                ];
                let branches = branches([a, b], [difference, zero])?;
                Some(self.by_cases((Function::Choice, branches), &limits, true, [a, b]))
            }
            (Intrinsic::AbsDiff, [a, b]) => {
                let differences = [a.form.minus(&b.form)?, b.form.minus(&a.form)?];
                let limits = differences.clone().map(|other| (Relation::Ge, other));
                let branches = branches([a, b], differences)?;
                Some(self.by_cases((Function::Choice, branches), &limits, unsigned, [a, b]))
            }
            (Intrinsic::WrappingAdd, [a, b]) => {
                self.unless_it_wraps(id, (BinaryOp::Add, [a, b]), unsigned)
            }
            (Intrinsic::WrappingSub, [a, b]) => {
                self.unless_it_wraps(id, (BinaryOp::Sub, [a, b]), unsigned)
            }
            (Intrinsic::WrappingMul, [a, b]) => {
                self.unless_it_wraps(id, (BinaryOp::Mul, [a, b]), unsigned)
            }
            (Intrinsic::ReverseBits, [a]) if unsigned => Some(self.reversed(a, ty.bits())),
            (_, _) => None,
        }
    }

    /// The smaller one of two values.
    fn smaller(&mut self, a: &Affine, b: &Affine, unsigned: bool) -> Option<Affine> {
        if self.never_negative(&b.form.minus(&a.form)?) {
            return Some(exactly(a, b));
        }
        if self.never_negative(&a.form.minus(&b.form)?) {
            return Some(exactly(b, a));
        }
        let limits = [a, b].map(|other| (Relation::Le, other.form.clone()));
        let branches = branches([b, a], [a.form.clone(), b.form.clone()])?;
        Some(self.by_cases((Function::Min, branches), &limits, unsigned, [a, b]))
    }

    /// The larger one of two values.
    fn larger(&mut self, a: &Affine, b: &Affine, unsigned: bool) -> Option<Affine> {
        if self.never_negative(&a.form.minus(&b.form)?) {
            return Some(exactly(a, b));
        }
        if self.never_negative(&b.form.minus(&a.form)?) {
            return Some(exactly(b, a));
        }
        let limits = [a, b].map(|other| (Relation::Ge, other.form.clone()));
        let branches = branches([a, b], [a.form.clone(), b.form.clone()])?;
        Some(self.by_cases((Function::Max, branches), &limits, unsigned, [a, b]))
    }

    /// The value of an operation that wraps by definition: the exact one, if the launch shows that nothing wraps.
    fn unless_it_wraps(
        &mut self,
        id: ExprId,
        (op, [a, b]): (BinaryOp, [&Affine; 2]),
        unsigned: bool,
    ) -> Option<Affine> {
        let mut exact = match op {
            BinaryOp::Add => a.plus(b, 1)?,
            BinaryOp::Sub => a.plus(b, -1)?,
            _ => match (a.form.uniform(), b.form.uniform()) {
                (_, Some(by)) => a.with(a.form.times(by)?).with_conditions(b),
                (Some(by), None) => b.with(b.form.times(by)?).with_conditions(a),
                (None, None) => return None,
            },
        };
        exact.exact.push(id);
        let branch = Branch {
            value: Some(exact),
            facts: vec![],
        };
        let in_common = [a, b].iter().all(|part| part.form.uniform().is_some());
        let number = self.terms().defined(Definition::ByCases {
            function: Function::Wrapping,
            operands: vec![],
            branches: vec![branch],
        });
        // Of the result itself nothing is known, under no conditions.
        Some(Affine::of(term_form(number, unsigned, in_common)))
    }

    /// The quotient by a value that may be negative. It is known if that is positive.
    pub(super) fn signed_quotient(
        &mut self,
        dividend: &Affine,
        divisor: &Affine,
        natural: bool,
    ) -> Option<Affine> {
        let quotient = self.quotient_term(dividend, divisor, natural)?;
        let zero = Form::constant(0);
        let branches = vec![
            Branch {
                value: Some(quotient),
                facts: vec![Fact::of(Relation::Gt, &divisor.form, &zero)?],
            },
            Branch {
                value: None,
                facts: vec![Fact::of(Relation::Lt, &divisor.form, &zero)?],
            },
        ];
        Some(self.by_cases(
            (Function::Choice, branches),
            &[],
            false,
            [dividend, divisor],
        ))
    }

    /// The quotient of a value that may be negative, rounded towards 0. It is known if the value is not negative.
    pub(super) fn truncated_quotient(
        &mut self,
        dividend: &Affine,
        divisor: &Affine,
    ) -> Option<Affine> {
        let quotient = self.quotient_term(dividend, divisor, false)?;
        let zero = Form::constant(0);
        let branches = vec![
            Branch {
                value: Some(quotient),
                facts: vec![Fact::of(Relation::Ge, &dividend.form, &zero)?],
            },
            Branch {
                value: None,
                facts: vec![Fact::of(Relation::Lt, &dividend.form, &zero)?],
            },
        ];
        let of = (Function::Choice, branches);
        Some(self.by_cases(of, &[], false, [dividend, divisor]))
    }

    /// The bits of an unsigned value in reverse order.
    fn reversed(&mut self, of: &Affine, bits: u32) -> Affine {
        let function = Function::Reversed { bits, shift: 0 };
        let definition = Definition::Injective(function, of.form.clone());
        self.defined(definition, true, [of, of]).1
    }

    /// Reversed bits, shifted to the right. The result depends on the low bits of the value alone.
    pub(super) fn reversed_low_bits(&mut self, dividend: &Affine, divisor: i128) -> Option<Affine> {
        let Some(Atom::Term(number, _)) = dividend.form.sole_atom() else {
            return None;
        };
        let definition = &self.terms().get(number).definition;
        let Definition::Injective(Function::Reversed { bits, shift: 0 }, of) = definition else {
            return None;
        };
        let (bits, of) = (*bits, dividend.with(of.clone()));
        let shift = divisor.trailing_zeros();
        let left = bits
            .checked_sub(shift)
            .filter(|_| divisor.count_ones() == 1)?;
        let most = Form::constant((1_i128 << left) - 1);
        let function = Function::Reversed { bits, shift };
        let definition = Definition::Injective(function, of.form.clone());
        let low = self.defined(definition, true, [&of, &of]).1;
        let branches = vec![
            Branch {
                value: Some(Affine::of(low.form)),
                facts: vec![Fact::of(Relation::Le, &of.form, &most)?],
            },
            Branch {
                value: None,
                facts: vec![Fact::of(Relation::Gt, &of.form, &most)?],
            },
        ];
        let limits = [(Relation::Le, most)];
        Some(self.by_cases((function, branches), &limits, true, [&of, &of]))
    }

    /// States that a value is a power of two, or 0, if these expressions do not overflow.
    pub fn state_power_of_two(&mut self, value: &Form<Poly>, exact: Vec<ExprId>) {
        if let Some(value) = value.uniform() {
            self.powers_of_two.push((value.clone(), exact));
        }
    }

    /// 2 to the power of a value that the threads have in common: at least 1.
    pub(super) fn power_term(&mut self, exponent: &Affine) -> Option<Affine> {
        self.terms.as_ref()?;
        // `2^(k + 1)` is twice `2^k`.
        let rest = exponent.form.uniform()?;
        let mut terms = rest.terms()?;
        let more = terms.find_map(|(symbols, v)| symbols.is_empty().then_some(v));
        if let Some(more @ 1..32) = more
            && rest.as_constant().is_none()
        {
            let less = exponent.with(Form::of(rest.minus(&Poly::constant(more))));
            let power = self.power_term(&less)?;
            return Some(power.with(power.form.times(&Poly::constant(1 << more))?));
        }
        let limits = [(Relation::Ge, Form::constant(1))];
        let of = (Function::Power, vec![]);
        let power = self.by_cases(of, &limits, true, [exponent, exponent]);
        self.state_power_of_two(&power.form, vec![]);
        Some(power)
    }

    /// The expressions that must not overflow for a value to be a power of two, or 0: half of such a value is one.
    pub fn is_power_of_two(&self, value: &Form<Poly>) -> Option<Vec<ExprId>> {
        let value = value.uniform()?;
        let mut powers = self.powers_of_two.iter();
        let known = powers.find(|(power, _)| {
            let (factor, rest) = value.divided(power);
            let by = factor.as_constant().filter(|by| *by > 0);
            rest.is_zero() && by.is_some_and(|by| by.count_ones() == 1)
        });
        if let Some((_, exact)) = known {
            return Some(exact.clone());
        }
        let Some(Symbol::Term(number, _)) = value.lone_symbols().next() else {
            return None;
        };
        let whole = *value == Poly::symbol(Symbol::Term(number, true));
        match &self.terms.as_ref()?.get(number).definition {
            Definition::Quotient { dividend, divisor } if whole => {
                let by = divisor.as_constant()?;
                let halves = by > 0 && by.count_ones() == 1;
                halves.then(|| self.is_power_of_two(dividend))?
            }
            _ => None,
        }
    }

    /// The bitwise and with `p - 1`, where `p` is a power of two: a remainder. If `p` is 0, the mask overflows.
    fn low_bits(&mut self, value: &Affine, mask: &Affine) -> Option<Affine> {
        let end = mask.form.plus(&Form::constant(1), &Poly::constant(1))?;
        let exact = self.is_power_of_two(&end)?;
        let mut divisor = mask.with(end);
        divisor.exact.extend(exact);
        let quotient = self.quotient_term(value, &divisor, true)?;
        let whole = quotient.with(quotient.form.times(divisor.form.uniform()?)?);
        let mut low = value.plus(&whole, -1)?;
        low.needs_exact = true;
        Some(low)
    }

    /// The bitwise and of two unsigned values.
    pub(super) fn and_term(&mut self, a: &Affine, b: &Affine) -> Option<Affine> {
        self.terms.as_ref()?;
        // One order, so that a guard and an index have the same term.
        let [a, b] = match (a.form.uniform(), b.form.uniform()) {
            (Some(_), None) => [b, a],
            (_, _) => [a, b],
        };
        let by_power = self.low_bits(a, b).or_else(|| self.low_bits(b, a));
        if by_power.is_some() {
            return by_power;
        }
        if let Some(exact) = self.are_disjoint(a, b) {
            let mut none = a.with(Form::constant(0)).with_conditions(b);
            none.exact.extend(exact);
            none.needs_exact = true;
            return Some(none);
        }
        let by_bit = self.single_bit(a, b).or_else(|| self.single_bit(b, a));
        if by_bit.is_some() {
            return by_bit;
        }
        let (low, of) = match (a.form.low_zeros(), b.form.low_zeros()) {
            (of_a, of_b) if of_a >= of_b => (of_a, b),
            (_, of_b) => (of_b, a),
        };
        // The low bits of one operand are 0. If the other has no others, nothing is left.
        let end = Form::constant(1 << low);
        let branches = vec![
            Branch {
                value: Some(Affine::of(Form::constant(0))),
                facts: vec![Fact::of(Relation::Lt, &of.form, &end)?],
            },
            Branch {
                value: None,
                facts: vec![Fact::of(Relation::Ge, &of.form, &end)?],
            },
        ];
        let branches = if low == 0 { vec![] } else { branches };
        let limits = [a, b].map(|other| (Relation::Le, other.form.clone()));
        Some(self.by_cases((Function::And, branches), &limits, true, [a, b]))
    }

    /// A function of two values with these branches and limits.
    pub(super) fn by_cases(
        &mut self,
        (function, branches): (Function, Vec<Branch>),
        limits: &[Limit],
        unsigned: bool,
        of: [&Affine; 2],
    ) -> Affine {
        let definition = Definition::ByCases {
            function,
            operands: of.iter().map(|operand| operand.form.clone()).collect(),
            branches,
        };
        let (number, value) = self.defined(definition, unsigned, of);
        if self.terms().get(number).facts.is_empty() {
            for (by, other) in limits {
                self.limit(number, &value.form, other, *by);
            }
        }
        value
    }

    /// True if each term of a form is at least 0.
    pub(super) fn never_negative(&self, form: &Form<Poly>) -> bool {
        let natural =
            |atom: Atom| matches!(atom, Atom::Id(_)) || atom.is_unsigned_value(self.kernel);
        form.base.is_natural()
            && form
                .terms()
                .iter()
                .all(|(atom, factor)| factor.is_natural() && natural(*atom))
    }
}

/// The first value, if neither overflows.
fn exactly(value: &Affine, other: &Affine) -> Affine {
    let mut value = value.clone().with_conditions(other);
    value.needs_exact = true;
    value
}

/// Two cases: the first value if `large >= small`, and else the second one.
fn branches([large, small]: [&Affine; 2], values: [Form<Poly>; 2]) -> Option<Vec<Branch>> {
    let relations = [Relation::Ge, Relation::Lt];
    let made = relations.into_iter().zip(values).map(|(relation, value)| {
        Some(Branch {
            value: Some(Affine::of(value)),
            facts: vec![Fact::of(relation, &large.form, &small.form)?],
        })
    });
    made.collect()
}
