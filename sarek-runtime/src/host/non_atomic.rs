//! Atomic operations on memory that only one host thread uses, such as shared arrays. The names are
//! those of the atomics' methods.

/// The operations on numbers that atomics and subgroups need.
pub trait Combine: Copy + 'static {
    /// Adds, wrapping on integers.
    fn add(self, other: Self) -> Self;
    /// Subtracts, wrapping on integers.
    fn sub(self, other: Self) -> Self;
    /// Multiplies, wrapping on integers.
    fn mul(self, other: Self) -> Self;
    /// The smaller one, like the type's `min`.
    fn smaller(self, other: Self) -> Self;
    /// The larger one, like the type's `max`.
    fn larger(self, other: Self) -> Self;
    /// True if both have the same bits.
    fn same(self, other: Self) -> bool;
    /// The neutral element of sums.
    const ZERO: Self;
    /// The neutral element of products.
    const ONE: Self;
}

macro_rules! combine {
    ($($ty:ident: $add:ident $sub:ident $mul:ident $zero:literal $one:literal, $bits:expr;)*) => {$(
        impl Combine for $ty {
            #[inline(always)]
            fn add(self, other: $ty) -> $ty {
                self.$add(other)
            }

            #[inline(always)]
            fn sub(self, other: $ty) -> $ty {
                self.$sub(other)
            }

            #[inline(always)]
            fn mul(self, other: $ty) -> $ty {
                self.$mul(other)
            }

            #[inline(always)]
            fn smaller(self, other: $ty) -> $ty {
                combine!(@ $ty min self other)
            }

            #[inline(always)]
            fn larger(self, other: $ty) -> $ty {
                combine!(@ $ty max self other)
            }

            #[inline(always)]
            fn same(self, other: $ty) -> bool {
                let bits = $bits;
                bits(self) == bits(other)
            }

            const ZERO: $ty = $zero;
            const ONE: $ty = $one;
        }
    )*};
    (@ f32 $op:ident $a:ident $b:ident) => { f32::$op($a, $b) };
    (@ f64 $op:ident $a:ident $b:ident) => { f64::$op($a, $b) };
    (@ $ty:ident $op:ident $a:ident $b:ident) => { Ord::$op($a, $b) };
}

macro_rules! integers {
    ($($ty:ident)*) => {
        combine! {$(
            $ty: wrapping_add wrapping_sub wrapping_mul 0 1, |v: $ty| v;
        )*}
    };
}

integers!(i8 u8 i16 u16 i32 u32 i64 u64 usize);

mod float {
    use std::ops::{Add, Mul, Sub};

    /// Float operators, under the names of the integers' wrapping methods.
    pub trait Plainly:
        Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Sized
    {
        #[inline(always)]
        fn plus(self, other: Self) -> Self {
            self + other
        }

        #[inline(always)]
        fn minus(self, other: Self) -> Self {
            self - other
        }

        #[inline(always)]
        fn times(self, other: Self) -> Self {
            self * other
        }
    }

    impl Plainly for f32 {}
    impl Plainly for f64 {}
}
use float::Plainly;

combine! {
    f32: plus minus times 0.0 1.0, f32::to_bits;
    f64: plus minus times 0.0 1.0, f64::to_bits;
}

/// Replaces the value by `f(value)`, and returns the old one.
#[inline(always)]
fn update<T: Copy>(place: &mut T, f: impl FnOnce(T) -> T) -> T {
    let old = *place;
    *place = f(old);
    old
}

/// Returns the value.
#[inline(always)]
pub fn load<T: Copy>(place: &mut T) -> T {
    *place
}

/// Replaces the value.
#[inline(always)]
pub fn store<T: Copy>(place: &mut T, value: T) {
    *place = value;
}

/// Adds, and returns the old value.
#[inline(always)]
pub fn fetch_add<T: Combine>(place: &mut T, value: T) -> T {
    update(place, |old| old.add(value))
}

/// Subtracts, and returns the old value.
#[inline(always)]
pub fn fetch_sub<T: Combine>(place: &mut T, value: T) -> T {
    update(place, |old| old.sub(value))
}

/// Takes the minimum, and returns the old value.
#[inline(always)]
pub fn fetch_min<T: Combine>(place: &mut T, value: T) -> T {
    update(place, |old| old.smaller(value))
}

/// Takes the maximum, and returns the old value.
#[inline(always)]
pub fn fetch_max<T: Combine>(place: &mut T, value: T) -> T {
    update(place, |old| old.larger(value))
}

/// Takes the bitwise AND, and returns the old value.
#[inline(always)]
pub fn fetch_and<T: Copy + std::ops::BitAnd<Output = T>>(place: &mut T, value: T) -> T {
    update(place, |old| old & value)
}

/// Takes the bitwise OR, and returns the old value.
#[inline(always)]
pub fn fetch_or<T: Copy + std::ops::BitOr<Output = T>>(place: &mut T, value: T) -> T {
    update(place, |old| old | value)
}

/// Takes the bitwise XOR, and returns the old value.
#[inline(always)]
pub fn fetch_xor<T: Copy + std::ops::BitXor<Output = T>>(place: &mut T, value: T) -> T {
    update(place, |old| old ^ value)
}

/// Replaces the value, and returns the old one.
#[inline(always)]
pub fn swap<T: Copy>(place: &mut T, value: T) -> T {
    update(place, |_| value)
}

/// Replaces the value if it has the same bits as `expected`, and returns the old one.
#[inline(always)]
pub fn compare_and_swap<T: Combine>(place: &mut T, expected: T, value: T) -> T {
    update(place, |old| if old.same(expected) { value } else { old })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_yield_what_was_there() {
        let mut v = u32::MAX;
        assert_eq!((fetch_add(&mut v, 2), v), (u32::MAX, 1));
        assert_eq!((fetch_sub(&mut v, 2), v), (1, u32::MAX));
        assert_eq!((fetch_min(&mut v, 6), v), (u32::MAX, 6));
        assert_eq!((fetch_max(&mut v, 9), v), (6, 9));
        assert_eq!((fetch_and(&mut v, 3), v), (9, 1));
        assert_eq!((fetch_or(&mut v, 6), v), (1, 7));
        assert_eq!((fetch_xor(&mut v, 5), v), (7, 2));
        assert_eq!((swap(&mut v, 8), v), (2, 8));
        assert_eq!((compare_and_swap(&mut v, 7, 1), v), (8, 8));
        assert_eq!((compare_and_swap(&mut v, 8, 1), v), (8, 1));
        let mut f = -0.0f32;
        assert_eq!(compare_and_swap(&mut f, 0.0, 1.0), 0.0);
        assert_eq!(f.to_bits(), (-0.0f32).to_bits());
        assert_eq!((fetch_add(&mut f, 1.5), f), (0.0, 1.5));
        store(&mut f, 2.0);
        assert_eq!(load(&mut f), 2.0);
    }
}
