//! The memory of a block: shared arrays, and the values that lanes keep across barriers.

use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};

use super::owned::Owned;
use crate::types::{KernelType, SharedMemory};
use half::{bf16, f16};

/// A cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; Line::BYTES]);

impl Line {
    const BYTES: usize = 64;
}

/// A scalar, or an array of scalars, that arrays of a block's lanes may hold.
///
/// # Safety
/// It has no padding, and its alignment is at most a cache line's. If `ANY` is set, every bit
/// pattern is a valid value; zero is valid in any case.
pub unsafe trait Plain: Copy {
    /// True if every bit pattern is a valid value.
    const ANY: bool;
}

macro_rules! plain {
    ($($ty:ident)*) => {$(
        // SAFETY: a plain number.
        unsafe impl Plain for $ty {
            const ANY: bool = true;
        }
    )*};
}

plain!(u8 i8 u16 i16 u32 i32 u64 i64 usize f16 bf16 f32 f64);

// SAFETY: zero is `false`.
unsafe impl Plain for bool {
    const ANY: bool = false;
}

// SAFETY: elements lie side by side, without padding, and have the alignment of the array.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {
    const ANY: bool = T::ANY;
}

/// A position in a [`Scratch`]: the amount in use at some point.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    chunks: usize,
    used: usize,
}

/// A bump allocator that a host thread uses for one block after the other. The initial contents of
/// an array are unspecified values that earlier blocks left.
#[derive(Default)]
pub struct Scratch {
    /// The chunks are used in order, each from its start.
    chunks: UnsafeCell<Vec<Owned<Line>>>,
    /// The lines in use in the last chunk.
    used: Cell<usize>,
    /// True if there may be uninitialised bytes, such as padding of structs.
    holes: Cell<bool>,
}

impl Scratch {
    /// Takes the memory of the calling thread. It returns to the thread when the lease is dropped.
    pub(super) fn lease() -> Lease {
        // At the end of a thread there is none.
        let spare = SPARE.try_with(Cell::take).ok().flatten();
        let mut scratch = spare.unwrap_or_default();
        // A block that faulted has not released its arrays.
        scratch.reset();
        Lease(scratch)
    }

    /// Releases all arrays.
    #[inline(always)]
    pub(super) fn reset(&mut self) {
        if self.used.get() != 0 {
            if self.holes.replace(false) {
                let all = Mark { chunks: 1, used: 0 };
                // SAFETY: all arrays are released, and the reference ends here.
                unsafe { self.wipe(&*self.chunks.get(), &all) };
            }
            self.used.set(0);
            if self.chunks.get_mut().len() > 1 {
                self.join();
            }
        }
    }

    /// Fills the memory that was allocated since a mark with zeros.
    ///
    /// # Safety
    /// The memory is no longer in use.
    #[cold]
    unsafe fn wipe(&self, chunks: &[Owned<Line>], since: &Mark) {
        let last = chunks.len().saturating_sub(1);
        for (i, chunk) in chunks.iter().enumerate() {
            let first = match i + 1 {
                n if n < since.chunks => continue,
                n if n == since.chunks => since.used,
                _ => 0,
            };
            let end = if i == last {
                self.used.get()
            } else {
                chunk.len()
            };
            // SAFETY: these lines are within the chunk, and by the caller's promise they are not in
            // use.
            unsafe { chunk.as_ptr().add(first).write_bytes(0, end - first) };
        }
    }

    /// Replaces several chunks by a single large one.
    #[cold]
    fn join(&mut self) {
        let chunks = self.chunks.get_mut();
        let lines = chunks.iter().map(Owned::len).sum();
        chunks.clear();
        chunks.push(lines_of(lines));
    }

    /// Allocates an array of `len` elements, aligned to a cache line.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)] // each array is a different part of the memory
    pub fn slice<T: Plain>(&self, len: usize) -> &mut [T] {
        let bytes = len.checked_mul(size_of::<T>());
        let lines = bytes.unwrap_or_else(too_long).div_ceil(Line::BYTES);
        let first = self.lines(lines).cast::<T>();
        if !T::ANY {
            // SAFETY: `lines` found room for the array.
            unsafe { first.write_bytes(0, len) };
        }
        // SAFETY: `lines` found aligned room for the array, with initialised bytes that are valid
        // values of `T`. Until `reset`, which borrows the whole allocator, no other array gets the
        // same part.
        unsafe { std::slice::from_raw_parts_mut(first, len) }
    }

