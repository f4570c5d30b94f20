//! Linear forms: `base + Σ coefficient · atom`.

use super::{Atom, Coefficient, Interval, Poly, Symbol};
use crate::{Axis, ExprId};

/// A linear form. It denotes a mathematical integer, which never wraps.
#[derive(Clone, PartialEq, Debug)]
pub struct Form<C> {
    /// The part without atoms.
    pub base: C,
    /// Sorted by atom, no coefficient 0, so that equal forms compare equal.
    terms: Vec<(Atom, C)>,
}

/// A form together with the conditions under which it is the value of an expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Affine<C = Poly> {
    /// The form.
    pub form: Form<C>,
    /// True if the form holds only if no operation in the expression overflows.
    pub needs_exact: bool,
    /// The form holds only if the launch has at most this many threads along the axis.
    pub extents: Vec<(Axis, u64)>,
    /// The form holds only if these expressions, which assigned the locals that it stands for, did not overflow.
    pub exact: Vec<ExprId>,
}

impl<C: Coefficient> Form<C> {
    /// A form without atoms.
    pub fn of(base: C) -> Form<C> {
        Form {
            base,
            terms: vec![],
        }
    }

    /// The number of low bits that are 0 in all values of the form, at most 31.
    pub fn low_zeros(&self) -> u32 {
        let factors = self.terms.iter().map(|(_, factor)| factor);
        let zeros = factors.chain([&self.base]).map(Coefficient::low_zeros);
        zeros.min().unwrap_or(0).min(31)
    }

    /// A number.
    pub fn constant(value: i128) -> Form<C> {
        Form::of(C::constant(value))
    }

    /// An atom.
    pub fn atom(atom: Atom) -> Form<C> {
        Form {
            base: C::constant(0),
            terms: vec![(atom, C::constant(1))],
        }
    }

    /// The atoms with their coefficients.
    pub fn terms(&self) -> &[(Atom, C)] {
        &self.terms
    }

    fn position(&self, atom: Atom) -> Result<usize, usize> {
        self.terms.binary_search_by(|(of, _)| of.cmp(&atom))
    }

    /// The coefficient of an atom; 0 if it does not occur.
    pub fn coefficient(&self, atom: Atom) -> C {
        match self.position(atom) {
            Ok(at) => self.terms[at].1.clone(),
            Err(_) => C::constant(0),
        }
    }

    /// Replaces an atom's coefficient.
    pub fn set(&mut self, atom: Atom, coefficient: C) {
        match (self.position(atom), coefficient.is_zero()) {
            (Ok(at), false) => self.terms[at].1 = coefficient,
            (Ok(at), true) => _ = self.terms.remove(at),
            (Err(at), false) => self.terms.insert(at, (atom, coefficient)),
            (Err(_), true) => {}
        }
    }

    /// Keeps only the terms that pass a test.
    pub fn retain(&mut self, test: impl FnMut(&(Atom, C)) -> bool) {
        self.terms.retain(test);
    }

    /// The value, if it is the same for all threads.
    pub fn uniform(&self) -> Option<&C> {
        self.terms.is_empty().then_some(&self.base)
    }

    /// The value, if it is a number.
    pub fn as_constant(&self) -> Option<i128> {
        self.uniform()?.as_constant()
    }

    /// The atom, if the form is exactly one atom.
    pub fn sole_atom(&self) -> Option<Atom> {
        match self.terms.as_slice() {
            [(atom, factor)] if self.base.is_zero() && factor.as_constant() == Some(1) => {
                Some(*atom)
            }
            _ => None,
        }
    }

