use std::cell::UnsafeCell;
use std::fmt;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering};

use crate::Element;

/// A number that several threads may change at once. It is the element of a `&[Atomic<T>]`
/// parameter, whose argument is a `&mut Vector<T>`, or of a shared array.
///
/// Every operation is atomic and relaxed: it orders no other accesses. Operations that change the
/// number return its old value.
#[repr(transparent)]
pub struct Atomic<T>(UnsafeCell<T>);

// SAFETY: through a shared reference the number is read and changed by atomic instructions alone.
unsafe impl<T: AtomicElement> Sync for Atomic<T> {}

/// A type that [`Atomic`] can hold: `i32`, `u32`, `i64`, `u64`, `f32`, `f64`.
#[diagnostic::on_unimplemented(
    message = "SRK0513: `{Self}` cannot be changed atomically",
    label = "not a type that `Atomic` holds",
    note = "why: no device changes less than 32 bits, or more than 64, atomically",
    note = "instead: use one of i32, u32, i64, u64, f32 and f64"
)]
pub trait AtomicElement: Element + sealed::Cell {}

/// An integer that [`Atomic`] can hold.
#[diagnostic::on_unimplemented(
    message = "SRK0512: `{Self}` has no bitwise operations",
    label = "not an integer that `Atomic` holds",
    note = "why: devices have them only for integers",
    note = "instead: use one of i32, u32, i64 and u64"
)]
pub trait AtomicInteger: AtomicElement + sealed::Bits {}

mod sealed {
    /// The atomic operations on a value in memory.
    ///
    /// Safety contract of all functions: the pointer is to a live value, which meanwhile only
    /// atomic instructions access.
    #[allow(clippy::missing_safety_doc)] // the contract is above
    pub trait Cell: Sized {
        unsafe fn load(at: *mut Self) -> Self;
        unsafe fn store(at: *mut Self, value: Self);
        unsafe fn swap(at: *mut Self, value: Self) -> Self;
        unsafe fn compare_and_swap(at: *mut Self, current: Self, new: Self) -> Self;
        unsafe fn add(at: *mut Self, value: Self) -> Self;
        unsafe fn sub(at: *mut Self, value: Self) -> Self;
        unsafe fn min(at: *mut Self, value: Self) -> Self;
        unsafe fn max(at: *mut Self, value: Self) -> Self;
    }

    #[allow(clippy::missing_safety_doc)] // as for `Cell`
    pub trait Bits: Sized {
        unsafe fn and(at: *mut Self, value: Self) -> Self;
        unsafe fn or(at: *mut Self, value: Self) -> Self;
        unsafe fn xor(at: *mut Self, value: Self) -> Self;
    }
}

impl<T: AtomicElement> Atomic<T> {
    /// Makes an atomic number.
    pub const fn new(value: T) -> Atomic<T> {
        Atomic(UnsafeCell::new(value))
    }

    /// Returns the number, through exclusive access.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }

    /// Returns the current value.
    #[inline(always)]
    pub fn load(&self) -> T {
        // SAFETY: the cell is live, and accessed by atomic instructions alone.
        unsafe { T::load(self.0.get()) }
    }

    /// Replaces the value.
    #[inline(always)]
    pub fn store(&self, value: T) {
        // SAFETY: as in `load`.
        unsafe { T::store(self.0.get(), value) }
    }

    /// Replaces the value, and returns the old one.
    #[inline(always)]
    pub fn swap(&self, value: T) -> T {
        // SAFETY: as in `load`.
        unsafe { T::swap(self.0.get(), value) }
    }

    /// Replaces the value by `new` if it has the same bits as `current`. Returns the old value: it
    /// has the bits of `current` exactly if the value was replaced.
    #[inline(always)]
    pub fn compare_and_swap(&self, current: T, new: T) -> T {
        // SAFETY: as in `load`.
        unsafe { T::compare_and_swap(self.0.get(), current, new) }
    }

    /// Adds `value`, wrapping on integers, and returns the old value.
    #[inline(always)]
    pub fn fetch_add(&self, value: T) -> T {
        // SAFETY: as in `load`.
        unsafe { T::add(self.0.get(), value) }
    }

    /// Subtracts `value`, wrapping on integers, and returns the old value.
    #[inline(always)]
    pub fn fetch_sub(&self, value: T) -> T {
        // SAFETY: as in `load`.
        unsafe { T::sub(self.0.get(), value) }
    }

