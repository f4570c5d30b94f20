//! Conversion of call arguments to the types that compiled bodies take. The macros cannot see these
//! types, so rustc selects the conversion by trait.

use std::mem::MaybeUninit;

use super::{RawSliceMut, Slices};

/// Passes an argument that may be mutable. One case is the first argument of `P::norm(p)`, which is
/// by reference for a receiver and by value otherwise. The other is `&mut local`, which is a slice
/// if `local` is an array.
#[inline(always)]
pub fn pass_mut<'a, T: PassMut<'a, P>, P>(value: &'a mut T) -> P {
    value.pass_mut()
}

/// The types that a body takes as a `P`.
///
/// # Safety
/// The conversion passes the value itself, because proofs about the argument must hold for it.
#[diagnostic::on_unimplemented(
    message = "mismatched types",
    label = "expected `{P}`, found `{Self}`"
)]
pub unsafe trait PassMut<'a, P> {
    /// Converts the value for a body.
    fn pass_mut(&'a mut self) -> P;
}

// SAFETY: it passes the value itself.
unsafe impl<'a, T: Copy> PassMut<'a, T> for T {
    #[inline(always)]
    fn pass_mut(&'a mut self) -> T {
        *self
    }
}

// SAFETY: it passes the value itself.
unsafe impl<'a, T> PassMut<'a, &'a mut T> for T {
    #[inline(always)]
    fn pass_mut(&'a mut self) -> &'a mut T {
        self
    }
}

// SAFETY: it passes the value itself.
unsafe impl<'a, E: Copy, const N: usize> PassMut<'a, RawSliceMut<'a, E>> for [E; N] {
    #[inline(always)]
    fn pass_mut(&'a mut self) -> RawSliceMut<'a, E> {
        RawSliceMut::of(self)
    }
}

/// Passes an argument `&value`: by value, or as a slice if it is an array.
#[inline(always)]
pub fn pass_ref<'a, T: PassRef<'a, P>, P>(value: &'a mut T) -> P {
    value.pass_ref()
}

/// The types that a body takes as a `P`, without changing them for the caller.
///
/// # Safety
/// As for [`PassMut`].
#[diagnostic::on_unimplemented(
    message = "mismatched types",
    label = "expected `{P}`, found `{Self}`"
)]
pub unsafe trait PassRef<'a, P> {
    /// Converts the value for a body.
    fn pass_ref(&'a mut self) -> P;
}

// SAFETY: it passes the value itself.
unsafe impl<'a, T: Copy> PassRef<'a, T> for T {
    #[inline(always)]
    fn pass_ref(&'a mut self) -> T {
        *self
    }
}

// SAFETY: it passes the value itself.
unsafe impl<'a, E: Copy, const N: usize> PassRef<'a, RawSliceMut<'a, E>> for [E; N] {
    #[inline(always)]
    fn pass_ref(&'a mut self) -> RawSliceMut<'a, E> {
        RawSliceMut::of(self)
    }
}

/// Passes an argument `&CONSTANT`: by value, or as a slice if it is an array.
///
/// # Safety
/// No code writes to the slice.
#[inline(always)]
pub unsafe fn pass_constant<T: PassConstant<P>, P>(constant: &'static T) -> P {
    // SAFETY: the caller's promise.
    unsafe { constant.pass_constant() }
}

/// The types that a body takes as a `P`, and never writes.
#[diagnostic::on_unimplemented(
    message = "mismatched types",
    label = "expected `{P}`, found `{Self}`"
)]
pub trait PassConstant<P> {
    /// Converts the constant for a body.
    ///
    /// # Safety
    /// As for [`pass_constant`].
    unsafe fn pass_constant(&'static self) -> P;
}

impl<T: Copy> PassConstant<T> for T {
    #[inline(always)]
    unsafe fn pass_constant(&'static self) -> T {
        *self
    }
}

impl<'a, E: Copy, const N: usize> PassConstant<RawSliceMut<'a, E>> for [E; N]
where
    E: 'static,
{
    #[inline(always)]
    unsafe fn pass_constant(&'static self) -> RawSliceMut<'a, E> {
        // SAFETY: it lives for ever, and the caller promises that no code writes to it.
        unsafe { RawSliceMut::of_constant(self) }
    }
}

/// Passes the lanes' values of an argument, as [`pass_mut`] does for one lane.
#[inline(always)]
pub fn pass_mut_lanes<'a, T: PassMutLanes<'a, P>, P>(lanes: &'a mut [MaybeUninit<T>]) -> P {
    T::pass_mut_lanes(lanes)
}

/// The types whose lanes a body for all lanes takes as a `P`.
///
/// # Safety
/// As for [`PassMut`], with all lanes that are passed.
#[diagnostic::on_unimplemented(
    message = "mismatched types",
    label = "expected `{P}`, found lanes of `{Self}`"
)]
pub unsafe trait PassMutLanes<'a, P>: Sized {
    /// Converts the value of each lane.
    fn pass_mut_lanes(lanes: &'a mut [MaybeUninit<Self>]) -> P;
}

// SAFETY: it passes the values themselves.
unsafe impl<'a, T> PassMutLanes<'a, &'a [MaybeUninit<T>]> for T {
    #[inline(always)]
    fn pass_mut_lanes(lanes: &'a mut [MaybeUninit<T>]) -> &'a [MaybeUninit<T>] {
        lanes
    }
}

// SAFETY: it passes the values themselves.
unsafe impl<'a, T> PassMutLanes<'a, &'a mut [MaybeUninit<T>]> for T {
    #[inline(always)]
    fn pass_mut_lanes(lanes: &'a mut [MaybeUninit<T>]) -> &'a mut [MaybeUninit<T>] {
        lanes
    }
}

// SAFETY: it passes the values themselves.
unsafe impl<'a, E: Copy, const N: usize> PassMutLanes<'a, Slices<'a, E>> for [E; N] {
    #[inline(always)]
    fn pass_mut_lanes(lanes: &'a mut [MaybeUninit<[E; N]>]) -> Slices<'a, E> {
        Slices::each(lanes)
    }
}