    /// `self + by * other`; `None` if a number does not fit.
    pub fn plus(&self, other: &Form<C>, by: &C) -> Option<Form<C>> {
        let base = self.base.checked_plus(&other.base.checked_times(by)?)?;
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut a, mut b) = (self.terms.as_slice(), other.terms.as_slice());
        loop {
            let (atom, coefficient) = match (a, b) {
                ([], []) => return Some(Form { base, terms }),
                ([x, rest @ ..], [y, ..]) if x.0 < y.0 => {
                    a = rest;
                    x.clone()
                }
                ([x, rest @ ..], [y, others @ ..]) if x.0 == y.0 => {
                    (a, b) = (rest, others);
                    (x.0, x.1.checked_plus(&y.1.checked_times(by)?)?)
                }
                (_, [y, rest @ ..]) => {
                    b = rest;
                    (y.0, y.1.checked_times(by)?)
                }
                ([x, rest @ ..], []) => {
                    a = rest;
                    x.clone()
                }
            };
            if !coefficient.is_zero() {
                terms.push((atom, coefficient));
            }
        }
    }

    /// `self - other`; `None` if a number does not fit.
    pub fn minus(&self, other: &Form<C>) -> Option<Form<C>> {
        self.plus(other, &C::constant(-1))
    }

    /// The product with a value that is the same for all threads; `None` if a number does not fit.
    pub fn times(&self, by: &C) -> Option<Form<C>> {
        Form::constant(0).plus(self, by)
    }

    /// The form with the opposite sign; `None` if a number does not fit.
    pub fn negated(&self) -> Option<Form<C>> {
        self.times(&C::constant(-1))
    }

    /// The form with other coefficients: those of one launch for its symbols, for instance. `None` if one of them
    /// has no image.
    pub fn map<D: Coefficient>(&self, mut image: impl FnMut(&C) -> Option<D>) -> Option<Form<D>> {
        let mut mapped = Form::of(image(&self.base)?);
        for (atom, coefficient) in &self.terms {
            mapped.set(*atom, image(coefficient)?);
        }
        Some(mapped)
    }

    /// The least and the largest value of the form, given those of its atoms. `None` if an atom has none, if the
    /// sign of a coefficient is unknown, or if a number does not fit.
    pub fn span(&self, mut of: impl FnMut(Atom) -> Option<(C, C)>) -> Option<(C, C)> {
        let (mut least, mut most) = (self.base.clone(), self.base.clone());
        for (atom, c) in &self.terms {
            let (low, high) = of(*atom)?;
            let (low, high) = (c.checked_times(&low)?, c.checked_times(&high)?);
            let (low, high) = if c.is_natural() {
                (low, high)
            } else if c.checked_negation()?.is_natural() {
                (high, low)
            } else {
                return None;
            };
            least = least.checked_plus(&low)?;
            most = most.checked_plus(&high)?;
        }
        Some((least, most))
    }
}

