//! Compound values that lanes keep between regions of a kernel.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use super::Scratch;
use crate::KernelType;

/// The values of one variable, one for each lane.
pub trait LaneStorage {
    /// The type of a value.
    type Value;

    /// A pointer that stands for the value of some lane, where only the type is needed.
    fn any(&self) -> *const Self::Value;

    /// Returns the value that a lane stored last.
    ///
    /// # Safety
    /// `lane` is below the number of lanes, and the values are not lent.
    unsafe fn fetch(&self, lane: usize) -> MaybeUninit<Self::Value>;

    /// Stores a value for a lane.
    ///
    /// # Safety
    /// As for [`LaneStorage::fetch`].
    unsafe fn keep(&self, lane: usize, value: MaybeUninit<Self::Value>);
}

/// Compound values, one for each lane of a block: structs, tuples, enums or arrays.
///
/// They are stored as a structure of arrays: values are split into words of the size of a part, and
/// the first words of all lanes come first, then the second, and so on. So neighbouring lanes have
/// each part next to each other, as a vectorised loop over lanes needs it. The value of a lane is
/// uninitialised until the lane stores one.
pub struct LaneValuesSoa<'a, T> {
    words: *mut T,
    lanes: usize,
    borrow: PhantomData<&'a mut [T]>,
}

impl<'a, T: KernelType> LaneValuesSoa<'a, T> {
    /// Allocates memory for the values of `lanes` lanes.
    #[inline(always)]
    pub fn new(scratch: &'a Scratch, lanes: usize) -> LaneValuesSoa<'a, T> {
        LaneValuesSoa {
            words: scratch.uninit(lanes),
            lanes,
            borrow: PhantomData,
        }
    }

    /// # Safety
    /// As for [`LaneStorage::fetch`].
    #[inline(always)]
    unsafe fn each_word(&self, lane: usize, value: &mut MaybeUninit<T>, direction: Direction) {
        // SAFETY: there is memory for the values of `lanes` lanes.
        unsafe { each_word(self.words, self.lanes, lane, value, direction) };
    }
}

impl<T: KernelType> LaneStorage for LaneValuesSoa<'_, T> {
    type Value = T;

    fn any(&self) -> *const T {
        self.words
    }

    #[inline(always)]
    unsafe fn fetch(&self, lane: usize) -> MaybeUninit<T> {
        let mut value = MaybeUninit::uninit();
        // SAFETY: the caller's promise; the value and the memory do not overlap.
        unsafe { self.each_word(lane, &mut value, Direction::Fetch) };
        value
    }

    #[inline(always)]
    unsafe fn keep(&self, lane: usize, mut value: MaybeUninit<T>) {
        // SAFETY: as above.
        unsafe { self.each_word(lane, &mut value, Direction::Keep) };
    }
}

/// The same as [`LaneValuesSoa`] for the lanes of a strip, while the strip runs; small values stay in
/// registers.
pub struct Strip<T, const LANES: usize> {
    words: UnsafeCell<[MaybeUninit<T>; LANES]>,
}

impl<T: KernelType, const LANES: usize> Strip<T, LANES> {
    /// Memory for the values of all lanes.
    #[inline(always)]
    #[allow(clippy::new_without_default)] // it has no value yet
    pub const fn new() -> Strip<T, LANES> {
        Strip {
            words: UnsafeCell::new([MaybeUninit::uninit(); LANES]),
        }
    }

    /// True if a value is small enough for each region to fetch and store it.
    #[inline(always)]
    pub const fn is_small(&self) -> bool {
        /// The size of sixteen floats, in bytes.
        const MOST: usize = 64;
        size_of::<T>() <= MOST
    }
}

impl<T: KernelType, const LANES: usize> LaneStorage for Strip<T, LANES> {
    type Value = T;

    fn any(&self) -> *const T {
        self.words.get().cast_const().cast()
    }

    #[inline(always)]
    unsafe fn fetch(&self, lane: usize) -> MaybeUninit<T> {
        let mut value = MaybeUninit::uninit();
        // SAFETY: the caller's promise; there is memory for the values of `LANES` lanes.
        unsafe {
            let words = self.words.get().cast();
            each_word(words, LANES, lane, &mut value, Direction::Fetch);
        }
        value
    }

    #[inline(always)]
    unsafe fn keep(&self, lane: usize, mut value: MaybeUninit<T>) {
        // SAFETY: as above.
        unsafe {
            let words = self.words.get().cast();
            each_word(words, LANES, lane, &mut value, Direction::Keep);
        }
    }
}

