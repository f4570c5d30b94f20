//! Memory that is reached by pointers alone.

use std::ptr::NonNull;

/// A boxed slice of which parts are lent. A box or a reference to all of it would end what was lent before, by the rules of
/// references; this has none until it is dropped.
pub(super) struct Owned<T> {
    first: NonNull<T>,
    len: usize,
}

// SAFETY: it owns the elements, and gives no access to them but by pointers.
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
        // SAFETY: they were a box, which this has owned since. What was lent is out of use.
        drop(unsafe { Box::from_raw(all.as_ptr()) });
    }
}
