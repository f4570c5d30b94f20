//! Arithmetic that compiled bodies need in addition to core's.

use half::{bf16, f16};
use sarek_ir::{bfloat16, binary16};

/// Integer division, split into a check that it is defined and the operation.
pub trait Divide: Copy {
    /// True if the divisor is neither 0, nor -1 for the dividend `MIN`.
    fn is_defined(self, divisor: Self) -> bool;

    /// The divisor, in the form that a fault records.
    fn detail(self) -> u64;

    /// `self / divisor`
    ///
    /// # Safety
    /// [`Divide::is_defined`] is true; this holds for the other three functions too.
    unsafe fn div(self, divisor: Self) -> Self;

    /// `self % divisor`
    ///
    /// # Safety
    /// As for [`Divide::div`].
    unsafe fn rem(self, divisor: Self) -> Self;

    /// `self.div_euclid(divisor)`
    ///
    /// # Safety
    /// As for [`Divide::div`].
    unsafe fn div_euclid(self, divisor: Self) -> Self;

    /// `self.rem_euclid(divisor)`
    ///
    /// # Safety
    /// As for [`Divide::div`].
    unsafe fn rem_euclid(self, divisor: Self) -> Self;
}

macro_rules! divide {
    ($($ty:ident $overflows:expr;)*) => {$(
        impl Divide for $ty {
            #[inline(always)]
            fn is_defined(self, divisor: $ty) -> bool {
                let overflows: fn($ty, $ty) -> bool = $overflows;
                divisor != 0 && !overflows(self, divisor)
            }

            #[inline(always)]
            fn detail(self) -> u64 {
                self as i64 as u64
            }

            divide!(@ $ty div);
            divide!(@ $ty rem);
            divide!(@ $ty div_euclid);
            divide!(@ $ty rem_euclid);
        }
    )*};
    (@ $ty:ident $op:ident) => {
        #[inline(always)]
        unsafe fn $op(self, divisor: $ty) -> $ty {
            // SAFETY: the caller's promise.
            unsafe { std::hint::assert_unchecked(Divide::is_defined(self, divisor)) };
            divide!(@@ $op self divisor)
        }
    };
    (@@ div $a:ident $b:ident) => { $a / $b };
    (@@ rem $a:ident $b:ident) => { $a % $b };
    (@@ div_euclid $a:ident $b:ident) => { $a.div_euclid($b) };
    (@@ rem_euclid $a:ident $b:ident) => { $a.rem_euclid($b) };
}

divide! {
    i8 |a, b| a == i8::MIN && b == -1;
    i16 |a, b| a == i16::MIN && b == -1;
    u8 |_, _| false;
    u16 |_, _| false;
    i32 |a, b| a == i32::MIN && b == -1;
    i64 |a, b| a == i64::MIN && b == -1;
    u32 |_, _| false;
    u64 |_, _| false;
    usize |_, _| false;
}

macro_rules! float_divide {
    ($($ty:ident)*) => {$(
        /// Every division of floats is defined.
        impl Divide for $ty {
            #[inline(always)]
            fn is_defined(self, _: $ty) -> bool {
                true
            }

            #[inline(always)]
            fn detail(self) -> u64 {
                self.to_bits() as u64
            }

            #[inline(always)]
            unsafe fn div(self, divisor: $ty) -> $ty {
                self / divisor
            }

            #[inline(always)]
            unsafe fn rem(self, divisor: $ty) -> $ty {
                self % divisor
            }

            #[inline(always)]
            unsafe fn div_euclid(self, divisor: $ty) -> $ty {
                self.div_euclid(divisor)
            }

            #[inline(always)]
            unsafe fn rem_euclid(self, divisor: $ty) -> $ty {
                self.rem_euclid(divisor)
            }
        }
    )*};
}

float_divide!(f32 f64);

/// A 16-bit float of the `half` crate. Arithmetic is done in `f32` and rounded; the results equal
/// those of the crate's operators, but the code can be vectorised.
pub trait Half: Copy {
    /// Converts to `f32`.
    fn wide(self) -> f32;

    /// Rounds to the nearest value.
    fn narrow(value: f32) -> Self;

    /// Rounds like the `half` crate, see [`sarek_ir::binary16`] and [`sarek_ir::bfloat16`].
    fn narrow_f64(value: f64) -> Self;
}

/// Converts to `f32`.
#[inline(always)]
pub fn wide<T: Half>(value: T) -> f32 {
    value.wide()
}

/// Rounds to the nearest value.
#[inline(always)]
pub fn narrow<T: Half>(value: f32) -> T {
    T::narrow(value)
}

macro_rules! halves {
    ($($ty:ident $format:ident)*) => {$(
        impl Half for $ty {
            #[inline(always)]
            fn wide(self) -> f32 {
                $format::to_f32(self.to_bits())
            }

            #[inline(always)]
            fn narrow(value: f32) -> $ty {
                $ty::from_bits($format::from_f32(value))
            }

            #[inline(always)]
            fn narrow_f64(value: f64) -> $ty {
                $ty::from_bits($format::from_f64(value))
            }
        }

        impl Divide for $ty {
            #[inline(always)]
            fn is_defined(self, _: $ty) -> bool {
                true
            }

            #[inline(always)]
            fn detail(self) -> u64 {
                self.to_bits().into()
            }

            #[inline(always)]
            unsafe fn div(self, divisor: $ty) -> $ty {
                narrow(wide(self) / wide(divisor))
            }

            #[inline(always)]
            unsafe fn rem(self, divisor: $ty) -> $ty {
                narrow(wide(self) % wide(divisor))
            }

            #[inline(always)]
            unsafe fn div_euclid(self, divisor: $ty) -> $ty {
                narrow(wide(self).div_euclid(wide(divisor)))
            }

            #[inline(always)]
            unsafe fn rem_euclid(self, divisor: $ty) -> $ty {
                narrow(wide(self).rem_euclid(wide(divisor)))
            }
        }
    )*};
}

halves!(f16 binary16 bf16 bfloat16);

/// Computes `value.clamp(lo, hi)` where `lo <= hi` was asserted before: without a panic, it can be
/// vectorised.
#[inline(always)]
pub fn clamp<T: PartialOrd>(value: T, lo: T, hi: T) -> T {
    let value = if value < lo { lo } else { value };
    if value > hi { hi } else { value }
}
