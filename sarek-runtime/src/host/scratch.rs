//! Memory of a block: shared arrays, and the lanes' values from one barrier to the next.

use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};

use super::owned::Owned;
use crate::KernelType;
use half::{bf16, f16};

/// A cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; Line::BYTES]);

impl Line {
    const BYTES: usize = 64;
}

/// A scalar of which the lanes of a block may have arrays.
///
/// # Safety
/// It has no padding, its alignment is at most a cache line's, and if `ANY` is set, every bit pattern is
/// a value; zero is one in any case.
pub unsafe trait Plain: Copy {
    /// Is every bit pattern a value?
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

/// How much of a [`Scratch`] was in use at some point.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    chunks: usize,
    used: usize,
}

/// Memory that a thread of the processor uses for one block after the other. What an array holds at first is
/// unspecified: a value that some block left there.
#[derive(Default)]
pub struct Scratch {
    /// The first is in use from its start, then the next.
    chunks: UnsafeCell<Vec<Owned<Line>>>,
    /// Lines in use of the last chunk.
    used: Cell<usize>,
    /// May bytes be there that were not initialised: those between the fields of a struct?
    holes: Cell<bool>,
}

impl Scratch {
    /// The calling thread's. It goes back to the thread when the lease ends.
    pub(super) fn lease() -> Lease {
        // Behind a thread's end it has none.
        let spare = SPARE.try_with(Cell::take).ok().flatten();
        let mut scratch = spare.unwrap_or_default();
        // A block that faulted left its arrays.
        scratch.reset();
        Lease(scratch)
    }

    /// Takes back all arrays.
    #[inline(always)]
    pub(super) fn reset(&mut self) {
        if self.used.get() != 0 {
            if self.holes.replace(false) {
                let all = Mark { chunks: 1, used: 0 };
                // SAFETY: all arrays are taken back, and the reference ends here.
                unsafe { self.wipe(&*self.chunks.get(), &all) };
            }
            self.used.set(0);
            if self.chunks.get_mut().len() > 1 {
                self.join();
            }
        }
    }

