//! Variables and their products.

/// An integer variable of a [`System`](super::System).
///
/// Numbers from 1 to 127 are variables that are never negative, those above 128 may be negative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Var(u8);

/// The bit of a variable's number that is set if its value may be negative.
const SIGNED: u8 = 0x80;

impl Var {
    /// The variable with an index among those of its kind; `None` if there are no more.
    pub(super) fn new(index: u8, natural: bool) -> Option<Var> {
        let number = index.checked_add(1).filter(|n| n & SIGNED == 0)?;
        Some(Var(if natural { number } else { number | SIGNED }))
    }

    pub(super) fn is_natural(self) -> bool {
        self.0 & SIGNED == 0
    }

    /// The number of the variable, an index into tables of 256 elements.
    pub(super) fn number(self) -> usize {
        usize::from(self.0)
    }
}

/// A product of at most eight variables.
///
/// The numbers of the variables are bytes, the greatest first, and the rest of the bytes are 0. Comparing the packed
/// numbers is the lexicographic monomial order: it is kept by multiplication, and [`Monomial::ONE`] is the smallest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Monomial(pub u64);

/// The shift of the first variable.
const FIRST: u32 = 56;
/// The bits of a variable.
const BITS: u32 = 8;

impl Monomial {
    pub const ONE: Monomial = Monomial(0);

    pub fn var(var: Var) -> Monomial {
        Monomial(u64::from(var.0) << FIRST)
    }

    /// The number of factors.
    pub fn degree(self) -> u32 {
        match self.0 {
            0 => 0,
            packed => BITS - packed.trailing_zeros() / BITS,
        }
    }

    /// True if no factor may be negative.
    pub fn is_natural(self) -> bool {
        const ALL: u64 = u64::from_be_bytes([SIGNED; 8]);
        self.0 & ALL == 0
    }

    /// The factors, the greatest first.
    pub fn vars(self) -> impl Iterator<Item = Var> {
        let factors = self.0.to_be_bytes().into_iter();
        factors.take_while(|n| *n != 0).map(Var)
    }

    /// The exponent of a variable.
    pub fn exponent(self, var: Var) -> u32 {
        let (mut left, mut count) = (self.0, 0);
        while left != 0 {
            count += u32::from(left >> FIRST == u64::from(var.0));
            left <<= BITS;
        }
        count
    }

    /// The product; `None` if its degree exceeds 8.
    pub fn times(self, other: Monomial) -> Option<Monomial> {
        if other.0 == 0 {
            return Some(self);
        }
        if self.0 == 0 {
            return Some(other);
        }
        if self.degree() + other.degree() > 8 {
            return None;
        }
        let (mut a, mut b) = (self.0, other.0);
        let (mut product, mut shift) = (0, FIRST + BITS);
        while a != 0 || b != 0 {
            shift -= BITS;
            let (x, y) = (a >> FIRST, b >> FIRST);
            if x >= y {
                product |= x << shift;
                a <<= BITS;
            } else {
                product |= y << shift;
                b <<= BITS;
            }
        }
        Some(Monomial(product))
    }

    /// The quotient, if the divisor's factors are among the factors.
    pub fn divided(self, divisor: Monomial) -> Option<Monomial> {
        if divisor.0 == 0 {
            return Some(self);
        }
        let (mut a, mut d) = (self.0, divisor.0);
        let (mut quotient, mut shift) = (0, FIRST + BITS);
        while a != 0 {
            let (x, y) = (a >> FIRST, d >> FIRST);
            if x < y {
                return None;
            }
            a <<= BITS;
            if x == y {
                d <<= BITS;
            } else {
                shift -= BITS;
                quotient |= x << shift;
            }
        }
        (d == 0).then_some(Monomial(quotient))
    }

    /// The greatest common divisor.
    pub fn common(self, other: Monomial) -> Monomial {
        let (mut a, mut b) = (self.0, other.0);
        let (mut common, mut shift) = (0, FIRST + BITS);
        while a != 0 && b != 0 {
            let (x, y) = (a >> FIRST, b >> FIRST);
            if x == y {
                shift -= BITS;
                common |= x << shift;
            }
            if x >= y {
                a <<= BITS;
            }
            if y >= x {
                b <<= BITS;
            }
        }
        Monomial(common)
    }
}
