//! Subgroup operations on a strip: an array with an element for each lane of some complete subgroups, whose lanes
//! all take part.
//!
//! Moves by a distance that is a constant are written with vectors of 16 bytes. The compiler can then keep a strip
//! in registers from one operation to the next. Code for single lanes would make it load vectors across those
//! that were just stored, and such loads wait.

#[cfg(target_arch = "x86_64")]
mod vectors;

use super::SUBGROUP;
use super::non_atomic::Combine;
use super::subgroup::halving;

/// The number of a strip's subgroups whose prefix sums are computed side by side.
const CHAINS: usize = 4;

/// Calls `f` with the lane number in its subgroup, and the number of the subgroup's first lane.
#[inline(always)]
fn each<const N: usize>(mut f: impl FnMut(usize, usize)) {
    let mut first = 0;
    while first < N {
        let mut lane = 0;
        while lane < SUBGROUP {
            f(lane, first);
            lane += 1;
        }
        first += SUBGROUP;
    }
}

/// Gives each lane the value of lane `from(lane)` of its subgroup, or its own if there is no such lane.
#[inline(always)]
fn take<T: Copy, const N: usize>(
    values: &[T; N],
    out: &mut [T; N],
    from: impl Fn(usize) -> Option<usize>,
) {
    each::<N>(|lane, first| {
        let from = from(lane).filter(|from| *from < SUBGROUP);
        out[first + lane] = values[first + from.unwrap_or(lane)];
    });
}

/// Implements a move with vectors if there are some for values of this size.
macro_rules! constant_moves {
    ($($(#[$doc:meta])* $name:ident $moved:ident |$lane:ident| $from:expr;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name<T: Copy, const BY: usize, const N: usize>(values: &[T; N], out: &mut [T; N]) {
            const { assert!(N.is_multiple_of(SUBGROUP), "a strip consists of complete subgroups") };
            #[cfg(target_arch = "x86_64")]
            {
                use std::arch::x86_64::{__m128, __m128d};
                use vectors::{$moved, run};
                let (from, to) = (values.as_ptr(), out.as_mut_ptr());
                match size_of::<T>() {
                    // SAFETY: the arrays have `N` values of the size, in complete subgroups.
                    4 => return unsafe { run::<__m128, $moved<BY>>(from.cast(), to.cast(), N) },
                    // SAFETY: as above.
                    8 => return unsafe { run::<__m128d, $moved<BY>>(from.cast(), to.cast(), N) },
                    _ => {}
                }
            }
            take(values, out, |$lane| $from);
        }
    )*};
}

constant_moves! {
    /// The value of the lane that is `BY` above.
    shuffle_down Down |lane| lane.checked_add(BY);
    /// The value of the lane that is `BY` below.
    shuffle_up Up |lane| lane.checked_sub(BY);
    /// The value of the lane whose number is the own one `^ BY`.
    shuffle_xor Xor |lane| Some(lane ^ BY);
}

