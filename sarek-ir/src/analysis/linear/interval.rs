//! Intervals of integers, and the results of operators on them before wrapping.

use crate::{Scalar, Type};

/// All integers from `lo` to `hi`; empty if `lo > hi`. A `bool` is 0 or 1. Any other value is
/// [`Interval::ANY`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval {
    /// The smallest value.
    pub lo: i128,
    /// The largest value.
    pub hi: i128,
}

impl Interval {
    /// All integers, or a value that is not an integer.
    pub const ANY: Interval = Interval::new(i128::MIN, i128::MAX);
    /// The values of a `bool`.
    pub const BIT: Interval = Interval::new(0, 1);

    /// All integers from `lo` to `hi`.
    pub const fn new(lo: i128, hi: i128) -> Interval {
        Interval { lo, hi }
    }

    /// One integer.
    pub const fn exactly(v: i128) -> Interval {
        Interval::new(v, v)
    }

    /// All integers from `lo` on.
    pub const fn at_least(lo: i128) -> Interval {
        Interval::new(lo, i128::MAX)
    }

    /// All integers up to `hi`.
    pub const fn at_most(hi: i128) -> Interval {
        Interval::new(i128::MIN, hi)
    }

    /// The range of a type.
    pub const fn of(ty: Scalar) -> Interval {
        match ty {
            Scalar::Bool => Interval::BIT,
            Scalar::I8 => Interval::new(i8::MIN as i128, i8::MAX as i128),
            Scalar::U8 => Interval::new(0, u8::MAX as i128),
            Scalar::I16 => Interval::new(i16::MIN as i128, i16::MAX as i128),
            Scalar::U16 => Interval::new(0, u16::MAX as i128),
            Scalar::I32 => Interval::new(i32::MIN as i128, i32::MAX as i128),
            Scalar::U32 => Interval::new(0, u32::MAX as i128),
            Scalar::I64 => Interval::new(i64::MIN as i128, i64::MAX as i128),
            Scalar::U64 | Scalar::Usize => Interval::new(0, u64::MAX as i128),
            Scalar::F16 | Scalar::Bf16 | Scalar::F32 | Scalar::F64 => Interval::ANY,
        }
    }

    /// The range of a type. The elements of arrays are not tracked.
    pub const fn of_type(ty: Type) -> Interval {
        match ty {
            Type::Scalar(scalar) => Interval::of(scalar),
            Type::Compound(_) => Interval::ANY,
        }
    }

    /// True if it contains nothing.
    pub const fn is_empty(self) -> bool {
        self.lo > self.hi
    }

    /// The value, if there is only one.
    pub const fn exact(self) -> Option<i128> {
        if self.lo == self.hi {
            Some(self.lo)
        } else {
            None
        }
    }

    /// True if the other interval contains this one.
    pub const fn within(self, other: Interval) -> bool {
        self.lo >= other.lo && self.hi <= other.hi
    }

    /// True if it contains an integer.
    pub const fn contains(self, v: i128) -> bool {
        self.lo <= v && v <= self.hi
    }

    /// The intersection.
    pub fn meet(self, other: Interval) -> Interval {
        Interval::new(self.lo.max(other.lo), self.hi.min(other.hi))
    }

    /// The interval without the only value of another one, if that is at an end.
    pub fn without(self, other: Interval) -> Interval {
        match other.exact() {
            Some(v) if v == self.lo => Interval::new(v + 1, self.hi),
            Some(v) if v == self.hi => Interval::new(self.lo, v - 1),
            Some(_) | None => self,
        }
    }

    /// The smallest interval that contains both. An empty interval adds nothing.
    pub fn join(self, other: Interval) -> Interval {
        if self.is_empty() {
            other
        } else if other.is_empty() {
            self
        } else {
            Interval::new(self.lo.min(other.lo), self.hi.max(other.hi))
        }
    }

    /// Adds a number.
    pub fn shift_by(self, d: i128) -> Interval {
        Interval::new(self.lo.saturating_add(d), self.hi.saturating_add(d))
    }

    /// The sums.
    pub fn plus(self, o: Interval) -> Interval {
        Interval::new(self.lo.saturating_add(o.lo), self.hi.saturating_add(o.hi))
    }

    /// The differences.
    pub fn minus(self, o: Interval) -> Interval {
        Interval::new(self.lo.saturating_sub(o.hi), self.hi.saturating_sub(o.lo))
    }

    /// The negations.
    pub fn negated(self) -> Interval {
        Interval::exactly(0).minus(self)
    }