/// Copies a strip's lanes from a block's array to the strip's array. In both arrays, the first
/// elements of all lanes come first, then the second, and so on.
///
/// # Safety
/// The strip's array has `each` elements for each of `LANES` lanes. The block's array has as many
/// for each of `threads` threads, which include the `LANES` lanes from `lane` on.
#[inline(always)]
pub unsafe fn fetch_strip<T: Copy, const LANES: usize>(
    strip: &mut [T],
    block: &[T],
    lane: usize,
    threads: usize,
    each: usize,
) {
    for e in 0..each {
        for w in 0..LANES {
            // SAFETY: the caller's promise.
            unsafe {
                *strip.get_unchecked_mut(e * LANES + w) =
                    *block.get_unchecked(e * threads + lane + w);
            }
        }
    }
}

/// Copies the strip's array back; the inverse of [`fetch_strip`].
///
/// # Safety
/// As for [`fetch_strip`].
#[inline(always)]
pub unsafe fn keep_strip<T: Copy, const LANES: usize>(
    strip: &[T],
    block: &mut [T],
    lane: usize,
    threads: usize,
    each: usize,
) {
    for e in 0..each {
        for w in 0..LANES {
            // SAFETY: the caller's promise.
            unsafe {
                *block.get_unchecked_mut(e * threads + lane + w) =
                    *strip.get_unchecked(e * LANES + w);
            }
        }
    }
}

/// Moves a value from or to memory in which the first words of all lanes come first, then the
/// second, and so on.
///
/// # Safety
/// `kept` has memory for the values of `lanes` lanes, which does not overlap `value`; `lane` is
/// below `lanes`.
#[inline(always)]
unsafe fn each_word<T: KernelType>(
    kept: *mut T,
    lanes: usize,
    lane: usize,
    value: &mut MaybeUninit<T>,
    direction: Direction,
) {
    // SAFETY: the caller's promise; the type is at least as aligned as the words.
    unsafe {
        match const { word::<T>() } {
            1 => copy::<T, u8>(kept, lanes, lane, value, direction),
            2 => copy::<T, u16>(kept, lanes, lane, value, direction),
            4 => copy::<T, u32>(kept, lanes, lane, value, direction),
            _ => copy::<T, u64>(kept, lanes, lane, value, direction),
        }
    }
}

/// The size of a word in bytes: that of the smallest scalar, ignoring those that share the words of
/// larger ones.
const fn word<T: KernelType>() -> usize {
    let of_four = T::TYPE.smallest_scalar(4);
    let size = if of_four == 0 {
        T::TYPE.smallest_scalar(1)
    } else {
        of_four
    };
    if (size as usize) < align_of::<T>() {
        size as usize
    } else {
        align_of::<T>()
    }
}

/// # Safety
/// As for [`each_word`]; `T` is at least as aligned as `W`.
#[inline(always)]
unsafe fn copy<T, W: Copy>(
    kept: *mut T,
    lanes: usize,
    lane: usize,
    value: &mut MaybeUninit<T>,
    direction: Direction,
) {
    let kept = kept.cast::<MaybeUninit<W>>();
    let value = value.as_mut_ptr().cast::<MaybeUninit<W>>();
    for k in 0..size_of::<T>() / size_of::<W>() {
        // SAFETY: the value has this many words, and the memory has as many for each lane.
        unsafe {
            let (kept, value) = (kept.add(k * lanes + lane), value.add(k));
            match direction {
                Direction::Fetch => *value = *kept,
                Direction::Keep => *kept = *value,
            }
        }
    }
}

/// Values of all lanes of a block, one after the other: the form in which collective functions take
/// arguments and return results.
///
/// The value of a lane is uninitialised until the lane stores one.
pub struct LaneValues<'a, T> {
    values: *mut MaybeUninit<T>,
    lanes: usize,
    borrow: PhantomData<&'a mut [T]>,
}

impl<'a, T: Copy> LaneValues<'a, T> {
    /// Allocates memory for the values of `lanes` lanes.
    #[inline(always)]
    pub fn new(scratch: &'a Scratch, lanes: usize) -> LaneValues<'a, T> {
        LaneValues {
            values: scratch.uninit(lanes),
            lanes,
            borrow: PhantomData,
        }
    }

    /// Wraps the values of a caller's lanes.
    #[inline(always)]
    pub fn of(values: &'a mut [MaybeUninit<T>]) -> LaneValues<'a, T> {
        LaneValues {
            values: values.as_mut_ptr(),
            lanes: values.len(),
            borrow: PhantomData,
        }
    }

    /// Lends the values of all lanes to a call.
    ///
    /// # Safety
    /// Until the call is over, no value is fetched or stored, and they are not lent again.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)] // the caller's promise
    pub unsafe fn lend(&self) -> &mut [MaybeUninit<T>] {
        // SAFETY: there is room for this many values, which may be uninitialised; the caller
        // promises exclusive use.
        unsafe { std::slice::from_raw_parts_mut(self.values, self.lanes) }
    }
}

impl<T: Copy> LaneStorage for LaneValues<'_, T> {
    type Value = T;

    fn any(&self) -> *const T {
        self.values.cast()
    }

    #[inline(always)]
    unsafe fn fetch(&self, lane: usize) -> MaybeUninit<T> {
        // SAFETY: the caller's promise.
        unsafe { *self.values.add(lane) }
    }

    #[inline(always)]
    unsafe fn keep(&self, lane: usize, value: MaybeUninit<T>) {
        // SAFETY: the caller's promise.
        unsafe { *self.values.add(lane) = value };
    }
}

/// The elements of all rows, one after the other.
#[inline(always)]
pub fn flat<T, const N: usize>(rows: &[[T; N]]) -> &[T] {
    rows.as_flattened()
}

/// The same, for writing.
#[inline(always)]
pub fn flat_mut<T, const N: usize>(rows: &mut [[T; N]]) -> &mut [T] {
    rows.as_flattened_mut()
}

#[derive(Clone, Copy)]
enum Direction {
    Fetch,
    Keep,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{f32x4, f64x2};

