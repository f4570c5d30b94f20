//! Calls of `#[device]` functions. Where the threads of a block work together in one, it is called once for all lanes, with
//! an array of each argument.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use sarek_ir::link::Function;

use super::{Block, RawFault, Scratch};
use crate::DeviceFn;

/// An array of lanes as an argument, or as the place of a result.
#[inline(always)]
pub fn lent<T>(lanes: &mut [T]) -> &mut [MaybeUninit<T>] {
    // SAFETY: the layouts are the same. Functions put values of `T` only there.
    unsafe { &mut *(std::ptr::from_mut(lanes) as *mut [MaybeUninit<T>]) }
}

/// What was lent.
///
/// # Safety
/// All elements hold a value.
#[inline(always)]
pub unsafe fn given<T>(lanes: &mut [MaybeUninit<T>]) -> &mut [T] {
    // SAFETY: the layouts are the same, and the caller promises values.
    unsafe { &mut *(std::ptr::from_mut(lanes) as *mut [T]) }
}

/// A lane that takes part, where all or those of `active` do.
#[inline(always)]
pub fn first(full: bool, active: &[bool]) -> usize {
    match full {
        true => 0,
        false => active.iter().position(|here| *here).unwrap_or(0),
    }
}

/// Does it hold of a function's parameter at this position?
pub const fn asks(parameters: &[bool], at: usize) -> bool {
    at < parameters.len() && parameters[at]
}

/// The first argument of `P::norm(p)`: bodies take a receiver by reference, and other values as they are.
#[inline(always)]
pub fn received<'a, T: Copy, R: Received<'a, T>>(value: &'a mut T) -> R {
    R::of(value)
}

/// What a body takes for its first parameter.
pub trait Received<'a, T> {
    /// It, of a value.
    fn of(value: &'a mut T) -> Self;
}

impl<'a, T: Copy> Received<'a, T> for T {
    #[inline(always)]
    fn of(value: &'a mut T) -> T {
        *value
    }
}

impl<'a, T> Received<'a, T> for &'a mut T {
    #[inline(always)]
    fn of(value: &'a mut T) -> &'a mut T {
        value
    }
}

/// The same of an array of lanes.
#[inline(always)]
pub fn received_lanes<'a, T, R: ReceivedLanes<'a, T>>(lanes: &'a mut [MaybeUninit<T>]) -> R {
    R::of(lanes)
}

/// What a body for all lanes takes for its first parameter.
pub trait ReceivedLanes<'a, T> {
    /// It, of an array.
    fn of(lanes: &'a mut [MaybeUninit<T>]) -> Self;
}

impl<'a, T> ReceivedLanes<'a, T> for &'a [MaybeUninit<T>] {
    #[inline(always)]
    fn of(lanes: &'a mut [MaybeUninit<T>]) -> &'a [MaybeUninit<T>] {
        lanes
    }
}

impl<'a, T> ReceivedLanes<'a, T> for &'a mut [MaybeUninit<T>] {
    #[inline(always)]
    fn of(lanes: &'a mut [MaybeUninit<T>]) -> &'a mut [MaybeUninit<T>] {
        lanes
    }
}

/// The function that a call calls, told by the types of its arguments. The closure is not called.
pub fn function_of<F: DeviceFn, R>(_: impl FnOnce() -> (PhantomData<F>, R)) -> Function {
    F::function()
}

/// What a name means to a kernel where no `#[device]` function has it: an assertion says so, and nothing else fails.
#[derive(Debug)]
pub struct Unmarked<T = ()>(PhantomData<T>);

impl<T> Unmarked<T> {
    #![allow(missing_docs, non_upper_case_globals, clippy::missing_safety_doc)] // as those of functions
    pub const __sarek_is_device: bool = false;
    pub const __sarek_sites: u32 = 0;
    pub const __sarek_collective: bool = false;
    pub const __sarek_uniform: &'static [bool] = &[];
    pub const __sarek_takes: &'static [bool] = &[true; 16];

    pub fn __sarek_infer(_: impl Sized) -> (PhantomData<Unmarked>, T) {
        unreachable!("an assertion keeps it from being called")
    }

    pub unsafe fn __sarek_body<const CHECK: bool>(
        _: &Block,
        _: [usize; 3],
        _: [usize; 3],
        _: u32,
        _: impl Sized,
    ) -> Result<T, RawFault> {
        unreachable!("an assertion keeps it from being called")
    }

    #[allow(clippy::too_many_arguments)] // as those of functions
    pub unsafe fn __sarek_block<const CHECK: bool, const FULL: bool>(
        _: &Block,
        _: [usize; 3],
        _: [usize; 3],
        _: &Scratch,
        _: u32,
        _: &[bool],
        _: impl Sized,
        _: &mut [MaybeUninit<T>],
    ) -> Result<(), RawFault> {
        unreachable!("an assertion keeps it from being called")
    }
}

// SAFETY: it is never called.
unsafe impl DeviceFn for Unmarked {
    const IR: &'static sarek_ir::Kernel = &sarek_ir::Kernel::EMPTY;
    const SITES: u32 = 0;
    const COLLECTIVE: bool = false;
    const UNIFORM: &'static [bool] = &[];

    fn links() -> sarek_ir::link::Links {
        sarek_ir::link::Links::default()
    }
}
