//! The memory of a vector's host copy: owned, borrowed or shared.

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use super::bytes;
use crate::{Element, Result};

/// Elements on the host.
pub(super) enum Storage<T> {
    Own(Vec<T>),
    /// Memory of another owner, for reading and writing.
    Held(Held<T>),
    /// Memory with other readers; a write copies it first.
    Shared(Arc<[T]>),
    /// Memory of another owner, for reading; a write copies it first.
    ReadOnly(Held<T>),
}

/// Elements in memory that an owner keeps alive, or that are borrowed for a scope.
pub(super) struct Held<T> {
    at: NonNull<T>,
    len: usize,
    owner: Option<Arc<Owner>>,
}

/// The host memory in which a device may work. Holding this keeps the memory alive if it has an
/// owner.
#[derive(Clone)]
pub(super) struct HostRegion {
    pub(super) at: NonNull<u8>,
    pub(super) bytes: usize,
    _owner: Option<Arc<Owner>>,
}

// SAFETY: it is an address; its users ensure exclusive access.
unsafe impl Send for HostRegion {}
// SAFETY: as above.
unsafe impl Sync for HostRegion {}

/// A type-erased box.
struct Owner {
    raw: NonNull<()>,
    drop: unsafe fn(NonNull<()>),
}

// SAFETY: the elements are reached through this value alone, and its owner, if it has one, may be
// sent.
unsafe impl<T: Send> Send for Held<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Held<T> {}

// SAFETY: the boxed value may be sent, and is never reached through this.
unsafe impl Send for Owner {}
// SAFETY: as above.
unsafe impl Sync for Owner {}

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: the function matches the box's type, and the box is dropped once.
        unsafe { (self.drop)(self.raw) }
    }
}

/// # Safety
/// The pointer comes from a box of `O`, and is not used again.
unsafe fn unbox<O>(raw: NonNull<()>) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(raw.cast::<O>().as_ptr()) });
}

/// Boxes an owner; the result has the address of the box, which drops with the second part.
fn boxed<O: Send + Sync + 'static>(owner: O) -> (NonNull<O>, Owner) {
    let raw = NonNull::from(Box::leak(Box::new(owner)));
    let kept = Owner {
        raw: raw.cast(),
        drop: unbox::<O>,
    };
    (raw, kept)
}

impl<T> Storage<T> {
    /// The elements of an owner, which is asked for them once.
    pub(super) fn of_owner<O>(owner: O) -> Storage<T>
    where
        O: AsMut<[T]> + Send + Sync + 'static,
    {
        let (raw, kept) = boxed(owner);
        // SAFETY: the box was just made, and is not used again before it is dropped: the elements
        // are borrowed until then.
        let elements = unsafe { (*raw.as_ptr()).as_mut() };
        Storage::Held(Held {
            len: elements.len(),
            at: NonNull::from(elements).cast(),
            owner: Some(Arc::new(kept)),
        })
    }

    /// The elements of an owner who may have other readers. It is asked for them once.
    pub(super) fn of_reader<O>(owner: O) -> Storage<T>
    where
        O: AsRef<[T]> + Send + Sync + 'static,
    {
        let (raw, kept) = boxed(owner);
        // SAFETY: as in `of_owner`, with shared borrows.
        let elements = unsafe { (*raw.as_ptr()).as_ref() };
        Storage::ReadOnly(Held {
            len: elements.len(),
            at: NonNull::from(elements).cast(),
            owner: Some(Arc::new(kept)),
        })
    }

    /// Borrowed elements.
    ///
    /// # Safety
    /// The storage is dropped while the borrow lasts. It is not written unless the borrow is
    /// mutable.
    pub(super) unsafe fn borrowed_from(elements: *mut [T]) -> Storage<T> {
        // SAFETY: a borrow is never null.
        let elements = unsafe { NonNull::new_unchecked(elements) };
        Storage::Held(Held {
            len: elements.len(),
            at: elements.cast(),
            owner: None,
        })
    }

    /// Pins the elements where they are as long as the returned [`HostRegion`] is held. `None` for shared
    /// elements, which a write may move.
    pub(super) fn in_host_region(self) -> (Storage<T>, Option<HostRegion>)
    where
        T: Send + Sync + 'static,
    {
        let storage = match self {
            Storage::Own(elements) => Storage::of_owner(elements),
            Storage::Held(_) | Storage::Shared(_) | Storage::ReadOnly(_) => self,
        };
        let host_region = match &storage {
            Storage::Held(held) => Some(HostRegion {
                at: held.at.cast(),
                bytes: held.len * size_of::<T>(),
                _owner: held.owner.clone(),
            }),
            Storage::Own(_) | Storage::Shared(_) | Storage::ReadOnly(_) => None,
        };
        (storage, host_region)
    }

    /// Converts into a `Vec`; without a copy if the storage owns its elements.
    pub(super) fn into_vec(self) -> Result<Vec<T>>
    where
        T: Element,
    {
        match self {
            Storage::Own(elements) => Ok(elements),
            Storage::Held(_) | Storage::Shared(_) | Storage::ReadOnly(_) => bytes::copied(&self),
        }
    }

    /// The elements, for writing.
    pub(super) fn make_mut(&mut self) -> Result<&mut [T]>
    where
        T: Element,
    {
        let has_readers = match self {
            Storage::Own(_) | Storage::Held(_) => false,
            Storage::Shared(elements) => Arc::get_mut(elements).is_none(),
            Storage::ReadOnly(_) => true,
        };
        if has_readers {
            *self = Storage::Own(bytes::copied(self)?);
        }
        Ok(match self {
            Storage::Own(elements) => elements,
            Storage::Held(held) => held,
            Storage::Shared(elements) => {
                Arc::get_mut(elements).expect("it was copied if it has another owner")
            }
            Storage::ReadOnly(_) => unreachable!("it was copied above"),
        })
    }
}

impl<T> From<Vec<T>> for Storage<T> {
    fn from(elements: Vec<T>) -> Storage<T> {
        Storage::Own(elements)
    }
}

impl<T> Deref for Storage<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Storage::Own(elements) => elements,
            Storage::Held(held) | Storage::ReadOnly(held) => held,
            Storage::Shared(elements) => elements,
        }
    }
}

impl<T> Deref for Held<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `len` elements are there as long as this lives, and are reached through it alone.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for Held<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`.
        unsafe { std::slice::from_raw_parts_mut(self.at.as_ptr(), self.len) }
    }
}

impl<T> Held<T> {
    /// True if no owner keeps the memory alive, but only a scope.
    pub(super) fn is_borrowed(&self) -> bool {
        self.owner.is_none()
    }
}