/// The same for a distance that is known at run time, and is the same for all lanes.
macro_rules! moves_by {
    ($($(#[$doc:meta])* $name:ident $constant:ident |$lane:ident, $by:ident| $from:expr;)*) => {$(
        $(#[$doc])*
        #[inline(never)]
        pub fn $name<T: Copy, const N: usize>(values: &[T; N], by: usize, out: &mut [T; N]) {
            // The steps of trees.
            match by {
                1 => $constant::<T, 1, N>(values, out),
                2 => $constant::<T, 2, N>(values, out),
                4 => $constant::<T, 4, N>(values, out),
                8 => $constant::<T, 8, N>(values, out),
                16 => $constant::<T, 16, N>(values, out),
                $by => take(values, out, |$lane| $from),
            }
        }
    )*};
}

moves_by! {
    /// The value of the lane that is `by` above.
    shuffle_down_by shuffle_down |lane, by| lane.checked_add(by);
    /// The value of the lane that is `by` below.
    shuffle_up_by shuffle_up |lane, by| lane.checked_sub(by);
    /// The value of the lane whose number is the own one `^ by`.
    shuffle_xor_by shuffle_xor |lane, by| Some(lane ^ by);
}

/// The value of one lane of each subgroup.
#[inline(always)]
pub fn broadcast_by<T: Copy, const N: usize>(values: &[T; N], from: usize, out: &mut [T; N]) {
    for (values, out) in subgroups(values).iter().zip(subgroups_mut(out)) {
        match values.get(from) {
            Some(value) => *out = [*value; SUBGROUP],
            None => *out = *values,
        }
    }
}

macro_rules! moves {
    ($($(#[$doc:meta])* $name:ident |$own:ident, $lane:ident| $from:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name<T: Copy, const N: usize>(
            values: &[T; N],
            lanes: &[usize; N],
            out: &mut [T; N],
        ) {
            each::<N>(|$own, first| {
                let $lane = lanes[first + $own];
                let from: Option<usize> = $from;
                let from = from.filter(|from| *from < SUBGROUP).unwrap_or($own);
                out[first + $own] = values[first + from];
            });
        }
    )*};
}

moves! {
    /// The value of the given lane.
    shuffle |own, lane| Some(lane);
    /// The value of the lane that is `lane` below.
    shuffle_up_each |own, lane| own.checked_sub(lane);
    /// The value of the lane that is `lane` above.
    shuffle_down_each |own, lane| own.checked_add(lane);
    /// The value of the lane whose number is the own one `^ lane`.
    shuffle_xor_each |own, lane| Some(own ^ lane);
    /// The value of the given lane, which is the same for all.
    broadcast_each |own, lane| Some(lane);
}

#[inline(always)]
fn subgroups<T, const N: usize>(values: &[T; N]) -> &[[T; SUBGROUP]] {
    values.as_chunks().0
}

#[inline(always)]
fn subgroups_mut<T, const N: usize>(values: &mut [T; N]) -> &mut [[T; SUBGROUP]] {
    values.as_chunks_mut().0
}

/// An operation on vectors of `f32`, which is faster than the one on each value.
#[derive(Clone, Copy)]
enum Singles {
    Add,
    Multiply,
    None,
}

/// Combines the values of each subgroup with `f`, as [`halving`] does, and gives the result to all lanes.
#[inline(always)]
fn fold<T: Combine, const N: usize>(
    values: &[T; N],
    out: &mut [T; N],
    #[allow(unused)] singles: Singles,
    f: impl Fn(T, T) -> T + Copy,
) {
    for (values, out) in subgroups(values).iter().zip(subgroups_mut(out)) {
        #[cfg(target_arch = "x86_64")]
        if let Some(all) = vectors::fold(values, singles) {
            *out = [all; SUBGROUP];
            continue;
        }
        *out = [halving(values, f); SUBGROUP];
    }
}

/// The sum over all lanes.
#[inline(always)]
pub fn sum<T: Combine, const N: usize>(values: &[T; N], out: &mut [T; N]) {
    fold(values, out, Singles::Add, T::add);
}

/// The product over all lanes.
#[inline(always)]
pub fn product<T: Combine, const N: usize>(values: &[T; N], out: &mut [T; N]) {
    fold(values, out, Singles::Multiply, T::mul);
}

/// The minimum over all lanes.
#[inline(always)]
pub fn min<T: Combine, const N: usize>(values: &[T; N], out: &mut [T; N]) {
    fold(values, out, Singles::None, T::smaller);
}

/// The maximum over all lanes.
#[inline(always)]
pub fn max<T: Combine, const N: usize>(values: &[T; N], out: &mut [T; N]) {
    fold(values, out, Singles::None, T::larger);
}

/// The inclusive or exclusive prefix sum. The first lane gets its own value or zero.
#[inline(always)]
fn scan<T: Combine, const N: usize>(values: &[T; N], out: &mut [T; N], inclusive: bool) {
    let (groups, rest) = subgroups(values).as_chunks::<CHAINS>();
    let (outs, rest_out) = subgroups_mut(out).as_chunks_mut::<CHAINS>();
    for (values, out) in groups.iter().zip(outs) {
        #[cfg(target_arch = "x86_64")]
        if vectors::scan(values, out, inclusive) {
            continue;
        }
        for (values, out) in values.iter().zip(out) {
            scan_one(values, out, inclusive);
        }
    }
    for (values, out) in rest.iter().zip(rest_out) {
        scan_one(values, out, inclusive);
    }
}

#[inline(always)]
fn scan_one<T: Combine>(values: &[T; SUBGROUP], out: &mut [T; SUBGROUP], inclusive: bool) {
    // Adding to zero would lose the sign of a negative zero.
    let mut sum = values[0];
    out[0] = if inclusive { sum } else { T::ZERO };
    for (value, out) in values[1..].iter().zip(&mut out[1..]) {
        let next = sum.add(*value);
        *out = if inclusive { next } else { sum };
        sum = next;
    }
}

/// The inclusive prefix sum: over the lanes up to and including the own one.
#[inline(always)]
pub fn inclusive_sum<T: Combine, const N: usize>(values: &[T; N], out: &mut [T; N]) {
    scan(values, out, true);
}

/// The exclusive prefix sum: over the lanes below the own one.
#[inline(always)]
pub fn exclusive_sum<T: Combine, const N: usize>(values: &[T; N], out: &mut [T; N]) {
    scan(values, out, false);
}

/// The lanes in which the value is true, as bits.
#[inline(always)]
fn bits(values: &[bool; SUBGROUP]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        vectors::bits(values)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let each = values.iter().enumerate();
        each.fold(0, |bits, (lane, value)| bits | (u32::from(*value) << lane))
    }
}

/// True if the value is true in all lanes.
#[inline(always)]
pub fn all<const N: usize>(values: &[bool; N], out: &mut [bool; N]) {
    for (values, out) in subgroups(values).iter().zip(subgroups_mut(out)) {
        *out = [bits(values) == u32::MAX; SUBGROUP];
    }
}

/// True if the value is true in any lane.
#[inline(always)]
pub fn any<const N: usize>(values: &[bool; N], out: &mut [bool; N]) {
    for (values, out) in subgroups(values).iter().zip(subgroups_mut(out)) {
        *out = [bits(values) != 0; SUBGROUP];
    }
}

/// The lanes in which the value is true, as bits.
#[inline(always)]
pub fn ballot<const N: usize>(values: &[bool; N], out: &mut [u64; N]) {
    for (values, out) in subgroups(values).iter().zip(subgroups_mut(out)) {
        *out = [u64::from(bits(values)); SUBGROUP];
    }
}

#[cfg(test)]
mod tests;