    /// Fills what was given out since a mark.
    ///
    /// # Safety
    /// Nobody uses it any more.
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
            // SAFETY: these lines are within the chunk, and by the caller's promise nobody has them.
            unsafe { chunk.as_ptr().add(first).write_bytes(0, end - first) };
        }
    }

    /// One chunk for what took several.
    #[cold]
    fn join(&mut self) {
        let chunks = self.chunks.get_mut();
        let lines = chunks.iter().map(Owned::len).sum();
        chunks.clear();
        chunks.push(lines_of(lines));
    }

    /// An array of so many elements, aligned to a cache line.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)] // each array is another part of the memory
    pub fn slice<T: Plain>(&self, len: usize) -> &mut [T] {
        let bytes = len.checked_mul(size_of::<T>());
        let lines = bytes.unwrap_or_else(too_long).div_ceil(Line::BYTES);
        let first = self.lines(lines).cast::<T>();
        if !T::ANY {
            // SAFETY: `lines` found room for the array.
            unsafe { first.write_bytes(0, len) };
        }
        // SAFETY: `lines` found room for the array, aligned, of initialised bytes that are values of `T`; until
        // `reset`, which borrows all of it, nobody is given the same part again.
        unsafe { std::slice::from_raw_parts_mut(first, len) }
    }

    /// An array of so many elements, aligned to a cache line.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)] // as above
    pub fn array<T: Plain, const N: usize>(&self) -> &mut [T; N] {
        let slice = self.slice::<T>(N);
        // SAFETY: it has `N` elements.
        unsafe { &mut *slice.as_mut_ptr().cast::<[T; N]>() }
    }

    /// A shared array of so many elements.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)] // as above
    pub fn shared_slice<T: KernelType>(&self, len: usize) -> &mut [T] {
        const {
            assert!(T::TYPE.takes_any_bits() && align_of::<T>() <= Line::BYTES);
        }
        if const { size_of::<T>() as u64 != T::TYPE.scalar_bytes() } {
            self.holes.set(true);
        }
        let bytes = len.checked_mul(size_of::<T>());
        let lines = bytes.unwrap_or_else(too_long).div_ceil(Line::BYTES);
        let first = self.lines(lines).cast::<T>();
        // SAFETY: as in `slice`; any bits are a value of `T`, and where bytes may lose theirs, `reset` knows.
        unsafe { std::slice::from_raw_parts_mut(first, len) }
    }

    /// A shared array of so many elements.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)] // as above
    pub fn shared_array<T: KernelType, const N: usize>(&self) -> &mut [T; N] {
        let slice = self.shared_slice::<T>(N);
        // SAFETY: it has `N` elements.
        unsafe { &mut *slice.as_mut_ptr().cast::<[T; N]>() }
    }

    /// Memory for so many values, which are not there yet.
    #[inline(always)]
    pub(super) fn uninit<T>(&self, len: usize) -> *mut T {
        const { assert!(align_of::<T>() <= Line::BYTES) };
        self.holes.set(true);
        let bytes = len.checked_mul(size_of::<T>());
        let lines = bytes.unwrap_or_else(too_long).div_ceil(Line::BYTES);
        self.lines(lines).cast()
    }

    /// Room for so many values, one for each lane: zeros at first.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)] // as above
    pub fn room<T>(&self, len: usize) -> &mut [MaybeUninit<T>] {
        let first = self.uninit::<MaybeUninit<T>>(len);
        // SAFETY: `uninit` found room for the array, aligned; its elements may be anything. Nobody is given the same
        // part until it is taken back.
        unsafe {
            first.write_bytes(0, len);
            std::slice::from_raw_parts_mut(first, len)
        }
    }

    /// How much is in use.
    #[inline(always)]
    pub fn mark(&self) -> Mark {
        // SAFETY: the reference ends here.
        let chunks = unsafe { (*self.chunks.get()).len() };
        Mark {
            chunks,
            used: self.used.get(),
        }
    }

    /// Takes back the arrays that were given out since `mark`.
    ///
    /// # Safety
    /// Nobody uses them any more.
    #[inline(always)]
    pub unsafe fn release(&self, mark: Mark) {
        if self.holes.get() {
            // SAFETY: the caller's promise; the reference ends here.
            unsafe { self.wipe(&*self.chunks.get(), &mark) };
        }
        // SAFETY: the reference ends here.
        let chunks = unsafe { (*self.chunks.get()).len() };
        // All of a chunk that was added since is free.
        let used = if chunks == mark.chunks { mark.used } else { 0 };
        self.used.set(used);
    }

    /// The first of so many lines.
    #[inline(always)]
    fn lines(&self, lines: usize) -> *mut Line {
        // SAFETY: the reference ends before anything else looks at the chunks, which `Cell`s keep on this
        // thread. It is one to the list alone, not to the lines, of which others are lent.
        let chunks = unsafe { &mut *self.chunks.get() };
        let used = self.used.get();
        match chunks.last() {
            Some(chunk) if chunk.len() - used >= lines => {
                self.used.set(used + lines);
                // SAFETY: the chunk has as many lines.
                unsafe { chunk.as_ptr().add(used) }
            }
            Some(_) | None => self.grow(chunks, lines),
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&self, chunks: &mut Vec<Owned<Line>>, lines: usize) -> *mut Line {
        /// 16 KiB.
        const LEAST: usize = 256;
        // A function that is called again and again finds room for all of its arrays in one chunk at last.
        let all: usize = chunks.iter().map(Owned::len).sum();
        chunks.push(lines_of(lines.max(LEAST).max(all)));
        self.used.set(lines);
        match chunks.last() {
            Some(chunk) => chunk.as_ptr(),
            None => unreachable!("a chunk was pushed"),
        }
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

/// The memory of a thread, while blocks run there.
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

    /// To be run under Miri: what was given out stays one's own while more is.
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
        // SAFETY: that is out of use.
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
            // SAFETY: the arrays are out of use.
            unsafe { scratch.release(mark) };
        }
        assert!(kept.iter().all(|v| *v == 7));
        // SAFETY: nobody else looks at the chunks.
        assert!(unsafe { (*scratch.chunks.get()).len() } < 6);
    }

    #[test]
    fn a_thread_keeps_its_memory() {
        let first = Scratch::lease().slice::<u8>(1).as_ptr();
        assert_eq!(Scratch::lease().slice::<u8>(1).as_ptr(), first);
    }
}
