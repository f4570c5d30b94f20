//! Values of several parts that lanes keep from one region to the next.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use super::Scratch;
use crate::KernelType;

/// A value of each lane, of those that lanes keep.
pub trait Lanes {
    /// Its type.
    type Value;

    /// Stands for the value of some lane where only its type is asked for.
    fn any(&self) -> *const Self::Value;

    /// The value that a lane kept last.
    ///
    /// # Safety
    /// There are more lanes than `lane`, and nobody is lent the values.
    unsafe fn fetch(&self, lane: usize) -> MaybeUninit<Self::Value>;

    /// Keeps a value.
    ///
    /// # Safety
    /// As for [`Lanes::fetch`].
    unsafe fn keep(&self, lane: usize, value: MaybeUninit<Self::Value>);
}

/// A value of each lane of a block: a struct, tuple, enum or array.
///
/// It is taken apart into words as large as a part: the first word of all lanes, then the second, and so on. So lanes
/// next to each other find each part of theirs next to each other, as the loop over lanes wants it. What a lane has not
/// kept is not initialised.
pub struct Kept<'a, T> {
    words: *mut T,
    lanes: usize,
    borrow: PhantomData<&'a mut [T]>,
}

impl<'a, T: KernelType> Kept<'a, T> {
    /// Memory for the values of so many lanes.
    #[inline(always)]
    pub fn new(scratch: &'a Scratch, lanes: usize) -> Kept<'a, T> {
        Kept {
            words: scratch.uninit(lanes),
            lanes,
            borrow: PhantomData,
        }
    }

    /// # Safety
    /// As for [`Lanes::fetch`].
    #[inline(always)]
    unsafe fn each_word(&self, lane: usize, value: &mut MaybeUninit<T>, way: Way) {
        // SAFETY: there is memory for the values of so many lanes.
        unsafe { each_word(self.words, self.lanes, lane, value, way) };
    }
}

impl<T: KernelType> Lanes for Kept<'_, T> {
    type Value = T;

    fn any(&self) -> *const T {
        self.words
    }

    #[inline(always)]
    unsafe fn fetch(&self, lane: usize) -> MaybeUninit<T> {
        let mut value = MaybeUninit::uninit();
        // SAFETY: the caller's promise; the value and the memory are different ones.
        unsafe { self.each_word(lane, &mut value, Way::Fetch) };
        value
    }

    #[inline(always)]
    unsafe fn keep(&self, lane: usize, mut value: MaybeUninit<T>) {
        // SAFETY: as above.
        unsafe { self.each_word(lane, &mut value, Way::Keep) };
    }
}

/// As [`Kept`], of the lanes of a strip, and for as long as the strip is run: what is small enough lies in registers.
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

    /// Is a value small enough to be fetched and kept by each region?
    #[inline(always)]
    pub const fn is_small(&self) -> bool {
        /// Bytes, as many as sixteen floats have.
        const MOST: usize = 64;
        size_of::<T>() <= MOST
    }
}

impl<T: KernelType, const LANES: usize> Lanes for Strip<T, LANES> {
    type Value = T;

    fn any(&self) -> *const T {
        self.words.get().cast_const().cast()
    }

    #[inline(always)]
    unsafe fn fetch(&self, lane: usize) -> MaybeUninit<T> {
        let mut value = MaybeUninit::uninit();
        // SAFETY: the caller's promise; there is memory for the values of so many lanes.
        unsafe {
            let words = self.words.get().cast();
            each_word(words, LANES, lane, &mut value, Way::Fetch);
        }
        value
    }

    #[inline(always)]
    unsafe fn keep(&self, lane: usize, mut value: MaybeUninit<T>) {
        // SAFETY: as above.
        unsafe {
            let words = self.words.get().cast();
            each_word(words, LANES, lane, &mut value, Way::Keep);
        }
    }
}

/// Fills the array of a strip with what its lanes have in one of the block. In both, the first elements of all lanes stand before
/// the second ones, and so on.
///
/// # Safety
/// The strip's array has `each` elements for each of `LANES` lanes, the block's for each of `threads`, among them these lanes from
/// `lane` on.
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

/// Puts back what [`fetch_strip`] took.
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

