//! Test values: seeded random ones, and edge cases at which implementations differ.

use std::fmt::Debug;

use super::tolerance::{Format, Tolerance};
use crate::{Element, bf16, f16};

/// The random number generator SplitMix64 by Steele, Lea and Flood (OOPSLA 2014): small, seedable,
/// good enough for inputs.
pub struct Random(u64);

impl Random {
    /// Starts the sequence of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number uniformly distributed in `0..bound`, with a negligible bias.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.bits() % bound
    }

    /// A number uniformly distributed in `lo..hi`.
    pub fn between(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * ((self.bits() >> 11) as f64 / (1u64 << 53) as f64)
    }

    /// Returns `n` `f32`s, uniformly distributed in `lo..hi`.
    pub fn floats(&mut self, n: usize, lo: f32, hi: f32) -> Vec<f32> {
        (0..n)
            .map(|_| self.between(lo.into(), hi.into()) as f32)
            .collect()
    }

    /// Returns `n` random values from the whole range of the type.
    pub fn values<T: Sample>(&mut self, n: usize) -> Vec<T> {
        (0..n).map(|_| T::random(self)).collect()
    }
}

/// An element type whose values tests can generate and compare.
#[diagnostic::on_unimplemented(
    message = "tests cannot make up values of `{Self}`",
    label = "`Sample` is not implemented for it",
    note = "it is for `bool`, integers but `usize`, and floats; a `usize` needs a range, as in `#[within(1..100)] n: usize`, and a \
            type of your own an `impl sarek::testing::Sample`"
)]
pub trait Sample: Element + Default + PartialEq + Debug {
    /// The initial value of elements that no kernel has written.
    const SENTINEL: Self;

    /// Values at which implementations differ. Subnormal `f32`, `f64` and `bf16` are excluded, because
    /// targets may flush them to zero.
    fn edges() -> Vec<Self>;

    /// A random value from the whole range of the type.
    fn random(random: &mut Random) -> Self;

    /// True for equal bits, and for two NaNs.
    fn same(self, other: Self) -> bool;

    /// True for a float within the tolerance of `want`; always false for other types.
    fn is_near(self, _want: f64, _tolerance: Tolerance) -> bool {
        false
    }

    /// True if the value is the same as the expected one, or within the tolerance of it.
    fn agrees(self, want: Self, _tolerance: Tolerance) -> bool {
        self.same(want)
    }

    /// The distance from another value in units in the last place; for finite floats only.
    fn ulps_from(self, _want: Self) -> Option<f64> {
        None
    }
}

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl Sample for $t {
            const SENTINEL: $t = 0x5a5a_5a5a_u64 as $t;

            fn edges() -> Vec<$t> {
                let half = 1 << ($t::BITS / 2);
                let mut edges = vec![
                    0, 1, 2, 3, 7, 31, 32, 33, half, half - 1, $t::MAX, $t::MAX - 1, $t::MAX / 2,
                    $t::MIN, $t::MIN + 1, $t::MIN / 2, !0, !1, !6, $t::MAX / 3,
                ];
                edges.sort_unstable();
                edges.dedup();
                edges
            }

            fn random(random: &mut Random) -> $t {
                let bits = random.bits() as $t;
                // Half of the values are small in magnitude.
                if random.below(2) == 0 { bits >> random.below($t::BITS.into()) } else { bits }
            }

            fn same(self, other: $t) -> bool {
                self == other
            }
        }
    )*};
}

integers!(i8 u8 i16 u16 i32 u32 i64 u64);

/// Implements the comparison of floats of a format.
macro_rules! agreement {
    ($format:expr) => {
        fn agrees(self, want: Self, tolerance: Tolerance) -> bool {
            let exact = tolerance.ulps == 0.0 && tolerance.absolute == 0.0;
            self.same(want) || !exact && self.is_near(want.into(), tolerance)
        }

        fn ulps_from(self, want: Self) -> Option<f64> {
            let (got, want): (f64, f64) = (self.into(), want.into());
            let finite = got.is_finite() && want.is_finite();
            finite.then(|| (got - want).abs() / $format.ulp(want))
        }
    };
}

