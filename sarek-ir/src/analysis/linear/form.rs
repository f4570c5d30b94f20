//! Linear sums of exact integers: `constant + Σ factor · atom`.

use super::interval::Interval;
use crate::{Builtin, LocalId};

/// The largest number of atoms in a sum. Longer sums are not tracked.
const MOST: usize = 6;

/// A variable of a sum, see [`Meaning`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Atom(u32);

/// The value that an [`Atom`] stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    /// An id.
    Id(Builtin),
    /// The current value of a local.
    Local(LocalId),
    /// A quotient, by its number in the analysis.
    Quotient(usize),
}

const LOCALS: u32 = 32;
const QUOTIENTS: u32 = 1 << 31;

impl Atom {
    pub fn id(builtin: Builtin) -> Atom {
        Atom(super::env::slot(builtin) as u32)
    }

    pub fn local(local: LocalId) -> Atom {
        Atom(LOCALS + local.0)
    }

    pub fn quotient(number: usize) -> Atom {
        Atom(QUOTIENTS + number as u32)
    }

    pub fn meaning(self) -> Meaning {
        match self.0 {
            n if n >= QUOTIENTS => Meaning::Quotient((n - QUOTIENTS) as usize),
            n if n >= LOCALS => Meaning::Local(LocalId(n - LOCALS)),
            n => Meaning::Id(Builtin::ALL[n as usize].1),
        }
    }
}

/// A linear sum, see the module's documentation. The atoms are sorted, and no factor is 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Sum {
    pub constant: i128,
    terms: [(Atom, i64); MOST],
    len: u8,
}

impl Sum {
    pub fn constant(constant: i128) -> Sum {
        Sum {
            constant,
            terms: [(Atom(0), 0); MOST],
            len: 0,
        }
    }

    pub fn atom(atom: Atom) -> Sum {
        let mut sum = Sum::constant(0);
        sum.terms[0] = (atom, 1);
        sum.len = 1;
        sum
    }

    pub fn terms(&self) -> &[(Atom, i64)] {
        &self.terms[..usize::from(self.len)]
    }

    pub fn as_constant(&self) -> Option<i128> {
        (self.len == 0).then_some(self.constant)
    }

    /// `self + by * other`; `None` if it has too many terms, or a number overflows.
    pub fn plus(&self, other: &Sum, by: i64) -> Option<Sum> {
        let by = i128::from(by);
        let mut sum = Sum::constant(self.constant.checked_add(other.constant.checked_mul(by)?)?);
        let (mut a, mut b) = (self.terms(), other.terms());
        loop {
            let atom = match (a.first(), b.first()) {
                (Some(x), Some(y)) => x.0.min(y.0),
                (Some(x), None) | (None, Some(x)) => x.0,
                (None, None) => return Some(sum),
            };
            let mut factor = 0;
            if let Some((x, rest)) = a.split_first().filter(|(x, _)| x.0 == atom) {
                (factor, a) = (i128::from(x.1), rest);
            }
            if let Some((y, rest)) = b.split_first().filter(|(y, _)| y.0 == atom) {
                factor += i128::from(y.1) * by;
                b = rest;
            }
            sum.push(atom, factor)?;
        }
    }

    fn push(&mut self, atom: Atom, factor: i128) -> Option<()> {
        if factor != 0 {
            let at = usize::from(self.len);
            *self.terms.get_mut(at)? = (atom, i64::try_from(factor).ok()?);
            self.len += 1;
        }
        Some(())
    }

    pub fn times(&self, by: i128) -> Option<Sum> {
        let by = i64::try_from(by).ok()?;
        Sum::constant(0).plus(self, by)
    }

    pub fn factor(&self, atom: Atom) -> i64 {
        let found = self.terms().iter().find(|(a, _)| *a == atom);
        found.map_or(0, |(_, factor)| *factor)
    }