    /// Takes the minimum with `value`, like the type's `min`, and returns the old value.
    #[inline(always)]
    pub fn fetch_min(&self, value: T) -> T {
        // SAFETY: as in `load`.
        unsafe { T::min(self.0.get(), value) }
    }

    /// Takes the maximum with `value`, like the type's `max`, and returns the old value.
    #[inline(always)]
    pub fn fetch_max(&self, value: T) -> T {
        // SAFETY: as in `load`.
        unsafe { T::max(self.0.get(), value) }
    }
}

impl<T: AtomicInteger> Atomic<T> {
    /// Takes the bitwise AND with `value`, and returns the old value.
    #[inline(always)]
    pub fn fetch_and(&self, value: T) -> T {
        // SAFETY: as in `load`.
        unsafe { T::and(self.0.get(), value) }
    }

    /// Takes the bitwise OR with `value`, and returns the old value.
    #[inline(always)]
    pub fn fetch_or(&self, value: T) -> T {
        // SAFETY: as in `load`.
        unsafe { T::or(self.0.get(), value) }
    }

    /// Takes the bitwise XOR with `value`, and returns the old value.
    #[inline(always)]
    pub fn fetch_xor(&self, value: T) -> T {
        // SAFETY: as in `load`.
        unsafe { T::xor(self.0.get(), value) }
    }
}

impl<T: AtomicElement + fmt::Debug> fmt::Debug for Atomic<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.load().fmt(f)
    }
}

/// The standard library's atomic at the address of a number.
macro_rules! cell {
    ($std:ident, $at:expr) => {{
        const { assert!(align_of::<$std>() == align_of::<Self>()) };
        // SAFETY: the caller's promise; the alignment is the number's own.
        unsafe { $std::from_ptr($at.cast()) }
    }};
}

macro_rules! integers {
    ($($ty:ident $std:ident;)*) => {$(
        impl AtomicElement for $ty {}
        impl AtomicInteger for $ty {}

        impl sealed::Cell for $ty {
            #[inline(always)]
            unsafe fn load(at: *mut $ty) -> $ty {
                cell!($std, at).load(Ordering::Relaxed)
            }
            #[inline(always)]
            unsafe fn store(at: *mut $ty, value: $ty) {
                cell!($std, at).store(value, Ordering::Relaxed);
            }
            #[inline(always)]
            unsafe fn swap(at: *mut $ty, value: $ty) -> $ty {
                cell!($std, at).swap(value, Ordering::Relaxed)
            }
            #[inline(always)]
            unsafe fn compare_and_swap(at: *mut $ty, current: $ty, new: $ty) -> $ty {
                let relaxed = Ordering::Relaxed;
                match cell!($std, at).compare_exchange(current, new, relaxed, relaxed) {
                    Ok(old) | Err(old) => old,
                }
            }
            #[inline(always)]
            unsafe fn add(at: *mut $ty, value: $ty) -> $ty {
                cell!($std, at).fetch_add(value, Ordering::Relaxed)
            }
            #[inline(always)]
            unsafe fn sub(at: *mut $ty, value: $ty) -> $ty {
                cell!($std, at).fetch_sub(value, Ordering::Relaxed)
            }
            #[inline(always)]
            unsafe fn min(at: *mut $ty, value: $ty) -> $ty {
                cell!($std, at).fetch_min(value, Ordering::Relaxed)
            }
            #[inline(always)]
            unsafe fn max(at: *mut $ty, value: $ty) -> $ty {
                cell!($std, at).fetch_max(value, Ordering::Relaxed)
            }
        }

        impl sealed::Bits for $ty {
            #[inline(always)]
            unsafe fn and(at: *mut $ty, value: $ty) -> $ty {
                cell!($std, at).fetch_and(value, Ordering::Relaxed)
            }
            #[inline(always)]
            unsafe fn or(at: *mut $ty, value: $ty) -> $ty {
                cell!($std, at).fetch_or(value, Ordering::Relaxed)
            }
            #[inline(always)]
            unsafe fn xor(at: *mut $ty, value: $ty) -> $ty {
                cell!($std, at).fetch_xor(value, Ordering::Relaxed)
            }
        }
    )*};
}

integers! {
    i32 AtomicI32;
    u32 AtomicU32;
    i64 AtomicI64;
    u64 AtomicU64;
}

