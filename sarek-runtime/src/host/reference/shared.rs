//! Shared arrays of the reference.

use std::any::type_name;
use std::cell::RefCell;
use std::ops::{Deref, DerefMut, Index, IndexMut};

use crate::host::owned::Owned;
use crate::types::NativeOperand;

/// A thread's handle of a shared array, which `shared_array` and `shared_slice` return. Kernels
/// index it, and read its length.
#[repr(C)]
pub struct Shared<T> {
    ptr: *mut T,
    len: usize,
}

impl<T> Shared<T> {
    /// The number of elements.
    #[allow(clippy::len_without_is_empty)] // an array has at least one element
    pub fn len(&self) -> usize {
        self.len
    }

    /// The element at `index`.
    ///
    /// # Safety
    /// `index` is below the length.
    pub unsafe fn get_unchecked(&self, index: usize) -> &T {
        &self[index]
    }

    /// The element at `index`, for writing.
    ///
    /// # Safety
    /// `index` is below the length.
    pub unsafe fn get_unchecked_mut(&mut self, index: usize) -> &mut T {
        &mut self[index]
    }

    fn at(&self, index: usize) -> *mut T {
        assert!(
            index < self.len,
            "index out of bounds: the len is {} but the index is {index}",
            self.len
        );
        // SAFETY: the index is below the length of the allocation.
        unsafe { self.ptr.add(index) }
    }
}

impl<T: NativeOperand> NativeOperand for Shared<T> {}

impl<T> Index<usize> for Shared<T> {
    type Output = T;

    fn index(&self, index: usize) -> &T {
        // SAFETY: the array outlives the block's threads, of which one runs at a time.
        unsafe { &*self.at(index) }
    }
}

impl<T> IndexMut<usize> for Shared<T> {
    fn index_mut(&mut self, index: usize) -> &mut T {
        // SAFETY: as above; no other reference into the array lives across a barrier.
        unsafe { &mut *self.at(index) }
    }
}

/// The whole array as a slice, for `#[device]` functions.
impl<T> Deref for Shared<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the array outlives the block's threads, of which one runs at a time.
        unsafe { std::slice::from_raw_parts(self.ptr, self.len) }
    }
}

impl<T> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above; no other reference into the array lives across a barrier.
        unsafe { std::slice::from_raw_parts_mut(self.ptr, self.len) }
    }
}

/// The memory of an array.
pub(super) struct Array {
    words: Owned<u128>,
    name: &'static str,
    len: usize,
}

impl Array {
    /// Allocates memory for `len` elements, filled with a pattern that no kernel expects.
    pub(super) fn new<T>(len: usize) -> Array {
        let bytes = len.checked_mul(size_of::<T>());
        let words = bytes
            .expect("an array fits memory")
            .div_ceil(size_of::<u128>());
        assert!(
            align_of::<T>() <= align_of::<u128>(),
            "elements are as aligned as scalars"
        );
        Array {
            words: (0..words as u128)
                .map(|i| 0xA5C3_96E1_F00D_5EED_u128.wrapping_mul(2 * i + 0x1_0000_0001_0000_0001))
                .collect::<Box<[u128]>>()
                .into(),
            name: type_name::<T>(),
            len,
        }
    }
}

thread_local! {
    /// The handles of the running thread, which live until it ends or goes on to another block.
    // Boxed, because the thread holds references to them while more are made.
    #[allow(clippy::vec_box)]
    static HANDLES: RefCell<Vec<Box<Shared<u8>>>> = const { RefCell::new(vec![]) };
}

/// Drops the handles of the thread.
pub(super) fn forget_handles() {
    HANDLES.with_borrow_mut(Vec::clear);
}

/// Makes the thread's next array. Any bits must be a valid `T`.
pub(in crate::host) fn make<T>(what: &str, len: usize) -> &'static mut Shared<T> {
    let same = |array: &mut Array| {
        assert!(
            array.name == type_name::<T>() && array.len == len,
            "the threads of a block make different shared arrays: {len} of {} and {} of {}",
            type_name::<T>(),
            array.len,
            array.name
        );
        array.words.as_ptr()
    };
    let ptr = super::block_threads::array(what, || Array::new::<T>(len), same);
    let handle = Box::new(Shared {
        ptr: ptr.cast::<u8>(),
        len,
    });
    HANDLES.with_borrow_mut(|handles| {
        handles.push(handle);
        let handle: *mut Shared<u8> = &mut **handles.last_mut().expect("pushed above");
        // SAFETY: `Shared` has the same layout for all types. The box lives until the thread has
        // left the kernel; no kernel can observe that this is shorter than `'static`.
        unsafe { &mut *handle.cast::<Shared<T>>() }
    })
}