impl Form<i128> {
    /// All ways to subtract a multiple of `part` that leave fewer atoms: the multiple, and the remainder.
    pub fn without<'s>(
        &'s self,
        part: &'s Form<i128>,
    ) -> impl Iterator<Item = (i128, Form<i128>)> + 's {
        let mut tried = 0;
        part.terms.iter().filter_map(move |(atom, factor)| {
            let mine = self.coefficient(*atom);
            let by = mine.checked_div(*factor).filter(|by| *by != 0)?;
            if mine.checked_rem(*factor) != Some(0) || by == tried {
                return None;
            }
            tried = by;
            let own = |(atom, _): &&(Atom, i128)| self.position(*atom).is_ok();
            let cancels = |(atom, factor): &&(Atom, i128)| {
                factor.checked_mul(by) == Some(self.coefficient(*atom))
            };
            let added = part.terms.len() - part.terms.iter().filter(own).count();
            if part.terms.iter().filter(cancels).count() <= added {
                return None;
            }
            Some((by, self.plus(part, &by.checked_neg()?)?))
        })
    }

    /// Normalises a bounded form: base 0, no common divisor of the coefficients, first coefficient positive.
    /// `None` if the form is a single atom other than a quotient, whose own range says as much.
    pub fn in_lowest_terms(&self, range: Interval) -> Option<(Form<i128>, Interval)> {
        let (first, factor) = self.terms.first()?;
        if self.terms.len() == 1 && !matches!(first, Atom::Quotient(_)) {
            return None;
        }
        let factors = self.terms.iter().map(|(_, factor)| factor.unsigned_abs());
        let divisor = i128::try_from(factors.fold(0, gcd)).ok()?;
        let signed = divisor * factor.signum();
        let form = Form {
            base: 0,
            terms: self.terms.iter().map(|(a, c)| (*a, c / signed)).collect(),
        };
        let range = range.shift_by(self.base.checked_neg()?);
        let range = match signed < 0 {
            true => range.negated(),
            false => range,
        };
        let is_end = |v: i128| v == i128::MIN || v == i128::MAX;
        let up = |v: i128| {
            if is_end(v) {
                v
            } else {
                -(-v).div_euclid(divisor)
            }
        };
        let down = |v: i128| if is_end(v) { v } else { v.div_euclid(divisor) };
        Some((form, Interval::new(up(range.lo), down(range.hi))))
    }

    /// The range of the form for these ranges of the atoms.
    pub fn range(&self, mut of: impl FnMut(Atom) -> Interval) -> Interval {
        let start = Interval::exactly(self.base);
        self.terms.iter().fold(start, |sum, &(atom, factor)| {
            sum.plus(of(atom).times(Interval::exactly(factor)))
        })
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl<C: Coefficient> Affine<C> {
    /// A form that holds under no conditions.
    pub fn of(form: Form<C>) -> Affine<C> {
        Affine {
            form,
            needs_exact: false,
            extents: vec![],
            exact: vec![],
        }
    }

    /// An atom.
    pub fn atom(atom: Atom) -> Affine<C> {
        Affine::of(Form::atom(atom))
    }

    /// Another form, which holds under the same conditions.
    pub fn with(&self, form: Form<C>) -> Affine<C> {
        Affine {
            form,
            needs_exact: self.needs_exact,
            extents: self.extents.clone(),
            exact: self.exact.clone(),
        }
    }

    /// Adds the conditions of another form from which this one was made.
    pub fn with_conditions(mut self, other: &Affine<C>) -> Affine<C> {
        self.needs_exact |= other.needs_exact;
        self.extents.extend_from_slice(&other.extents);
        let added = other.exact.iter().filter(|e| !self.exact.contains(e));
        let added: Vec<ExprId> = added.copied().collect();
        self.exact.extend(added);
        self
    }

    /// `self + by * other`; `None` if a number does not fit.
    pub fn plus(&self, other: &Affine<C>, by: i128) -> Option<Affine<C>> {
        let form = self.form.plus(&other.form, &C::constant(by))?;
        Some(self.with(form).with_conditions(other))
    }

    /// True if it is an id, perhaps cast, under no conditions except those on extents.
    pub fn is_plain_id(&self) -> bool {
        matches!(self.form.sole_atom(), Some(Atom::Id(_))) && !self.needs_exact
    }
}

impl Form<Poly> {
    /// The symbols of the base and of the factors.
    pub fn symbols(&self) -> impl Iterator<Item = Symbol> {
        let factors = self.terms.iter().map(|(_, factor)| factor);
        let terms = factors
            .chain([&self.base])
            .filter_map(Poly::terms)
            .flatten();
        terms.flat_map(|(symbols, _)| symbols.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builtin, LocalId};

    fn x() -> Form<i128> {
        Form::atom(Atom::Id(Builtin::ThreadIdx(Axis::X)))
    }

    fn local(n: u32) -> Form<i128> {
        Form::atom(Atom::Local(LocalId(n)))
    }

    #[test]
    fn terms_cancel_and_stay_in_order() {
        let sum = local(3).plus(&x(), &2).expect("two terms");
        let also = x().times(&2).and_then(|x| x.plus(&local(3), &1));
        assert_eq!(Some(&sum), also.as_ref());
        let none = sum.minus(&sum).expect("no terms");
        assert_eq!(none.as_constant(), Some(0));
        assert_eq!(sum.coefficient(Atom::Local(LocalId(3))), 1);
    }

    #[test]
    fn a_part_is_taken_away() {
        let part = local(1).plus(&x(), &1).expect("two terms");
        let whole = part.times(&7).and_then(|w| w.plus(&local(2), &1));
        let whole = whole.expect("three terms");
        assert_eq!(whole.without(&part).collect::<Vec<_>>(), [(7, local(2))]);
        assert_eq!(part.without(&whole).count(), 0);
    }

    #[test]
    fn too_large_numbers_are_none() {
        let large = x().times(&(1 << 100));
        assert_eq!(large.and_then(|s| s.times(&(1 << 40))), None);
        assert_eq!(Form::constant(i128::MIN).minus(&x()).map(|_| ()), Some(()));
        assert_eq!(Form::<i128>::constant(i128::MIN).negated(), None);
    }

    #[test]
    fn spans_follow_the_signs_of_coefficients() {
        let of = |_| Some((2, 5));
        let form = x().plus(&local(1), &-3).expect("two terms");
        assert_eq!(form.span(of), Some((2 - 15, 5 - 6)));
        let symbol = Poly::symbol(super::super::Symbol::Len(crate::Memory::Slice(
            crate::ParamId(0),
        )));
        let scaled = Form::atom(Atom::Local(LocalId(0))).times(&symbol);
        let span = scaled.and_then(|f| f.span(|_| Some((Poly::constant(1), Poly::constant(2)))));
        assert_eq!(span, Some((symbol.clone(), symbol.scaled(2))));
    }
}
