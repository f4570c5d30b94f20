//! The arguments of compiled bodies, in the form in which these use them.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use super::{Block, DirectArg};
use crate::{Atomic, AtomicElement, ScalarArg};

/// A slice parameter that the kernel may write.
///
/// It is no `&mut [T]`, because threads of other blocks write other elements at the same time.
#[derive(Clone, Copy)]
pub struct RawSliceMut<'a, T> {
    ptr: *mut T,
    len: usize,
    borrow: PhantomData<&'a mut [T]>,
}

impl<'a, T: Copy> RawSliceMut<'a, T> {
    /// Wraps a thread's local array.
    #[inline(always)]
    pub fn of(array: &'a mut [T]) -> RawSliceMut<'a, T> {
        RawSliceMut {
            ptr: array.as_mut_ptr(),
            len: array.len(),
            borrow: PhantomData,
        }
    }

    /// Wraps an array of constants.
    ///
    /// # Safety
    /// No code writes to it.
    #[inline(always)]
    pub(super) unsafe fn of_constant(array: &'static [T]) -> RawSliceMut<'a, T> {
        RawSliceMut {
            ptr: array.as_ptr().cast_mut(),
            len: array.len(),
            borrow: PhantomData,
        }
    }

    /// The same memory as a slice of arrays.
    ///
    /// # Safety
    /// `R` is an array of `T`, possibly nested, whose length divides that of the slice.
    #[inline(always)]
    pub unsafe fn rows<R>(self) -> RawSliceMut<'a, R> {
        RawSliceMut {
            ptr: self.ptr.cast(),
            len: self.len / (size_of::<R>() / size_of::<T>()),
            borrow: PhantomData,
        }
    }

    /// The number of elements.
    #[inline(always)]
    #[allow(clippy::len_without_is_empty)] // kernels ask for the length alone
    pub fn len(self) -> usize {
        self.len
    }

    /// A pointer to all elements, for code that indexes them by `[]`.
    #[inline(always)]
    pub fn elements(self) -> *mut [T] {
        std::ptr::slice_from_raw_parts_mut(self.ptr, self.len)
    }

    /// A pointer to the first element.
    #[inline(always)]
    pub fn as_ptr(self) -> *const T {
        self.ptr
    }

    /// The element at `index`.
    ///
    /// # Safety
    /// `index` is below the length, and no other thread writes the element meanwhile.
    #[inline(always)]
    pub unsafe fn get_unchecked(self, index: usize) -> &'a T {
        // SAFETY: the caller's promise.
        unsafe { &*self.ptr.add(index) }
    }

    /// A pointer to the element at `index`, for storing a part of it.
    ///
    /// # Safety
    /// `index` is below the length.
    #[inline(always)]
    pub unsafe fn place(self, index: usize) -> *mut T {
        // SAFETY: the caller's promise.
        unsafe { self.ptr.add(index) }
    }

    /// Stores an element.
    ///
    /// # Safety
    /// `index` is below the length, and no other thread uses the element meanwhile.
    #[inline(always)]
    pub unsafe fn set(self, index: usize, value: T) {
        // SAFETY: the caller's promise.
        unsafe { *self.ptr.add(index) = value }
    }
}

/// A slice argument of a collective function: one slice for all lanes, or one slice for each lane,
/// all with the same length.
#[derive(Clone, Copy)]
pub struct Slices<'a, T> {
    first: RawSliceMut<'a, T>,
    /// The distance between the slices of neighbouring lanes, in elements; 0 for a common slice.
    apart: usize,
}

impl<'a, T: Copy> Slices<'a, T> {
    /// A common slice for all lanes.
    #[inline(always)]
    pub fn one(slice: RawSliceMut<'a, T>) -> Slices<'a, T> {
        Slices {
            first: slice,
            apart: 0,
        }
    }

    /// The lanes' own arrays, one after the other.
    #[inline(always)]
    pub fn each<const N: usize>(arrays: &'a mut [MaybeUninit<[T; N]>]) -> Slices<'a, T> {
        Slices {
            first: RawSliceMut {
                ptr: arrays.as_mut_ptr().cast(),
                len: N,
                borrow: PhantomData,
            },
            apart: N,
        }
    }

    /// The same memory as slices of arrays.
    ///
    /// # Safety
    /// As for [`RawSliceMut::rows`].
    #[inline(always)]
    pub unsafe fn rows<R>(self) -> Slices<'a, R> {
        Slices {
            // SAFETY: the caller's promise.
            first: unsafe { self.first.rows() },
            apart: self.apart / (size_of::<R>() / size_of::<T>()),
        }
    }

    /// The number of elements of each slice.
    #[inline(always)]
    #[allow(clippy::len_without_is_empty)] // kernels ask for the length alone
    pub fn len(self) -> usize {
        self.first.len
    }

    /// The slice of a lane.
    ///
    /// # Safety
    /// `lane` is below the number of lanes.
    #[inline(always)]
    pub unsafe fn of(&self, lane: usize) -> RawSliceMut<'a, T> {
        RawSliceMut {
            // SAFETY: the caller's promise; each lane has a slice.
            ptr: unsafe { self.first.ptr.add(lane * self.apart) },
            ..self.first
        }
    }
}

