//! Memory that is accessed through pointers only.

use std::ptr::NonNull;

/// A boxed slice of which parts are lent out. By Rust's aliasing rules, a box or a reference to the
/// whole would invalidate the lent parts; so there is none until this is dropped.
pub(super) struct Owned<T> {
    first: NonNull<T>,
    len: usize,
}

// SAFETY: it owns the elements, and gives access to them only by pointers.
unsafe impl<T: Send> Send for Owned<T> {}

impl<T> Owned<T> {
    /// The first element.
    #[inline(always)]
    pub(super) fn as_ptr(&self) -> *mut T {
        self.first.as_ptr()
    }

    /// The number of elements.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len
    }
}

impl<T> From<Box<[T]>> for Owned<T> {
    fn from(elements: Box<[T]>) -> Owned<T> {
        Owned {
            len: elements.len(),
            first: NonNull::from(Box::leak(elements)).cast(),
        }
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        let all = NonNull::slice_from_raw_parts(self.first, self.len);
        // SAFETY: the elements came from a box, and this has owned them since. Lent parts are no
        // longer used.
        drop(unsafe { Box::from_raw(all.as_ptr()) });
    }
}