    /// The smallest interval for an operation that is monotone in each operand.
    fn corners(self, o: Interval, f: impl Fn(i128, i128) -> i128) -> Interval {
        let (a, b) = (f(self.lo, o.lo), f(self.lo, o.hi));
        let (c, d) = (f(self.hi, o.lo), f(self.hi, o.hi));
        Interval::new(a.min(b).min(c.min(d)), a.max(b).max(c.max(d)))
    }

    /// The products.
    pub fn times(self, o: Interval) -> Interval {
        if self.lo >= 0 && o.lo >= 0 {
            return Interval::new(self.lo.saturating_mul(o.lo), self.hi.saturating_mul(o.hi));
        }
        self.corners(o, i128::saturating_mul)
    }

    /// Division rounded towards zero; `o` must not contain 0.
    pub fn quotient(self, o: Interval) -> Interval {
        if self.lo >= 0 && o.lo > 0 {
            return Interval::new(self.lo / o.hi, self.hi / o.lo);
        }
        self.corners(o, |a, b| a / b)
    }

    /// Euclidean division; `o` must not contain 0.
    pub fn quotient_euclid(self, o: Interval) -> Interval {
        self.corners(o, i128::div_euclid)
    }

    /// The largest remainder of a division by a value of `self`.
    fn largest_remainder(self) -> i128 {
        self.lo.saturating_abs().max(self.hi.saturating_abs()) - 1
    }

    /// The remainder of [`Interval::quotient`].
    pub fn remainder(self, o: Interval) -> Interval {
        if let Some(d) = o.exact()
            && self.lo / d == self.hi / d
        {
            return Interval::new(self.lo % d, self.hi % d);
        }
        if self.lo >= 0 && self.hi < o.lo {
            return self;
        }
        let most = o.largest_remainder();
        let lo = if self.lo < 0 { self.lo.max(-most) } else { 0 };
        let hi = if self.hi > 0 { self.hi.min(most) } else { 0 };
        Interval::new(lo, hi)
    }

    /// The remainder of [`Interval::quotient_euclid`].
    pub fn remainder_euclid(self, o: Interval) -> Interval {
        if let Some(d) = o.exact()
            && self.lo.div_euclid(d) == self.hi.div_euclid(d)
        {
            return Interval::new(self.lo.rem_euclid(d), self.hi.rem_euclid(d));
        }
        if self.lo >= 0 {
            return self.remainder(o);
        }
        Interval::new(0, o.largest_remainder())
    }

    /// `self << count`, for counts of 0 to 63.
    pub fn shifted_left(self, count: Interval) -> Interval {
        self.times(Interval::new(1 << count.lo, 1 << count.hi))
    }

    /// `self >> count`, arithmetic, for counts of 0 to 63.
    pub fn shifted_right(self, count: Interval) -> Interval {
        self.corners(count, |v, by| v >> by)
    }

    /// The smaller values.
    pub fn min(self, o: Interval) -> Interval {
        Interval::new(self.lo.min(o.lo), self.hi.min(o.hi))
    }

    /// The larger values.
    pub fn max(self, o: Interval) -> Interval {
        Interval::new(self.lo.max(o.lo), self.hi.max(o.hi))
    }

    /// Clamps every value to `to`.
    pub fn saturated(self, to: Interval) -> Interval {
        self.max(Interval::exactly(to.lo))
            .min(Interval::exactly(to.hi))
    }

    /// The absolute values.
    pub fn abs(self) -> Interval {
        self.max(self.negated()).meet(Interval::at_least(0))
    }

    /// `self & o`; `full` is the type's range.
    pub fn and(self, o: Interval, full: Interval) -> Interval {
        match (self.lo >= 0, o.lo >= 0) {
            (true, true) => Interval::new(0, self.hi.min(o.hi)),
            (true, false) => Interval::new(0, self.hi),
            (false, true) => Interval::new(0, o.hi),
            (false, false) => full,
        }
    }

    /// `self | o` if `or`, else `self ^ o`; `full` is the type's range.
    pub fn or_xor(self, o: Interval, or: bool, full: Interval) -> Interval {
        if self.lo < 0 || o.lo < 0 {
            return full;
        }
        let lo = if or { self.lo.max(o.lo) } else { 0 };
        let bits = 128 - self.hi.max(o.hi).leading_zeros();
        Interval::new(
            lo,
            if bits >= 127 {
                i128::MAX
            } else {
                (1 << bits) - 1
            },
        )
    }

    /// Powers of a base that is not negative.
    pub fn power(self, exponent: Interval) -> Interval {
        self.corners(exponent, |b, e| {
            b.saturating_pow(e.clamp(0, u32::MAX.into()) as u32)
        })
    }
}