    #[test]
    fn values_are_lent_lane_by_lane() {
        let scratch = Scratch::default();
        let rows = LaneValues::new(&scratch, 4);
        // SAFETY: there are four lanes, which all store a value before it is read; the values are
        // lent for the inner block only.
        unsafe {
            for i in 0..4 {
                rows.keep(i, MaybeUninit::new((i as u8, i as f64)));
            }
            {
                let lent = LaneValues::of(rows.lend());
                lent.keep(2, MaybeUninit::new((9, 0.5)));
            }
            let all = [0, 1, 2, 3].map(|i| rows.fetch(i).assume_init());
            assert_eq!(all, [(0, 0.0), (1, 1.0), (9, 0.5), (3, 3.0)]);
        }
    }

    #[test]
    fn words_are_as_large_as_parts() {
        let of_numbers = [word::<f32x4>(), word::<f64x2>(), word::<[u8; 3]>()];
        assert_eq!(of_numbers, [4, 8, 1]);
        // A byte shares the word of the field after it; a tag counts as a part.
        assert_eq!([word::<(u8, f32)>(), word::<Option<f64>>()], [4, 4]);
    }

    #[test]
    fn strips_keep_values_apart() {
        let strip: Strip<(u8, f32), 4> = Strip::new();
        assert!(strip.is_small());
        // SAFETY: there are four lanes, which all store a value before it is read.
        unsafe {
            for i in 0..4 {
                strip.keep(i, MaybeUninit::new((i as u8, i as f32)));
            }
            strip.keep(1, MaybeUninit::new((9, 0.5)));
            let all = [0, 1, 2, 3].map(|i| strip.fetch(i).assume_init());
            assert_eq!(all, [(0, 0.0), (9, 0.5), (2, 2.0), (3, 3.0)]);
        }
        assert!(!Strip::<[f32; 17], 4>::new().is_small());
    }

    #[test]
    fn strips_take_their_lanes_from_the_block_and_put_them_back() {
        const EACH: usize = 3;
        const THREADS: usize = 12;
        let mut block: [usize; EACH * THREADS] = std::array::from_fn(|i| i);
        let mut strip = [0; EACH * 4];
        // SAFETY: lanes 5 to 8 of twelve, with three elements each.
        unsafe { fetch_strip::<_, 4>(&mut strip, &block, 5, THREADS, EACH) };
        assert_eq!(strip, [5, 6, 7, 8, 17, 18, 19, 20, 29, 30, 31, 32]);

        strip = strip.map(|element| element + 100);
        // SAFETY: as above.
        unsafe { keep_strip::<_, 4>(&strip, &mut block, 5, THREADS, EACH) };
        for (i, element) in block.into_iter().enumerate() {
            let is_own = (5..9).contains(&(i % THREADS));
            assert_eq!(element, if is_own { i + 100 } else { i });
        }
    }

    #[test]
    fn lanes_keep_values_apart() {
        type Value = (u8, [u32; 2], Option<f64>);
        let scratch = Scratch::default();
        let (wide, narrow) = (
            LaneValuesSoa::new(&scratch, 5),
            LaneValuesSoa::new(&scratch, 5),
        );
        let value = |i: usize| -> Value { (i as u8, [7, i as u32], (i > 2).then_some(i as f64)) };
        for i in 0..5 {
            // SAFETY: there are five lanes.
            unsafe {
                wide.keep(i, MaybeUninit::new(value(i)));
                narrow.keep(i, MaybeUninit::new([i as u8; 3]));
            }
        }
        for i in 0..5 {
            // SAFETY: there are five lanes, which all have stored a value.
            unsafe {
                assert_eq!(wide.fetch(i).assume_init(), value(i));
                assert_eq!(narrow.fetch(i).assume_init(), [i as u8; 3]);
            }
        }
        // SAFETY: three bytes for each lane, one after the other.
        let bytes = unsafe { *narrow.words.cast::<[u8; 6]>() };
        assert_eq!(bytes, [0, 1, 2, 3, 4, 0]);
    }
}
