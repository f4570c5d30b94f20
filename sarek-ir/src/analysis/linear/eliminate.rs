//! Bounds of numeric forms by elimination.
//!
//! The range of a form follows from the ranges of its atoms, by interval arithmetic. It also follows from each
//! *bounded form* of which a multiple can be subtracted so that fewer atoms are left: the multiple's range, plus
//! the range of the remainder. Atoms are eliminated in this way as long as bounded forms fit, and the tightest
//! result counts. These are the steps of Fourier–Motzkin elimination that cancel an atom exactly; combinations
//! that would first need to scale both sides are not tried. [`REMAINDERS`] limits the work.

use super::{Atom, Form, Interval};

/// The largest number of remainders that are examined for the range of one form.
const REMAINDERS: usize = 64;

/// The known bounds at one point of the code.
pub trait Known {
    /// The range of an atom.
    fn of_atom(&self, atom: Atom) -> Interval;

    /// Calls `show` for every form with a bound that does not follow from its atoms.
    fn each_bounded(&self, show: &mut dyn FnMut(&Form<i128>, Interval));

    /// The range of a form.
    fn bound(&self, form: &Form<i128>) -> Interval {
        within(self, form, &mut Vec::new())
    }
}

/// The range of a form. `seen` caches the remainders already examined, because many paths lead to the same one.
fn within<K: Known + ?Sized>(
    known: &K,
    form: &Form<i128>,
    seen: &mut Vec<(Form<i128>, Interval)>,
) -> Interval {
    let plain = form.range(|atom| known.of_atom(atom));
    if form.terms().is_empty() {
        return plain;
    }
    if let Some((_, range)) = seen.iter().find(|(of, _)| of == form) {
        return *range;
    }
    let mut range = plain;
    known.each_bounded(&mut |part, of| {
        for (by, rest) in form.without(part) {
            if seen.len() < REMAINDERS {
                let rest = within(known, &rest, seen);
                let whole = of.times(Interval::exactly(by)).plus(rest);
                range = range.meet(whole);
            }
        }
    });
    let range = if range.is_empty() { plain } else { range };
    seen.push((form.clone(), range));
    range
}