/// Moves a value from or to memory where the first words of all lanes stand before the second ones, and so on.
///
/// # Safety
/// There is memory for the values of `lanes` lanes at `kept`, not that of `value`, and more of them than `lane`.
#[inline(always)]
unsafe fn each_word<T: KernelType>(
    kept: *mut T,
    lanes: usize,
    lane: usize,
    value: &mut MaybeUninit<T>,
    way: Way,
) {
    // SAFETY: the caller's promise; the type has the alignment of the words.
    unsafe {
        match const { word::<T>() } {
            1 => copy::<T, u8>(kept, lanes, lane, value, way),
            2 => copy::<T, u16>(kept, lanes, lane, value, way),
            4 => copy::<T, u32>(kept, lanes, lane, value, way),
            _ => copy::<T, u64>(kept, lanes, lane, value, way),
        }
    }
}

/// Bytes of a word: of the smallest scalar, but for those that share the words of larger ones.
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
    way: Way,
) {
    let kept = kept.cast::<MaybeUninit<W>>();
    let value = value.as_mut_ptr().cast::<MaybeUninit<W>>();
    for k in 0..size_of::<T>() / size_of::<W>() {
        // SAFETY: the value has so many words, and the memory as many for each lane.
        unsafe {
            let (kept, value) = (kept.add(k * lanes + lane), value.add(k));
            match way {
                Way::Fetch => *value = *kept,
                Way::Keep => *kept = *value,
            }
        }
    }
}

/// A value of each lane of a block, one after the other, as functions that lanes call together take and yield them.
///
/// What a lane has not kept is not initialised.
pub struct Rows<'a, T> {
    values: *mut MaybeUninit<T>,
    lanes: usize,
    borrow: PhantomData<&'a mut [T]>,
}

impl<'a, T: Copy> Rows<'a, T> {
    /// Memory for the values of so many lanes.
    #[inline(always)]
    pub fn new(scratch: &'a Scratch, lanes: usize) -> Rows<'a, T> {
        Rows {
            values: scratch.uninit(lanes),
            lanes,
            borrow: PhantomData,
        }
    }

    /// The values of a caller's lanes.
    #[inline(always)]
    pub fn of(values: &'a mut [MaybeUninit<T>]) -> Rows<'a, T> {
        Rows {
            values: values.as_mut_ptr(),
            lanes: values.len(),
            borrow: PhantomData,
        }
    }

    /// The values of all lanes, for a call.
    ///
    /// # Safety
    /// Nothing is fetched or kept, and they are not lent again, until the call is over.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)] // the caller's promise
    pub unsafe fn lend(&self) -> &mut [MaybeUninit<T>] {
        // SAFETY: there is room for so many values, which may be anything; the caller promises that nobody else uses them.
        unsafe { std::slice::from_raw_parts_mut(self.values, self.lanes) }
    }
}

impl<T: Copy> Lanes for Rows<'_, T> {
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

/// The same, to be written.
#[inline(always)]
pub fn flat_mut<T, const N: usize>(rows: &mut [[T; N]]) -> &mut [T] {
    rows.as_flattened_mut()
}

#[derive(Clone, Copy)]
enum Way {
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
        let rows = Rows::new(&scratch, 4);
        // SAFETY: there are four lanes, all of which keep a value before it is read; the values are lent for the inner
        // block alone.
        unsafe {
            for i in 0..4 {
                rows.keep(i, MaybeUninit::new((i as u8, i as f64)));
            }
            {
                let lent = Rows::of(rows.lend());
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
        // A byte shares the word of what comes behind it; a tag counts.
        assert_eq!([word::<(u8, f32)>(), word::<Option<f64>>()], [4, 4]);
    }

    #[test]
    fn strips_keep_values_apart() {
        let strip: Strip<(u8, f32), 4> = Strip::new();
        assert!(strip.is_small());
        // SAFETY: there are four lanes, all of which keep a value before it is read.
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
        let (wide, narrow) = (Kept::new(&scratch, 5), Kept::new(&scratch, 5));
        let value = |i: usize| -> Value { (i as u8, [7, i as u32], (i > 2).then_some(i as f64)) };
        for i in 0..5 {
            // SAFETY: there are five lanes.
            unsafe {
                wide.keep(i, MaybeUninit::new(value(i)));
                narrow.keep(i, MaybeUninit::new([i as u8; 3]));
            }
        }
        for i in 0..5 {
            // SAFETY: there are five lanes, all of which have kept a value.
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
