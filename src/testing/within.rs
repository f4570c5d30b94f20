//! Ranges from which tests draw random numbers.

use std::fmt::Debug;
use std::ops::{Bound, RangeBounds};

use super::sample::Random;
use crate::{bf16, f16};

/// A number type whose random values tests can draw from a range.
pub trait Within: Copy + Debug + PartialOrd {
    /// The type of range bounds: the type itself, or `f32` for half floats, which have no literals.
    type Bound: Copy;

    /// The smallest and the largest number of the type.
    const ENDS: (Self, Self);

    /// Zero, if it is in the range from `low` to `high`.
    fn zero_between(low: Self, high: Self) -> Option<Self>;

    /// A random number from `low` to `high`, both included.
    fn between(random: &mut Random, low: Self, high: Self) -> Self;

    /// The smallest number that is not below the bound.
    fn at_least(bound: Self::Bound) -> Self;

    /// The largest number that is not above the bound.
    fn at_most(bound: Self::Bound) -> Self;

    /// The largest number below the bound.
    fn below(bound: Self::Bound) -> Self;
}

/// The ends of a range: the smallest and the largest number in it.
///
/// # Panics
/// If the range is empty.
pub(super) fn ends<T: Within>(range: &impl RangeBounds<T::Bound>) -> (T, T) {
    let low = match range.start_bound() {
        Bound::Included(low) => T::at_least(*low),
        Bound::Excluded(_) | Bound::Unbounded => T::ENDS.0,
    };
    let high = match range.end_bound() {
        Bound::Included(high) => T::at_most(*high),
        Bound::Excluded(high) => T::below(*high),
        Bound::Unbounded => T::ENDS.1,
    };
    assert!(
        low <= high,
        "no number is in the range from {low:?} to {high:?}"
    );
    (low, high)
}

macro_rules! plain_bounds {
    ($t:ident) => {
        fn at_least(bound: $t) -> $t {
            bound
        }

        fn at_most(bound: $t) -> $t {
            bound
        }
    };
}

macro_rules! within_integers {
    ($($t:ident)*) => {$(
        impl Within for $t {
            type Bound = $t;

            const ENDS: ($t, $t) = ($t::MIN, $t::MAX);

            fn zero_between(low: $t, high: $t) -> Option<$t> {
                (low..=high).contains(&0).then_some(0)
            }

            fn between(random: &mut Random, low: $t, high: $t) -> $t {
                let span = (high as i128 - low as i128) as u128 + 1;
                (low as i128 + (u128::from(random.bits()) % span) as i128) as $t
            }

            plain_bounds!($t);

            fn below(bound: $t) -> $t {
                bound.saturating_sub(1)
            }
        }
    )*};
}

within_integers!(i8 u8 i16 u16 i32 u32 i64 u64 usize);

macro_rules! within_floats {
    ($($t:ident)*) => {$(
        impl Within for $t {
            type Bound = $t;

            const ENDS: ($t, $t) = ($t::MIN, $t::MAX);

            fn zero_between(low: $t, high: $t) -> Option<$t> {
                (low..=high).contains(&0.0).then_some(0.0)
            }

            fn between(random: &mut Random, low: $t, high: $t) -> $t {
                let part = random.between(0.0, 1.0);
                // This cannot overflow, unlike the difference of the ends.
                let value = f64::from(low) * (1.0 - part) + f64::from(high) * part;
                (value as $t).clamp(low, high)
            }

            plain_bounds!($t);

            fn below(bound: $t) -> $t {
                bound.next_down()
            }
        }
    )*};
}

within_floats!(f32 f64);

macro_rules! within_halves {
    ($($t:ident)*) => {$(
        impl Within for $t {
            type Bound = f32;

            const ENDS: ($t, $t) = ($t::MIN, $t::MAX);

            fn zero_between(low: $t, high: $t) -> Option<$t> {
                (low..=high).contains(&$t::ZERO).then_some($t::ZERO)
            }

            fn between(random: &mut Random, low: $t, high: $t) -> $t {
                let value = random.between(low.into(), high.into());
                let value = $t::from_f64(value);
                if value < low { low } else if value > high { high } else { value }
            }

            fn at_least(bound: f32) -> $t {
                -Self::at_most(-bound)
            }

            fn at_most(bound: f32) -> $t {
                let nearest = $t::from_f32(bound);
                match nearest.to_f32() > bound {
                    true => $t::from_bits(bits_below(nearest.to_bits())),
                    false => nearest,
                }
            }

            fn below(bound: f32) -> $t {
                let nearest = $t::from_f32(bound);
                match nearest.to_f32() >= bound {
                    true => $t::from_bits(bits_below(nearest.to_bits())),
                    false => nearest,
                }
            }
        }
    )*};
}

within_halves!(f16 bf16);

/// The bits of the next smaller number, for a 16-bit float with sign, exponent and mantissa. It
/// must not be NaN.
fn bits_below(bits: u16) -> u16 {
    const SIGN: u16 = 1 << 15;
    match bits {
        0 | SIGN => SIGN | 1,
        negative if negative & SIGN != 0 => negative + 1,
        positive => positive - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_halves_have_the_numbers_between() {
        let (low, high) = ends::<f16>(&(-2.0..2.0));
        assert_eq!((low.to_f32(), high.to_f32()), (-2.0, 2.0 - 1.0 / 1024.0));
        let (low, high) = ends::<f16>(&(0.1..=0.3));
        assert!(low.to_f32() >= 0.1 && high.to_f32() <= 0.3);
        assert!(low.to_f32() < 0.1001 && high.to_f32() > 0.2998);
        let (low, high) = ends::<bf16>(&(0.0..));
        assert_eq!((low, high), (bf16::ZERO, bf16::MAX));
        let (low, high) = ends::<f16>(&(..1e9));
        assert_eq!((low, high), (f16::MIN, f16::MAX));
        let (_, high) = ends::<f16>(&(..0.0));
        assert_eq!(high, -f16::from_bits(1));
        let mut random = Random::new(1);
        for _ in 0..1000 {
            let ends = (bf16::from_f32(-3.0), bf16::from_f32(-1.0));
            let value = bf16::between(&mut random, ends.0, ends.1);
            assert!((ends.0..=ends.1).contains(&value), "{value}");
        }
    }
}
