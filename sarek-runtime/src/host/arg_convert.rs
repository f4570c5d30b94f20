//! Arguments that bodies take in one way or another, as the type of a parameter tells rustc alone.

use std::mem::MaybeUninit;

use super::{Output, Slices};

/// What may change: the first argument of `P::norm(p)`, which bodies take by reference if it is a receiver, and otherwise as it is, and
/// `&mut local`, which they take as a slice if it is an array.
#[inline(always)]
pub fn received<'a, T: Received<'a, P>, P>(value: &'a mut T) -> P {
    value.received()
}

/// What bodies may take as a `P`.
///
/// # Safety
/// It gives itself: what is proved of the argument, the body uses.
#[diagnostic::on_unimplemented(
    message = "mismatched types",
    label = "expected `{P}`, found `{Self}`"
)]
pub unsafe trait Received<'a, P> {
    /// It, as a body takes it.
    fn received(&'a mut self) -> P;
}

// SAFETY: it gives itself.
unsafe impl<'a, T: Copy> Received<'a, T> for T {
    #[inline(always)]
    fn received(&'a mut self) -> T {
        *self
    }
}

// SAFETY: it gives itself.
unsafe impl<'a, T> Received<'a, &'a mut T> for T {
    #[inline(always)]
    fn received(&'a mut self) -> &'a mut T {
        self
    }
}

// SAFETY: it gives itself.
unsafe impl<'a, E: Copy, const N: usize> Received<'a, Output<'a, E>> for [E; N] {
    #[inline(always)]
    fn received(&'a mut self) -> Output<'a, E> {
        Output::of(self)
    }
}

/// `&value`, which bodies take as it is, or as a slice if it is an array.
#[inline(always)]
pub fn borrowed<'a, T: Borrowed<'a, P>, P>(value: &'a mut T) -> P {
    value.borrowed()
}

/// What bodies may take as a `P`, and not change for who calls them.
///
/// # Safety
/// As of [`Received`].
#[diagnostic::on_unimplemented(
    message = "mismatched types",
    label = "expected `{P}`, found `{Self}`"
)]
pub unsafe trait Borrowed<'a, P> {
    /// It, as a body takes it.
    fn borrowed(&'a mut self) -> P;
}

// SAFETY: it gives itself.
unsafe impl<'a, T: Copy> Borrowed<'a, T> for T {
    #[inline(always)]
    fn borrowed(&'a mut self) -> T {
        *self
    }
}

// SAFETY: it gives itself.
unsafe impl<'a, E: Copy, const N: usize> Borrowed<'a, Output<'a, E>> for [E; N] {
    #[inline(always)]
    fn borrowed(&'a mut self) -> Output<'a, E> {
        Output::of(self)
    }
}

/// `&CONSTANT`, which bodies take as it is, or as a slice if it is an array.
///
/// # Safety
/// Nobody writes to the slice.
#[inline(always)]
pub unsafe fn borrowed_constant<T: BorrowedConstant<P>, P>(constant: &'static T) -> P {
    // SAFETY: the caller's promise.
    unsafe { constant.borrowed_constant() }
}

/// What bodies may take as a `P`, and never write.
#[diagnostic::on_unimplemented(
    message = "mismatched types",
    label = "expected `{P}`, found `{Self}`"
)]
pub trait BorrowedConstant<P> {
    /// It, as a body takes it.
    ///
    /// # Safety
    /// As of [`borrowed_constant`].
    unsafe fn borrowed_constant(&'static self) -> P;
}

impl<T: Copy> BorrowedConstant<T> for T {
    #[inline(always)]
    unsafe fn borrowed_constant(&'static self) -> T {
        *self
    }
}

impl<'a, E: Copy, const N: usize> BorrowedConstant<Output<'a, E>> for [E; N]
where
    E: 'static,
{
    #[inline(always)]
    unsafe fn borrowed_constant(&'static self) -> Output<'a, E> {
        // SAFETY: it lives for ever, and the caller promises that nobody writes to it.
        unsafe { Output::of_constant(self) }
    }
}

/// Either of an array of lanes.
#[inline(always)]
pub fn received_lanes<'a, T: ReceivedLanes<'a, P>, P>(lanes: &'a mut [MaybeUninit<T>]) -> P {
    T::received_lanes(lanes)
}

/// What bodies for all lanes may take as a `P`.
///
/// # Safety
/// As of [`Received`], with all lanes that it is given.
#[diagnostic::on_unimplemented(
    message = "mismatched types",
    label = "expected `{P}`, found lanes of `{Self}`"
)]
pub unsafe trait ReceivedLanes<'a, P>: Sized {
    /// It, of each lane.
    fn received_lanes(lanes: &'a mut [MaybeUninit<Self>]) -> P;
}

// SAFETY: it gives itself.
unsafe impl<'a, T> ReceivedLanes<'a, &'a [MaybeUninit<T>]> for T {
    #[inline(always)]
    fn received_lanes(lanes: &'a mut [MaybeUninit<T>]) -> &'a [MaybeUninit<T>] {
        lanes
    }
}

// SAFETY: it gives itself.
unsafe impl<'a, T> ReceivedLanes<'a, &'a mut [MaybeUninit<T>]> for T {
    #[inline(always)]
    fn received_lanes(lanes: &'a mut [MaybeUninit<T>]) -> &'a mut [MaybeUninit<T>] {
        lanes
    }
}

// SAFETY: it gives itself.
unsafe impl<'a, E: Copy, const N: usize> ReceivedLanes<'a, Slices<'a, E>> for [E; N] {
    #[inline(always)]
    fn received_lanes(lanes: &'a mut [MaybeUninit<[E; N]>]) -> Slices<'a, E> {
        Slices::each(lanes)
    }
}