/// A compare-exchange loop on a float's bits.
macro_rules! update {
    ($ty:ident, $cell:expr, |$old:ident| $new:expr) => {{
        let cell = $cell;
        let mut seen = cell.load(Ordering::Relaxed);
        loop {
            let $old = $ty::from_bits(seen);
            let (new, relaxed) = (($new).to_bits(), Ordering::Relaxed);
            match cell.compare_exchange_weak(seen, new, relaxed, relaxed) {
                Ok(old) => break $ty::from_bits(old),
                Err(found) => seen = found,
            }
        }
    }};
}

macro_rules! floats {
    ($($ty:ident $std:ident;)*) => {$(
        impl AtomicElement for $ty {}

        impl sealed::Cell for $ty {
            #[inline(always)]
            unsafe fn load(at: *mut $ty) -> $ty {
                $ty::from_bits(cell!($std, at).load(Ordering::Relaxed))
            }
            #[inline(always)]
            unsafe fn store(at: *mut $ty, value: $ty) {
                cell!($std, at).store(value.to_bits(), Ordering::Relaxed);
            }
            #[inline(always)]
            unsafe fn swap(at: *mut $ty, value: $ty) -> $ty {
                $ty::from_bits(cell!($std, at).swap(value.to_bits(), Ordering::Relaxed))
            }
            #[inline(always)]
            unsafe fn compare_and_swap(at: *mut $ty, current: $ty, new: $ty) -> $ty {
                let (current, new, relaxed) = (current.to_bits(), new.to_bits(), Ordering::Relaxed);
                match cell!($std, at).compare_exchange(current, new, relaxed, relaxed) {
                    Ok(old) | Err(old) => $ty::from_bits(old),
                }
            }
            #[inline(always)]
            unsafe fn add(at: *mut $ty, value: $ty) -> $ty {
                update!($ty, cell!($std, at), |old| old + value)
            }
            #[inline(always)]
            unsafe fn sub(at: *mut $ty, value: $ty) -> $ty {
                update!($ty, cell!($std, at), |old| old - value)
            }
            #[inline(always)]
            unsafe fn min(at: *mut $ty, value: $ty) -> $ty {
                update!($ty, cell!($std, at), |old| old.min(value))
            }
            #[inline(always)]
            unsafe fn max(at: *mut $ty, value: $ty) -> $ty {
                update!($ty, cell!($std, at), |old| old.max(value))
            }
        }
    )*};
}

floats! {
    f32 AtomicU32;
    f64 AtomicU64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_do_as_their_methods_say() {
        let a = Atomic::new(7i64);
        assert_eq!((a.fetch_add(i64::MAX), a.load()), (7, i64::MIN + 6));
        a.store(5);
        assert_eq!(
            (a.fetch_sub(7), a.fetch_min(-9), a.fetch_max(3)),
            (5, -2, -9)
        );
        assert_eq!((a.fetch_and(6), a.fetch_or(9), a.fetch_xor(1)), (3, 2, 11));
        assert_eq!((a.swap(4), a.compare_and_swap(1, 2)), (10, 4));
        assert_eq!((a.compare_and_swap(4, 2), a.into_inner()), (4, 2));
    }

    #[test]
    fn floats_treat_nan_as_min_and_max_do() {
        let a = Atomic::new(f32::NAN);
        assert!(a.fetch_min(3.0).is_nan());
        assert_eq!((a.fetch_max(f32::NAN), a.fetch_max(4.5)), (3.0, 3.0));
        assert_eq!(
            (a.fetch_add(0.5), a.fetch_sub(2.0), a.load()),
            (4.5, 5.0, 3.0)
        );
        a.store(-0.0);
        assert_eq!(a.compare_and_swap(0.0, 1.0), 0.0, "other bits");
        assert_eq!(a.load().to_bits(), (-0.0f32).to_bits());
        assert_eq!(a.compare_and_swap(-0.0, 1.0), 0.0);
        assert_eq!(a.load(), 1.0);
    }

    fn in_four_threads<T: AtomicElement>(zero: T, one: T) -> T {
        let sum = Atomic::new(zero);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    (0..10_000).for_each(|_| {
                        sum.fetch_add(one);
                    })
                });
            }
        });
        sum.into_inner()
    }

    #[test]
    fn no_update_is_lost() {
        assert_eq!(in_four_threads(0u32, 1), 40_000);
        assert_eq!(in_four_threads(0i64, 1), 40_000);
        assert_eq!(in_four_threads(0.0f32, 1.0), 40_000.0);
        assert_eq!(in_four_threads(0.0f64, 1.0), 40_000.0);
    }
}