    /// All ways to subtract a multiple of `part` that leave fewer atoms: the multiple, and the remainder.
    pub fn without<'s>(&'s self, part: &'s Sum) -> impl Iterator<Item = (i64, Sum)> + 's {
        let mut tried = 0;
        part.terms().iter().filter_map(move |(atom, factor)| {
            let mine = self.factor(*atom);
            let by = mine.checked_div(*factor).filter(|by| *by != 0)?;
            if mine % factor != 0 || by == tried {
                return None;
            }
            tried = by;
            let rest = self.plus(part, by.checked_neg()?)?;
            (rest.len < self.len).then_some((by, rest))
        })
    }

    /// Normalises a bounded sum: constant 0, no common divisor of the factors, first factor positive. `None` if
    /// the sum is a single atom other than a quotient, whose own range says as much.
    pub fn in_lowest_terms(&self, range: Interval) -> Option<(Sum, Interval)> {
        let (first, _) = self.terms().split_first()?;
        if self.len == 1 && !matches!(first.0.meaning(), Meaning::Quotient(_)) {
            return None;
        }
        let divisor = self
            .terms()
            .iter()
            .fold(0, |a, (_, b)| gcd(a, b.unsigned_abs()));
        let divisor = i64::try_from(divisor).ok()? * first.1.signum();
        let mut sum = Sum::constant(0);
        for (atom, factor) in self.terms() {
            sum.push(*atom, i128::from(factor / divisor))?;
        }
        let range = match divisor < 0 {
            true => range.shift_by(-self.constant).negated(),
            false => range.shift_by(-self.constant),
        };
        let divisor = i128::from(divisor).abs();
        let up = |v: i128| match v {
            i128::MIN | i128::MAX => v,
            _ => -(-v).div_euclid(divisor),
        };
        let down = |v: i128| match v {
            i128::MIN | i128::MAX => v,
            _ => v.div_euclid(divisor),
        };
        Some((sum, Interval::new(up(range.lo), down(range.hi))))
    }

    /// The range of the sum for these ranges of the atoms.
    pub fn range(&self, mut of: impl FnMut(Atom) -> Interval) -> Interval {
        let start = Interval::exactly(self.constant);
        self.terms().iter().fold(start, |sum, &(atom, factor)| {
            sum.plus(of(atom).times(Interval::exactly(factor.into())))
        })
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Axis;

    fn x() -> Sum {
        Sum::atom(Atom::id(Builtin::ThreadIdx(Axis::X)))
    }

    fn local(n: u32) -> Sum {
        Sum::atom(Atom::local(LocalId(n)))
    }

    #[test]
    fn terms_cancel_and_stay_in_order() {
        let sum = local(3).plus(&x(), 2).expect("two terms");
        let also = x().times(2).and_then(|x| x.plus(&local(3), 1));
        assert_eq!(Some(&sum), also.as_ref());
        let none = sum.plus(&sum, -1).expect("no terms");
        assert_eq!(none.as_constant(), Some(0));
        assert_eq!(sum.factor(Atom::local(LocalId(3))), 1);
    }

    #[test]
    fn a_part_is_taken_away() {
        let part = local(1).plus(&x(), 1).expect("two terms");
        let whole = part.times(7).and_then(|w| w.plus(&local(2), 1));
        let whole = whole.expect("three terms");
        assert_eq!(whole.without(&part).collect::<Vec<_>>(), [(7, local(2))]);
        assert_eq!(part.without(&whole).count(), 0);
    }

    #[test]
    fn too_long_and_too_large_sums_are_none() {
        let long = (0..=MOST as u32).try_fold(Sum::constant(0), |sum, n| sum.plus(&local(n), 1));
        assert_eq!(long, None);
        let large = x().times(1 << 40).and_then(|s| s.times(1 << 40));
        assert_eq!(large, None);
    }

    #[test]
    fn every_id_is_an_atom_of_its_own() {
        for (_, builtin) in Builtin::ALL {
            assert_eq!(Atom::id(builtin).meaning(), Meaning::Id(builtin));
        }
    }
}
