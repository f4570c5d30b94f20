//! Calls of functions in which the threads of a block work together: one call for all lanes, with an array of
//! each argument.

use std::mem::MaybeUninit;

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

/// Must all threads give a function the same for its parameter at this position?
pub const fn asks(uniform: &[bool], at: usize) -> bool {
    at < uniform.len() && uniform[at]
}