    /// Allocates an array of `N` elements, aligned to a cache line.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)] // as above
    pub fn array<T: Plain, const N: usize>(&self) -> &mut [T; N] {
        let slice = self.slice::<T>(N);
        // SAFETY: it has `N` elements.
        unsafe { &mut *slice.as_mut_ptr().cast::<[T; N]>() }
    }

    /// Allocates uninitialised memory for `len` values.
    #[inline(always)]
    pub(super) fn uninit<T>(&self, len: usize) -> *mut T {
        const { assert!(align_of::<T>() <= Line::BYTES) };
        self.holes.set(true);
        let bytes = len.checked_mul(size_of::<T>());
        let lines = bytes.unwrap_or_else(too_long).div_ceil(Line::BYTES);
        self.lines(lines).cast()
    }

    /// Allocates memory for `len` values, one for each lane, filled with zeros.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)] // as above
    pub fn room<T>(&self, len: usize) -> &mut [MaybeUninit<T>] {
        let first = self.uninit::<MaybeUninit<T>>(len);
        // SAFETY: `uninit` found aligned room for the array; its elements may be uninitialised. No
        // other array gets the same part until it is released.
        unsafe {
            first.write_bytes(0, len);
            std::slice::from_raw_parts_mut(first, len)
        }
    }

    /// Returns the current position, for [`Scratch::release`].
    #[inline(always)]
    pub fn mark(&self) -> Mark {
        // SAFETY: the reference ends here.
        let chunks = unsafe { (*self.chunks.get()).len() };
        Mark {
            chunks,
            used: self.used.get(),
        }
    }

    /// Releases the arrays that were allocated since `mark`.
    ///
    /// # Safety
    /// They are no longer in use.
    #[inline(always)]
    pub unsafe fn release(&self, mark: Mark) {
        if self.holes.get() {
            // SAFETY: the caller's promise; the reference ends here.
            unsafe { self.wipe(&*self.chunks.get(), &mark) };
        }
        // SAFETY: the reference ends here.
        let chunks = unsafe { (*self.chunks.get()).len() };
        // A chunk that was added since is entirely free.
        let used = if chunks == mark.chunks { mark.used } else { 0 };
        self.used.set(used);
    }

    /// Allocates `lines` lines, and returns a pointer to the first.
    #[inline(always)]
    fn lines(&self, lines: usize) -> *mut Line {
        // SAFETY: the reference ends before any other access to the chunks, which `Cell`s keep on
        // this thread. It is a reference to the list only, not to the lines, parts of which are
        // lent.
        let chunks = unsafe { &mut *self.chunks.get() };
        let used = self.used.get();
        match chunks.last() {
            Some(chunk) if chunk.len() - used >= lines => {
                self.used.set(used + lines);
                // SAFETY: the chunk has this many lines.
                unsafe { chunk.as_ptr().add(used) }
            }
            Some(_) | None => self.grow(chunks, lines),
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&self, chunks: &mut Vec<Owned<Line>>, lines: usize) -> *mut Line {
        /// In lines: 16 KiB.
        const LEAST: usize = 256;
        // The chunk is as large as all earlier ones together, so a function that is called
        // repeatedly eventually fits in one chunk.
        let all: usize = chunks.iter().map(Owned::len).sum();
        chunks.push(lines_of(lines.max(LEAST).max(all)));
        self.used.set(lines);
        match chunks.last() {
            Some(chunk) => chunk.as_ptr(),
            None => unreachable!("a chunk was pushed"),
        }
    }
}

impl SharedMemory for Scratch {
    #[inline(always)]
    fn shared_slice<T: KernelType>(&self, len: usize) -> &mut [T] {
        const {
            assert!(T::TYPE.takes_any_bits() && align_of::<T>() <= Line::BYTES);
        }
        if const { size_of::<T>() as u64 != T::TYPE.scalar_bytes() } {
            self.holes.set(true);
        }
        let bytes = len.checked_mul(size_of::<T>());
        let lines = bytes.unwrap_or_else(too_long).div_ceil(Line::BYTES);
        let first = self.lines(lines).cast::<T>();
        // SAFETY: as in `slice`; any bits are a valid `T`. If writes may leave bytes uninitialised,
        // `reset` knows from `holes`.
        unsafe { std::slice::from_raw_parts_mut(first, len) }
    }

