//! The coefficients of forms: numbers once a launch is known, polynomials before.

use std::fmt::Debug;

use super::Poly;

/// A ring of coefficients with exact arithmetic. An operation whose result cannot be represented has none.
pub trait Coefficient: Clone + PartialEq + Debug {
    /// A number.
    fn constant(value: i128) -> Self;

    /// The value, if it is a number.
    fn as_constant(&self) -> Option<i128>;

    /// The exact sum.
    fn checked_plus(&self, other: &Self) -> Option<Self>;

    /// The exact product.
    fn checked_times(&self, other: &Self) -> Option<Self>;

    /// True if it is provably at least 0. `false` proves nothing.
    fn is_natural(&self) -> bool;

    /// The number of low bits that are 0 in all its values; 0 has as many as one likes.
    fn low_zeros(&self) -> u32;

    /// True if it is 0.
    fn is_zero(&self) -> bool {
        self.as_constant() == Some(0)
    }

    /// The exact negation.
    fn checked_negation(&self) -> Option<Self> {
        self.checked_times(&Self::constant(-1))
    }
}

impl Coefficient for i128 {
    fn constant(value: i128) -> i128 {
        value
    }

    fn as_constant(&self) -> Option<i128> {
        Some(*self)
    }

    fn checked_plus(&self, other: &i128) -> Option<i128> {
        self.checked_add(*other)
    }

    fn checked_times(&self, other: &i128) -> Option<i128> {
        self.checked_mul(*other)
    }

    fn is_natural(&self) -> bool {
        *self >= 0
    }

    fn low_zeros(&self) -> u32 {
        self.trailing_zeros()
    }
}

impl Coefficient for Poly {
    fn constant(value: i128) -> Poly {
        Poly::constant(value)
    }

    fn as_constant(&self) -> Option<i128> {
        Poly::as_constant(self)
    }

    fn checked_plus(&self, other: &Poly) -> Option<Poly> {
        self.plus(other).known()
    }

    fn checked_times(&self, other: &Poly) -> Option<Poly> {
        self.times(other).known()
    }

    fn is_natural(&self) -> bool {
        Poly::is_natural(self)
    }

    fn low_zeros(&self) -> u32 {
        let zeros = self
            .terms()
            .map(|terms| terms.map(|(_, v)| v.trailing_zeros()).min());
        zeros.map_or(0, |least| least.unwrap_or(i128::BITS))
    }
}
