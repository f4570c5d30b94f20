//! Soundness tests of the questions: answers about random forms hold for all values of their atoms.

use super::{Atom, Coefficient, Form, Interval, Known, Limits, Poly, Quotients, Relation, Symbol};
use crate::analysis::random::Rng;
use crate::{Axis, Builtin, LocalId, Memory, ParamId};

const ATOMS: [Atom; 3] = [
    Atom::Id(Builtin::ThreadIdx(Axis::X)),
    Atom::Local(LocalId(0)),
    Atom::Local(LocalId(1)),
];

/// The largest value of each atom; the least is 0.
const MOST: i128 = 5;

const RELATIONS: [Relation; 6] = [
    Relation::Lt,
    Relation::Le,
    Relation::Gt,
    Relation::Ge,
    Relation::Eq,
    Relation::Ne,
];

fn form(rng: &mut Rng) -> Form<i128> {
    let mut small = || rng.below(9) as i128 - 4;
    let mut form = Form::constant(small());
    for atom in ATOMS {
        form.set(atom, small());
    }
    form
}

/// All values of the atoms.
fn points() -> impl Iterator<Item = [i128; 3]> {
    (0..=MOST).flat_map(|a| (0..=MOST).flat_map(move |b| (0..=MOST).map(move |c| [a, b, c])))
}

fn value(form: &Form<i128>, at: [i128; 3]) -> i128 {
    let of = |atom: &Atom| ATOMS.iter().position(|a| a == atom).map(|k| at[k]);
    let terms = form.terms().iter();
    let terms = terms.map(|(atom, c)| c * of(atom).expect("an atom of the test"));
    form.base + terms.sum::<i128>()
}

/// The bounds of a test.
struct Bounds(Vec<(Form<i128>, Interval)>);

impl Known for Bounds {
    fn of_atom(&self, _: Atom) -> Interval {
        Interval::new(0, MOST)
    }

    fn each_bounded(&self, show: &mut dyn FnMut(&Form<i128>, Interval)) {
        self.0.iter().for_each(|(form, range)| show(form, *range));
    }
}

#[test]
fn bounds_hold_at_every_point_that_passes_the_guards() {
    let mut rng = Rng(7);
    let mut tighter = 0;
    for _ in 0..400 {
        let guards: Vec<_> = (0..2)
            .map(|_| (rng.pick(&RELATIONS), form(&mut rng)))
            .collect();
        let limits = guards.iter().filter_map(|(r, f)| Limits::of(*r, f.clone()));
        let bounded = limits.filter_map(|limits| limits.form.in_lowest_terms(limits.range()));
        let known = Bounds(bounded.collect());
        let asked = form(&mut rng);
        let range = known.bound(&asked);
        let span = asked.span(|_| Some((0, MOST))).expect("numbers have signs");
        assert_eq!(
            asked.range(|_| Interval::new(0, MOST)),
            Interval::new(span.0, span.1)
        );
        assert!(range.within(Interval::new(span.0, span.1)));
        tighter += usize::from(range != Interval::new(span.0, span.1));
        for at in points() {
            let zero = Interval::exactly(0);
            let passes = guards.iter().all(|(relation, difference)| {
                let difference = Interval::exactly(value(difference, at));
                relation.decided(difference, zero) == Interval::exactly(1)
            });
            assert!(
                !passes || range.contains(value(&asked, at)),
                "{guards:?} {asked:?}"
            );
        }
    }
    assert!(tighter > 40, "{tighter}");
}

#[test]
fn a_remainder_is_below_its_divisor() {
    let mut rng = Rng(3);
    for _ in 0..100 {
        let (dividend, divisor) = (form(&mut rng), 1 + rng.below(6) as i128);
        let mut quotients = Quotients::default();
        let quotient = quotients
            .quotient(&dividend, divisor)
            .expect("small numbers");
        assert_eq!(
            quotients.quotient(&dividend, divisor),
            Some(quotient.clone())
        );
        let Some(Atom::Quotient(number)) = quotient.sole_atom() else {
            assert!(dividend.as_constant().is_some());
            continue;
        };
        let remainder = &quotients.get(number).remainder;
        for at in points() {
            let of = value(&dividend, at).div_euclid(divisor);
            let mut rest = remainder.clone();
            rest.set(Atom::Quotient(number), 0);
            let left = value(&rest, at) + remainder.coefficient(Atom::Quotient(number)) * of;
            assert!((0..divisor).contains(&left), "{dividend:?} / {divisor}");
        }
    }
}

#[test]
fn a_launch_turns_polynomials_into_numbers() {
    let len = Symbol::Len(Memory::Slice(ParamId(0)));
    let mut symbolic = Form::<Poly>::constant(3);
    symbolic.set(ATOMS[0], Poly::symbol(len).times(&Poly::symbol(len)));
    symbolic.set(ATOMS[1], Poly::symbol(len).minus(&Poly::constant(7)));
    let numeric = symbolic.map(|poly| poly.evaluate(|_| 7)).expect("numbers");
    assert_eq!(numeric.terms(), [(ATOMS[0], 49)], "the second factor is 0");
    assert_eq!(symbolic.map(|poly| poly.evaluate(|_| i128::MAX)), None);
}

#[test]
fn what_is_unknown_proves_nothing() {
    let huge = Poly::constant(i128::MAX);
    let sum = huge.plus(&Poly::constant(1));
    assert!(!sum.is_natural() && !sum.is_zero() && !sum.is_odd() && sum.as_constant().is_none());
    assert_ne!(sum, sum.clone());
    assert_ne!(sum.minus(&sum), Poly::default());
    assert!(!sum.is_multiple_of(&Poly::constant(1)) && !sum.times(&Poly::default()).is_zero());
    assert_eq!(huge.checked_plus(&Poly::constant(1)), None);
    assert_eq!(huge.checked_times(&Poly::constant(2)), None);
    assert_eq!(sum.evaluate(|_| 0), None);
    let (quotient, rest) = sum.divided(&Poly::constant(2));
    assert!(!rest.is_natural() && !quotient.is_odd());
}