    #[inline(always)]
    fn shared_array<T: KernelType, const N: usize>(&self) -> &mut [T; N] {
        let slice = self.shared_slice::<T>(N);
        // SAFETY: it has `N` elements.
        unsafe { &mut *slice.as_mut_ptr().cast::<[T; N]>() }
    }
}

fn lines_of(lines: usize) -> Owned<Line> {
    vec![Line([0; Line::BYTES]); lines]
        .into_boxed_slice()
        .into()
}

#[cold]
fn too_long() -> usize {
    panic!("a shared array is larger than memory")
}

thread_local! {
    static SPARE: Cell<Option<Scratch>> = const { Cell::new(None) };
}

/// The scratch memory of a host thread, while blocks run there.
pub(super) struct Lease(Scratch);

impl Deref for Lease {
    type Target = Scratch;

    fn deref(&self) -> &Scratch {
        &self.0
    }
}

impl DerefMut for Lease {
    fn deref_mut(&mut self) -> &mut Scratch {
        &mut self.0
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let scratch = std::mem::take(&mut self.0);
        let _kept = SPARE.try_with(|spare| spare.set(Some(scratch)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_lie_apart_and_aligned() {
        let mut scratch = Scratch::default();
        for _ in 0..3 {
            let a = scratch.array::<f32, 17>();
            let b = scratch.slice::<u64>(5000);
            let c = scratch.slice::<bool>(3);
            a.fill(1.0);
            b.fill(u64::MAX);
            c.fill(true);
            let empty = scratch.slice::<u32>(0);
            assert!(a.iter().all(|v| *v == 1.0) && b.iter().all(|v| *v == u64::MAX));
            assert!(empty.is_empty());
            assert_eq!(a.as_ptr() as usize % 64, 0);
            assert_eq!(c.as_ptr() as usize % 64, 0);
            scratch.reset();
        }
        assert_eq!(scratch.chunks.get_mut().len(), 1);
        scratch.slice::<u8>(64).fill(0xff);
        scratch.reset();
        assert_eq!(scratch.slice::<bool>(64), [false; 64]);
    }

    /// To be run under Miri: earlier arrays stay valid while more are allocated.
    #[test]
    fn arrays_are_used_in_turns() {
        let mut scratch = Scratch::default();
        let a = scratch.slice::<u32>(4);
        a[0] = 1;
        let b = scratch.shared_slice::<(u8, u32)>(4);
        b[0] = (2, 2);
        a[0] += 2;
        let mark = scratch.mark();
        scratch.slice::<u64>(5000)[4999] = 1;
        // SAFETY: the array is no longer in use.
        unsafe { scratch.release(mark) };
        (a[1], b[1]) = (4, (5, 6));
        assert_eq!((a[0], a[1], b[0], b[1]), (3, 4, (2, 2), (5, 6)));
        scratch.reset();
        assert_eq!(scratch.slice::<u8>(16), [0; 16]);
    }

    #[test]
    fn what_structs_leave_out_is_filled_again() {
        let mut scratch = Scratch::default();
        scratch.shared_slice::<(u8, u32)>(9).fill((1, u32::MAX));
        assert!(scratch.holes.get());
        scratch.reset();
        assert_eq!(scratch.slice::<u8>(72), [0; 72]);
        scratch.shared_array::<[f32; 3], 4>().fill([1.0; 3]);
        assert!(!scratch.holes.get());
    }

    #[test]
    fn what_is_taken_back_is_given_out_again() {
        let scratch = Scratch::default();
        let kept = scratch.slice::<u32>(100);
        kept.fill(7);
        for turn in 0..20 {
            let mark = scratch.mark();
            for len in [3, 5000, 700] {
                let room = scratch.room::<(u8, u64)>(len);
                room.fill(MaybeUninit::new((turn, 1)));
            }
            // SAFETY: the arrays are no longer in use.
            unsafe { scratch.release(mark) };
        }
        assert!(kept.iter().all(|v| *v == 7));
        // SAFETY: no other code accesses the chunks.
        assert!(unsafe { (*scratch.chunks.get()).len() } < 6);
    }

    #[test]
    fn a_thread_keeps_its_memory() {
        let first = Scratch::lease().slice::<u8>(1).as_ptr();
        assert_eq!(Scratch::lease().slice::<u8>(1).as_ptr(), first);
    }
}
