//! Access to elements by functions that only arrays have.

/// The number of elements.
#[inline(always)]
pub const fn len<T, const N: usize>(_: &[T; N]) -> usize {
    N
}

/// The element at `index`.
///
/// # Safety
/// `index` is below the length.
#[inline(always)]
pub unsafe fn get_unchecked<T, const N: usize>(array: &[T; N], index: usize) -> &T {
    // SAFETY: the caller's promise.
    unsafe { <[T]>::get_unchecked(array, index) }
}

/// The same, for writing.
///
/// # Safety
/// `index` is below the length.
#[inline(always)]
pub unsafe fn get_unchecked_mut<T, const N: usize>(array: &mut [T; N], index: usize) -> &mut T {
    // SAFETY: the caller's promise.
    unsafe { <[T]>::get_unchecked_mut(array, index) }
}
