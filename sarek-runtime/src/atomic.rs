//! Numbers that many threads change at once.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::Element;

/// A number that threads change at once, each change as a whole. Kernels take slices of them,
/// `&[Atomic<u32>]`, for which a launch takes `&mut Vector<u32>`; shared arrays may hold them too.
///
/// All operations are relaxed: they order nothing but themselves. On integers, sums wrap.
#[repr(transparent)]
pub struct Atomic<T: AtomicElement>(UnsafeCell<T>);

// SAFETY: every access through a shared reference is an atomic operation.
unsafe impl<T: AtomicElement> Sync for Atomic<T> {}

/// A type that [`Atomic`] holds: `i32`, `u32`, `i64`, `u64`, `f32` and `f64`.
#[diagnostic::on_unimplemented(
    message = "there is no `Atomic<{Self}>`",
    label = "not i32, u32, i64, u64, f32 or f64"
)]
pub trait AtomicElement: Element + sealed::Sealed {}

/// An integer that [`Atomic`] holds.
pub trait AtomicInt: AtomicElement {}

mod sealed {
    /// How the operations are made.
    pub trait Sealed: Copy {
        /// Replaces the value by what `next` makes of it, and returns the old one.
        ///
        /// # Safety
        /// The place is valid, aligned, and used atomically only.
        unsafe fn update(place: *mut Self, next: impl Fn(Self) -> Option<Self>) -> Self;
        fn add(self, by: Self) -> Self;
        fn sub(self, by: Self) -> Self;
        fn least(self, other: Self) -> Self;
        fn most(self, other: Self) -> Self;
        fn same(self, other: Self) -> bool;
        fn bits(self, other: Self, op: fn(u64, u64) -> u64) -> Self;
    }
}

macro_rules! element {
    ($($ty:ident, $atomic:ident, $bits:ident, $to:expr, $from:expr, $add:expr, $sub:expr, $join:expr;)*) => {$(
        impl AtomicElement for $ty {}

        impl sealed::Sealed for $ty {
            unsafe fn update(place: *mut $ty, next: impl Fn($ty) -> Option<$ty>) -> $ty {
                let (to, from): (fn($ty) -> $bits, fn($bits) -> $ty) = ($to, $from);
                // SAFETY: the caller's promise; the number and its bits have one size and alignment.
                let place = unsafe { $atomic::from_ptr(place.cast()) };
                match place.fetch_update(Relaxed, Relaxed, |bits| next(from(bits)).map(to)) {
                    Ok(bits) | Err(bits) => from(bits),
                }
            }

            fn add(self, by: $ty) -> $ty {
                let add: fn($ty, $ty) -> $ty = $add;
                add(self, by)
            }

            fn sub(self, by: $ty) -> $ty {
                let sub: fn($ty, $ty) -> $ty = $sub;
                sub(self, by)
            }

            fn least(self, other: $ty) -> $ty {
                self.min(other)
            }

            fn most(self, other: $ty) -> $ty {
                self.max(other)
            }

            fn same(self, other: $ty) -> bool {
                let to: fn($ty) -> $bits = $to;
                to(self) == to(other)
            }

            fn bits(self, other: $ty, op: fn(u64, u64) -> u64) -> $ty {
                let join: fn($ty, $ty, fn(u64, u64) -> u64) -> $ty = $join;
                join(self, other, op)
            }
        }
    )*};
}

macro_rules! integers {
    ($($ty:ident $atomic:ident $bits:ident)*) => {
        element! {$(
            $ty, $atomic, $bits, |v| v as $bits, |b| b as $ty, <$ty>::wrapping_add, <$ty>::wrapping_sub,
            |a, b, op| op(a as u64, b as u64) as $ty;
        )*}
        $(impl AtomicInt for $ty {})*
    };
}

macro_rules! floats {
    ($($ty:ident $atomic:ident $bits:ident)*) => {
        element! {$(
            $ty, $atomic, $bits, <$ty>::to_bits, <$ty>::from_bits, |a, b| a + b, |a, b| a - b,
            |_, _, _| unreachable!("only integers have bits");
        )*}
    };
}

integers! { i32 AtomicU32 u32 u32 AtomicU32 u32 i64 AtomicU64 u64 u64 AtomicU64 u64 }
floats! { f32 AtomicU32 u32 f64 AtomicU64 u64 }

impl<T: AtomicElement> Atomic<T> {
    /// With a value.
    pub const fn new(value: T) -> Atomic<T> {
        Atomic(UnsafeCell::new(value))
    }

    fn update(&self, next: impl Fn(T) -> Option<T>) -> T {
        // SAFETY: the place lives as long as `self`, and is used by this function only.
        unsafe { T::update(self.0.get(), next) }
    }

    /// The value.
    pub fn load(&self) -> T {
        self.update(|_| None)
    }

    /// Replaces the value.
    pub fn store(&self, value: T) {
        self.swap(value);
    }

    /// Replaces the value, and returns the old one.
    pub fn swap(&self, value: T) -> T {
        self.update(|_| Some(value))
    }

    /// Adds, and returns the old value.
    pub fn fetch_add(&self, by: T) -> T {
        self.update(|v| Some(v.add(by)))
    }

    /// Subtracts, and returns the old value.
    pub fn fetch_sub(&self, by: T) -> T {
        self.update(|v| Some(v.sub(by)))
    }

    /// Takes the smaller one, and returns the old value.
    pub fn fetch_min(&self, other: T) -> T {
        self.update(|v| Some(v.least(other)))
    }

    /// Takes the larger one, and returns the old value.
    pub fn fetch_max(&self, other: T) -> T {
        self.update(|v| Some(v.most(other)))
    }

    /// Replaces the value by `new` if its bits are those of `current`, and returns the old value in either case.
    pub fn compare_and_swap(&self, current: T, new: T) -> T {
        self.update(|v| v.same(current).then_some(new))
    }
}

impl<T: AtomicInt> Atomic<T> {
    /// Bitwise and; returns the old value.
    pub fn fetch_and(&self, with: T) -> T {
        self.update(|v| Some(v.bits(with, |a, b| a & b)))
    }

    /// Bitwise or; returns the old value.
    pub fn fetch_or(&self, with: T) -> T {
        self.update(|v| Some(v.bits(with, |a, b| a | b)))
    }

    /// Bitwise exclusive or; returns the old value.
    pub fn fetch_xor(&self, with: T) -> T {
        self.update(|v| Some(v.bits(with, |a, b| a ^ b)))
    }
}

#[cfg(test)]
mod tests {
    use super::Atomic;

    #[test]
    fn each_operation_returns_what_was_there() {
        let a = Atomic::new(5i32);
        assert_eq!((a.fetch_add(i32::MAX), a.load()), (5, i32::MIN + 4));
        assert_eq!(
            (a.swap(-3), a.fetch_max(2), a.fetch_min(-9)),
            (i32::MIN + 4, -3, 2)
        );
        assert_eq!((a.fetch_xor(-1), a.fetch_and(6), a.fetch_or(9)), (-9, 8, 0));
        assert_eq!(
            (a.compare_and_swap(1, 2), a.compare_and_swap(9, 2), a.load()),
            (9, 9, 2)
        );
        let f = Atomic::new(-0.0f64);
        assert_eq!((f.compare_and_swap(0.0, 1.0), f.load()), (-0.0, -0.0));
        assert_eq!((f.fetch_sub(1.5), f.load()), (-0.0, -1.5));
    }
}
