//! The resolver of values: reads expressions that have no linear form as terms with a definition, see [`Terms`].
//!
//! Each reading is the value of one evaluation by one thread. An expression that may change is therefore read where it
//! is evaluated, and the form kept.

use std::collections::HashSet;

use super::symbol::is_unsigned;
use super::{
    Affine, Atom, Branch, Definition, Fact, Form, Function, Interval, Poly, Relation, Resolver,
    Symbol, Terms, term_form,
};
use crate::{Compound, Expr, ExprId, Kernel, LocalId, NameId, ParamId, Scalar};

impl<'a> Resolver<'a> {
    /// A resolver that also gives expressions without a linear form a value. It treats these parameters as varying.
    pub fn of_values(kernel: &'a Kernel, varying: HashSet<ParamId>) -> Resolver<'a> {
        let mut resolver = Resolver::without_requirements(kernel, varying);
        resolver.terms = Some(Terms::default());
        resolver
    }

    /// The terms of a resolver of values.
    pub fn terms(&mut self) -> &mut Terms {
        self.terms.get_or_insert_default()
    }

    /// States the value of an expression that no rule reads.
    pub fn state_value(&mut self, id: ExprId, value: Affine) {
        self.stated.insert(id, value);
    }

    /// True for a resolver of values.
    pub fn gives_values(&self) -> bool {
        self.terms.is_some()
    }

    /// Adds a fact about the value of a form that is a term.
    pub fn add_fact(&mut self, of: &Form<Poly>, fact: Fact) {
        let symbol = of.uniform().and_then(|base| base.lone_symbols().next());
        let number = match (of.sole_atom(), symbol) {
            (Some(Atom::Term(number, _)), _) | (_, Some(Symbol::Term(number, _))) => number,
            _ => return,
        };
        self.terms().add_fact(number, fact);
    }

    /// A value of which only the type is known.
    pub fn any(&mut self, ty: Scalar, in_common: bool) -> Affine {
        let number = self.terms().any();
        let form = term_form(number, is_unsigned(ty), in_common);
        if ty.bits() < 64 {
            let range = Interval::of(ty);
            self.limit(number, &form, &Form::constant(range.hi), Relation::Le);
            if !is_unsigned(ty) {
                self.limit(number, &form, &Form::constant(range.lo), Relation::Ge);
            }
        }
        Affine::of(form)
    }

    /// Adds the fact that a term stands in a relation to a value.
    pub fn limit(&mut self, number: u32, term: &Form<Poly>, value: &Form<Poly>, by: Relation) {
        if let Some(fact) = Fact::of(by, term, value) {
            self.terms().add_fact(number, fact);
        }
    }

    /// A term with a definition by these values.
    pub(super) fn defined(
        &mut self,
        definition: Definition,
        unsigned: bool,
        of: [&Affine; 2],
    ) -> (u32, Affine) {
        let in_common = of.iter().all(|part| part.form.uniform().is_some());
        let number = self.terms().defined(definition);
        let form = term_form(number, unsigned, in_common);
        let mut value = of[0].with(form).with_conditions(of[1]);
        value.needs_exact = true;
        (number, value)
    }

    /// The product of two values that differ between threads.
    pub fn product_term(&mut self, a: &Affine, b: &Affine, unsigned: bool) -> Option<Affine> {
        self.terms.as_ref()?;
        let definition = Definition::Product(a.form.clone(), b.form.clone());
        Some(self.defined(definition, unsigned, [a, b]).1)
    }

    /// The quotient by a positive value, rounded down.
    pub(super) fn quotient_term(
        &mut self,
        dividend: &Affine,
        divisor: &Affine,
        unsigned: bool,
    ) -> Option<Affine> {
        self.terms.as_ref()?;
        if let Some(by) = divisor.form.as_constant()
            && let Some(low) = self.reversed_low_bits(dividend, by)
        {
            return Some(low);
        }
        let (whole, rest) = self.multiples(&dividend.form, &divisor.form);
        let mut part = match (rest.as_constant(), divisor.form.as_constant()) {
            (Some(rest), Some(by)) if by > 0 => {
                let number = Form::constant(rest.div_euclid(by));
                dividend.with(number).with_conditions(divisor)
            }
            (_, _) => {
                let definition = Definition::Quotient {
                    dividend: rest,
                    divisor: divisor.form.clone(),
                };
                self.defined(definition, unsigned, [dividend, divisor]).1
            }
        };
        part.needs_exact = true;
        part.plus(&Affine::of(whole), 1)
    }

    /// Splits a dividend into a multiple of the divisor, given by the quotient, and a rest that is never negative. The rest
    /// is the whole dividend if there is no such split.
    pub(super) fn multiples(
        &self,
        dividend: &Form<Poly>,
        divisor: &Form<Poly>,
    ) -> (Form<Poly>, Form<Poly>) {
        let none = || (Form::constant(0), dividend.clone());
        let Some(by) = divisor.uniform() else {
            return none();
        };
        let (quotient, rest) = dividend.base.divided(by);
        let (mut whole, mut left) = (Form::of(quotient), Form::of(rest));
        for (atom, factor) in dividend.terms() {
            let (quotient, rest) = factor.divided(by);
            whole.set(*atom, quotient);
            left.set(*atom, rest);
        }
        match self.never_negative(&left) {
            true => (whole, left),
            false => none(),
        }
    }

    /// The exclusive or of two unsigned values.
    pub(super) fn xor_term(&mut self, a: &Affine, b: &Affine) -> Option<Affine> {
        self.terms.as_ref()?;
        let flipped = self.flipped_bit(a, b).or_else(|| self.flipped_bit(b, a));
        if flipped.is_some() {
            return flipped;
        }
        let definition = Definition::Xor(a.form.clone(), b.form.clone());
        Some(self.defined(definition, true, [a, b]).1)
    }

    /// One of some values, each with the facts of its case.
    pub fn one_of(&mut self, cases: Vec<(Affine, Vec<Fact>)>, ty: Scalar) -> Affine {
        let number = self.terms().defined(Definition::OneOf(cases));
        Affine::of(term_form(number, is_unsigned(ty), false))
    }

    /// Gives terms their numbers in each turn of a loop, with the facts of that turn.
    pub fn tell_turns_apart(&mut self, forms: &[Affine], turns: &[(Vec<i128>, Vec<Fact>)]) {
        let numbers = forms.iter().map(|affine| {
            let symbol = affine.form.uniform()?.lone_symbols().next();
            match symbol? {
                Symbol::Term(number, _) if affine.form == term_form(number, true, true) => {
                    Some(number)
                }
                Symbol::Term(number, _) if affine.form == term_form(number, false, true) => {
                    Some(number)
                }
                _ => None,
            }
        });
        let Some(numbers) = numbers.collect::<Option<Vec<u32>>>() else {
            return;
        };
        for (at, number) in numbers.iter().enumerate() {
            let branches = turns.iter().map(|(values, facts)| Branch {
                value: Some(Affine::of(Form::constant(values[at]))),
                facts: facts.clone(),
            });
            self.terms()
                .tell_turns_apart(*number, numbers[0], branches.collect());
        }
    }

    /// The value of an expression that no rule reads: any one.
    pub(super) fn opaque_value(&mut self, id: ExprId) -> Option<Affine> {
        self.terms.as_ref()?;
        if let Some(known) = self.stated.get(&id) {
            return Some(known.clone());
        }
        if let Some((local, name)) = field_of_local(self.kernel, id)
            && let Some(values) = &self.block
            && let Some(known) = values.field(local, name)
        {
            return Some(known);
        }
        let ty = self.kernel.scalar_of(id);
        if let Expr::Cast { arg } = self.kernel.expr(id)
            && let Some(value) = self.zero_or_one(arg, ty)
        {
            return Some(value);
        }
        Some(self.any(ty, false))
    }

    /// A condition that the threads have in common, as a number.
    pub(super) fn common_zero_or_one(&mut self, id: ExprId) -> Option<Affine> {
        self.terms.as_ref()?;
        let Expr::Cast { arg } = self.kernel.expr(id) else {
            return None;
        };
        let is_bool = self.kernel.type_of(arg).as_scalar() == Some(Scalar::Bool);
        let branches = is_bool.then_some([true, false])?.map(|truth| Branch {
            value: Some(Affine::of(Form::constant(truth.into()))),
            facts: self.supposed(arg, truth),
        });
        if branches.iter().any(|branch| branch.facts.is_empty()) {
            return None;
        }
        let one = Affine::of(Form::constant(1));
        let limits = [(Relation::Le, one.form.clone())];
        let of = (Function::Choice, branches.into());
        Some(self.by_cases(of, &limits, true, [&one, &one]))
    }

    /// A condition as a number.
    fn zero_or_one(&mut self, cond: ExprId, ty: Scalar) -> Option<Affine> {
        let is_bool = self.kernel.type_of(cond).as_scalar() == Some(Scalar::Bool);
        let cases = is_bool.then_some([true, false])?.map(|truth| {
            let number = Affine::of(Form::constant(truth.into()));
            (number, self.supposed(cond, truth))
        });
        Some(self.one_of(cases.into(), ty))
    }
}

/// The local and the field, if the expression reads a field of a local.
pub fn field_of_local(kernel: &Kernel, id: ExprId) -> Option<(LocalId, NameId)> {
    let Expr::Compound(compound) = kernel.expr(id) else {
        return None;
    };
    let Compound::Field { base, name } = kernel.compounds[compound.index()] else {
        return None;
    };
    match kernel.expr(base) {
        Expr::Local(local) => Some((local, name)),
        _ => None,
    }
}

/// The fields of a tuple or struct that an expression makes.
pub fn fields_of(kernel: &Kernel, id: ExprId) -> &[(NameId, ExprId)] {
    match kernel.expr(id) {
        Expr::Compound(compound) => match &kernel.compounds[compound.index()] {
            Compound::Construct { fields, .. } => fields,
            _ => &[],
        },
        _ => &[],
    }
}