/// The argument of a `&[T]` parameter.
///
/// # Safety
/// The argument is a slice of `T`, borrowed for `'a`.
#[inline(always)]
pub unsafe fn input<'a, T>(args: &[DirectArg], index: usize) -> &'a [T] {
    match args[index] {
        // SAFETY: the caller's promise.
        DirectArg::Slice { ptr, len, .. } => unsafe {
            std::slice::from_raw_parts(ptr.cast_const().cast(), len)
        },
        DirectArg::Scalar(_) | DirectArg::Value { .. } => {
            unreachable!("argument {index} is a slice")
        }
    }
}

/// The argument of a `&mut [T]` parameter.
///
/// # Safety
/// The argument is a slice of `T`, borrowed exclusively by the launch for `'a`.
#[inline(always)]
pub unsafe fn output<'a, T>(args: &[DirectArg], index: usize) -> RawSliceMut<'a, T> {
    match args[index] {
        DirectArg::Slice { ptr, len, .. } => RawSliceMut {
            ptr: ptr.cast(),
            len,
            borrow: PhantomData,
        },
        DirectArg::Scalar(_) | DirectArg::Value { .. } => {
            unreachable!("argument {index} is a slice")
        }
    }
}

/// Passes memory to a `#[device]` function, which keeps it no longer than the block.
///
/// # Safety
/// The memory lives as long as the call. The function accesses it only in ways that are allowed to
/// its caller.
#[inline(always)]
pub unsafe fn lend<T>(_: &Block, memory: *const [T]) -> RawSliceMut<'_, T> {
    RawSliceMut {
        ptr: memory.cast_mut().cast(),
        len: memory.len(),
        borrow: PhantomData,
    }
}

/// Passes a shared array of atomics to a `#[device]` function, which keeps it no longer than the
/// block.
///
/// # Safety
/// The array lives as long as the block, is aligned to its elements' size, and is accessed only
/// atomically meanwhile.
#[inline(always)]
pub unsafe fn lend_atomics<T: AtomicElement>(_: &Block, memory: *mut [T]) -> &[Atomic<T>] {
    // SAFETY: the caller's promise; `Atomic<T>` has the size of `T`.
    unsafe { std::slice::from_raw_parts(memory.cast_const().cast(), memory.len()) }
}

/// The argument of a `&[Atomic<T>]` parameter.
///
/// # Safety
/// The argument is a slice of `T`, borrowed exclusively by the launch for `'a`; its threads access
/// it only atomically.
#[inline(always)]
pub unsafe fn atomics<'a, T: AtomicElement>(args: &[DirectArg], index: usize) -> &'a [Atomic<T>] {
    match args[index] {
        // SAFETY: the caller's promise; `Atomic<T>` has the size of `T`, to which a vector's memory
        // is aligned.
        DirectArg::Slice { ptr, len, .. } => unsafe {
            std::slice::from_raw_parts(ptr.cast_const().cast(), len)
        },
        DirectArg::Scalar(_) | DirectArg::Value { .. } => {
            unreachable!("argument {index} is a slice")
        }
    }
}

impl<'a, T> RawSliceMut<'a, T> {
    /// The whole slice, for the reference, which runs one thread after the other.
    ///
    /// # Safety
    /// No other code uses the memory for `'a`.
    pub unsafe fn into_mut(self) -> &'a mut [T] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.ptr, self.len) }
    }
}

/// Prefetches elements into the first-level cache. The addresses need not be valid.
#[inline(always)]
pub fn prefetch<T>(ptr: *const T, first: usize, count: usize) {
    #[cfg(target_arch = "x86_64")]
    each_line(ptr, first, count, |line| {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, which never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line) };
    });
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (ptr, first, count);
}

/// Prefetches elements into the second-level cache. The addresses need not be valid.
#[inline(always)]
pub fn prefetch_far<T>(ptr: *const T, first: usize, count: usize) {
    #[cfg(target_arch = "x86_64")]
    each_line(ptr, first, count, |line| {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a hint, which never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(line) };
    });
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (ptr, first, count);
}

/// Calls `f` with an address in each cache line of the elements. The last line is left out if the
/// elements only end in it.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn each_line<T>(ptr: *const T, first: usize, count: usize, mut f: impl FnMut(*const i8)) {
    /// The size of a cache line in bytes.
    const LINE: usize = 64;
    for line in 0..(count * size_of::<T>()).div_ceil(LINE) {
        f(ptr
            .wrapping_add(first)
            .wrapping_byte_add(line * LINE)
            .cast());
    }
}

/// The argument of a scalar parameter.
#[inline(always)]
pub fn scalar<T: ScalarArg>(args: &[DirectArg], index: usize) -> T {
    match args[index] {
        DirectArg::Scalar(value) => T::from_value(value)
            .unwrap_or_else(|| unreachable!("argument {index} has another type")),
        DirectArg::Slice { .. } | DirectArg::Value { .. } => {
            unreachable!("argument {index} is a scalar")
        }
    }
}
