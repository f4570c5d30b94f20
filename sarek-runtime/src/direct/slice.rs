//! Arguments as the generated body uses them.

use std::marker::PhantomData;

use super::DirectArg;
use crate::{Atomic, AtomicElement, Element, ScalarArg};

/// A slice parameter that the kernel may write.
///
/// Threads of other blocks write other elements at the same time, so it is no `&mut [T]`.
#[derive(Clone, Copy)]
pub struct Output<'a, T> {
    ptr: *mut T,
    len: usize,
    borrow: PhantomData<&'a mut [T]>,
}

impl<T: Copy> Output<'_, T> {
    /// The number of elements.
    #[inline(always)]
    #[allow(clippy::len_without_is_empty)] // kernels ask for the length alone
    pub fn len(&self) -> usize {
        self.len
    }

    /// The element at `index`.
    ///
    /// # Safety
    /// `index` is below the length, and no other thread writes the element meanwhile.
    #[inline(always)]
    pub unsafe fn get_unchecked(&self, index: usize) -> &T {
        // SAFETY: the caller's promise.
        unsafe { &*self.ptr.add(index) }
    }

    /// Where the element at `index` stands, to store a part of it.
    ///
    /// # Safety
    /// `index` is below the length.
    #[inline(always)]
    pub unsafe fn place(&self, index: usize) -> *mut T {
        // SAFETY: the caller's promise.
        unsafe { self.ptr.add(index) }
    }

    /// Stores an element.
    ///
    /// # Safety
    /// `index` is below the length, and no other thread uses the element meanwhile.
    #[inline(always)]
    pub unsafe fn set(&self, index: usize, value: T) {
        // SAFETY: the caller's promise.
        unsafe { *self.ptr.add(index) = value }
    }
}

/// The argument of a `&[T]` parameter.
///
/// # Safety
/// The argument is a slice of `T`, borrowed for `'a`.
#[inline(always)]
pub unsafe fn input<'a, T: Element>(args: &[DirectArg], index: usize) -> &'a [T] {
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
pub unsafe fn output<'a, T: Element>(args: &[DirectArg], index: usize) -> Output<'a, T> {
    match args[index] {
        DirectArg::Slice { ptr, len, .. } => Output {
            ptr: ptr.cast(),
            len,
            borrow: PhantomData,
        },
        DirectArg::Scalar(_) | DirectArg::Value { .. } => {
            unreachable!("argument {index} is a slice")
        }
    }
}

/// The argument of a `&[Atomic<T>]` parameter.
///
/// # Safety
/// The argument is a slice of `T`, borrowed exclusively by the launch for `'a`; its threads use it as atomics only.
#[inline(always)]
pub unsafe fn atomics<'a, T: AtomicElement>(args: &[DirectArg], index: usize) -> &'a [Atomic<T>] {
    match args[index] {
        // SAFETY: the caller's promise; `Atomic<T>` has the size of `T`, to which a vector's memory is aligned.
        DirectArg::Slice { ptr, len, .. } => unsafe {
            std::slice::from_raw_parts(ptr.cast_const().cast(), len)
        },
        DirectArg::Scalar(_) | DirectArg::Value { .. } => {
            unreachable!("argument {index} is a slice")
        }
    }
}

impl<'a, T> Output<'a, T> {
    /// The whole of it as a slice, for the reference, which runs threads one after the other.
    ///
    /// # Safety
    /// Nothing else uses the memory for `'a`.
    pub unsafe fn into_mut(self) -> &'a mut [T] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.ptr, self.len) }
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