macro_rules! floats {
    ($($t:ident $bits:ident $format:ident)*) => {$(
        impl Sample for $t {
            const SENTINEL: $t = -123_456.78;

            fn edges() -> Vec<$t> {
                let positive = [
                    0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 0.499_999_97, 1e-3, 10.0, 8_388_609.0,
                    2_147_483_648.0, 4_294_967_296.0, $t::EPSILON, $t::MIN_POSITIVE, $t::MAX,
                    $t::INFINITY,
                ];
                let negative = positive.map(|x: $t| -x);
                positive.into_iter().chain(negative).chain([$t::NAN]).collect()
            }

            fn random(random: &mut Random) -> $t {
                // Any normal number, or one of moderate size.
                if random.below(4) == 0 {
                    let x = $t::from_bits(random.bits() as $bits);
                    if x.is_normal() { x } else { 1.25 }
                } else {
                    random.between(-1000.0, 1000.0) as $t
                }
            }

            fn same(self, other: $t) -> bool {
                self.to_bits() == other.to_bits() || (self.is_nan() && other.is_nan())
            }

            fn is_near(self, want: f64, tolerance: Tolerance) -> bool {
                tolerance.accepts(self.into(), want, Format::$format)
            }

            agreement!(Format::$format);
        }
    )*};
}

floats!(f32 u32 F32 f64 u64 F64);

macro_rules! halves {
    ($($t:ident $sentinel:literal $format:ident [$($edge:expr),*];)*) => {$(
        impl Sample for $t {
            const SENTINEL: $t = $t::from_bits($sentinel);

            fn edges() -> Vec<$t> {
                let positive = [
                    0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 0.1, 1e-3, 10.0, f32::INFINITY, $($edge),*
                ];
                let negative = positive.map(|x: f32| -x);
                let all = positive.into_iter().chain(negative).chain([f32::NAN]);
                all.map($t::from_f32).collect()
            }

            fn random(random: &mut Random) -> $t {
                $t::from_bits(random.bits() as u16)
            }

            fn same(self, other: $t) -> bool {
                self.to_bits() == other.to_bits() || (self.is_nan() && other.is_nan())
            }

            fn is_near(self, want: f64, tolerance: Tolerance) -> bool {
                tolerance.accepts(self.into(), want, Format::$format)
            }

            agreement!(Format::$format);
        }
    )*};
}

// Subnormal numbers of `f16` are included, since they are normal in `f32`, in which devices compute.
halves! {
    f16 0xe5a5 F16 [1023.5, 2049.0, 65504.0, 6e-8, 3e-5, 6.1e-5];
    bf16 0xc7f1 Bf16 [255.5, 257.0, 1e30, bf16::MAX.to_f32(), f32::MIN_POSITIVE, 1e-30];
}

impl Sample for bool {
    const SENTINEL: bool = true;

    fn edges() -> Vec<bool> {
        vec![false, true]
    }

    fn random(random: &mut Random) -> bool {
        random.below(2) == 1
    }

    fn same(self, other: bool) -> bool {
        self == other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_gives_the_published_sequence() {
        let mut random = Random::new(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn edges_reach_the_ends_of_the_types() {
        assert!(i32::edges().contains(&i32::MIN) && i32::edges().contains(&-1));
        assert!(u64::edges().contains(&u64::MAX));
        assert!(f32::edges().iter().any(|x| x.is_nan()));
        assert!(f64::edges().iter().any(|x| x.same(-0.0)));
    }

    #[test]
    fn sameness_tells_zeros_apart_and_joins_nans() {
        assert!(!0.0f32.same(-0.0));
        assert!(f32::NAN.same(-f32::NAN));
        assert!(!f32::NAN.same(0.0));
    }
}
