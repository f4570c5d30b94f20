//! Vectors: memory that the host and all devices share, with copies made on demand.

use std::fmt;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::sync::lock;
use crate::{Device, Element, Error, Result};
pub use async_read::{ReadBack, Reading};
use copies::Copies;
pub(crate) use erased::ErasedVector;
pub use lend::Lent;
pub use parts::{Part, PartMut, Parts};
pub(crate) use ranges::resolve;

/// Allocates zeroed bytes.
pub(crate) fn host_bytes(len: usize) -> Result<Vec<u8>> {
    bytes::fresh(len)
}
use storage::Storage;
pub use view::{VectorView, VectorViewMut};

/// A vector of fixed length that kernels read and write on any device.
///
/// Copies are made when they are needed: to a device when a launch there uses the vector, back to
/// the host when the host reads it. A read on the host waits for the launches that write the
/// vector.
///
/// If such a launch failed, the vector is unreadable: reads, and launches that use it, return the
/// launch's error. Overwriting all elements with [`Vector::fill`] or [`Vector::copy_from_slice`]
/// makes it readable again. A vector for which the host had no memory is unreadable too; its error
/// is [`Error::OutOfMemory`].
pub struct Vector<T> {
    len: usize,
    /// The host copy; present while it is valid.
    host: OnceLock<Storage<T>>,
    state: Mutex<State<T>>,
    /// The scalar type that devices see and the scalars per element; computed once.
    unit: OnceLock<(sarek_ir::Scalar, u64)>,
    /// The number by which graphs identify the vector; assigned at first use.
    id: OnceLock<u64>,
    /// True if the storage is not the devices' own memory. Launches read this instead of the locked
    /// state.
    has_custom_storage: bool,
    /// True if its memory on a device was not allocated here, so that only the alignment of an element is known.
    is_imported: bool,
}

struct State<T> {
    copies: Copies,
    /// Memory of the invalid host copy, for reuse.
    spare: Option<Storage<T>>,
}

impl<T: Element> Vector<T> {
    /// Makes a vector of these elements without copying them.
    pub fn from_vec(elements: Vec<T>) -> Vector<T> {
        Vector {
            len: elements.len(),
            host: OnceLock::from(Storage::Own(elements)),
            state: Mutex::new(State {
                copies: Copies::of(T::TYPE),
                spare: None,
            }),
            unit: OnceLock::new(),
            id: OnceLock::new(),
            has_custom_storage: false,
            is_imported: false,
        }
    }

    /// Makes a vector without contents; the caller writes all elements before anything reads them.
    fn blank(len: usize) -> Vector<T> {
        let mut vector = Vector::from_vec(Vec::new());
        if len > 0 {
            vector.host.take();
            vector.len = len;
        }
        vector
    }

    /// Makes a vector of these elements; after a failed allocation, an unreadable one of the same
    /// length.
    fn made(len: usize, elements: Result<Vec<T>>) -> Vector<T> {
        let error = match elements {
            Ok(elements) => return Vector::from_vec(elements),
            Err(error) => error,
        };
        Vector {
            len,
            host: OnceLock::new(),
            state: Mutex::new(State {
                copies: Copies::failed(error, T::TYPE),
                spare: None,
            }),
            unit: OnceLock::new(),
            id: OnceLock::new(),
            has_custom_storage: false,
            is_imported: false,
        }
    }

    /// The size of all elements in bytes. It saturates for a vector that the host never held.
    pub(crate) fn bytes(&self) -> usize {
        self.len.saturating_mul(size_of::<T>())
    }

    /// Makes a vector of a copy of these elements.
    pub fn from_slice(elements: &[T]) -> Vector<T> {
        Vector::made(elements.len(), bytes::copied(elements))
    }

    /// Makes a vector of `len` default values: zeros, or `false`.
    pub fn zeros(len: usize) -> Vector<T>
    where
        T: Default,
    {
        Vector::filled(len, T::default())
    }

    /// Makes a vector of `len` copies of `value`.
    pub fn filled(len: usize, value: T) -> Vector<T> {
        Vector::made(len, bytes::filled(len, value))
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if the vector has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The devices that hold a valid copy, and so need no upload for the next launch.
    pub fn devices(&self) -> Vec<Device> {
        lock(&self.state).copies.valid_devices().cloned().collect()
    }

    /// Copies the elements to a `Vec`.
    ///
    /// # Errors
    /// The error of a launch that failed to write the vector, or of the transfer. The same holds
    /// for all reads on the host.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.as_slice().and_then(bytes::copied)
    }

    /// Converts the vector into a `Vec`; without a copy if the vector owns its memory.
    pub fn into_vec(mut self) -> Result<Vec<T>> {
        self.as_slice()?;
        let host = self.host.take();
        host.map_or(Ok(Vec::new()), Storage::into_vec)
    }

    /// Returns the element at `index`.
    pub fn get(&self, index: usize) -> Result<T> {
        let found = self.as_slice()?.get(index).copied();
        found.ok_or(self.out_of_bounds(index))
    }

    /// Overwrites the element at `index` on the host.
    pub fn set(&mut self, index: usize, value: T) -> Result<()> {
        let error = self.out_of_bounds(index);
        *self.as_mut_slice()?.get_mut(index).ok_or(error)? = value;
        Ok(())
    }

    /// Overwrites all elements with `value` on the host. A vector that a failed launch made
    /// unreadable is readable again.
    pub fn fill(&mut self, value: T) -> Result<()> {
        self.rewrite(|elements| elements.fill(value))
    }

    /// Overwrites all elements with a slice of the same length. A vector that a failed launch made
    /// unreadable is readable again.
    ///
    /// # Errors
    /// [`Error::Length`] if the lengths differ.
    pub fn copy_from_slice(&mut self, elements: &[T]) -> Result<()> {
        if elements.len() != self.len {
            return Err(Error::Length {
                expected: self.len,
                found: elements.len(),
            });
        }
        self.rewrite(|storage| storage.copy_from_slice(elements))
    }

    /// The elements, for reading on the host. Waits for the launches that write them.
    pub fn as_slice(&self) -> Result<&[T]> {
        self.valid_host(&mut *self.settled()?)
    }

    /// Returns the state after the outcome of each launch that wrote the vector is known; the fault
    /// if one failed. The output of these launches is printed while no lock is held, so that the
    /// output hook may use the vector.
    fn settled(&self) -> Result<MutexGuard<'_, State<T>>> {
        loop {
            let state = lock(&self.state);
            let Some(pending) = state.copies.next_outcome()?.cloned() else {
                return Ok(state);
            };
            drop(state);
            let outcome = pending.outcome();
            let mut state = lock(&self.state);
            if pending.known().is_none() {
                // The device could not report the outcome; a later call asks again.
                return outcome.map(|()| state);
            }
            state.copies.note_outcome(&pending, outcome);
        }
    }

    /// The elements, for reading and writing on the host. Devices get the elements anew at their
    /// next use.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        self.as_slice()?;
        let state = self.state.get_mut();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        let host = self.host.get_mut();
        let host = host.expect("`as_slice` made the host copy valid");
        let elements = host.make_mut()?;
        state.copies.invalidate();
        Ok(elements)
    }

    /// Returns the host copy; downloads it if it is not valid.
    fn valid_host(&self, state: &mut State<T>) -> Result<&[T]> {
        if let Some(valid) = self.host.get() {
            return Ok(valid);
        }
        state.copies.finish_in_host_memory();
        let spare = state.spare.take();
        let mut fresh = spare.map_or_else(|| import::fresh(self.len), Ok)?;
        let elements = fresh.make_mut()?;
        let result = bytes::overwrite(elements, |to| state.copies.download(0, to));
        if let Err(error) = result {
            state.spare = Some(fresh);
            return Err(error);
        }
        Ok(self.host.get_or_init(|| fresh))
    }

    /// Replaces all elements by those that `write` puts into memory of the same length.
    fn rewrite(&mut self, write: impl FnOnce(&mut [T])) -> Result<()> {
        let len = self.len;
        let state = self.state.get_mut();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        if self.host.get().is_none() {
            let storage = state.spare.take().filter(|spare| spare.len() == len);
            self.host = OnceLock::from(storage.map_or_else(|| import::fresh(len), Ok)?);
        }
        let host = self.host.get_mut();
        let elements = host.expect("the host copy was made above").make_mut()?;
        state.copies.forget();
        write(elements);
        Ok(())
    }

    fn out_of_bounds(&self, index: usize) -> Error {
        Error::Bounds {
            index,
            len: self.len,
        }
    }
}

// Below the constructors, so that the documentation begins with them.
mod async_read;
pub(crate) mod bytes;
mod copies;
mod device_copy;
mod erased;
mod host;
mod import;
mod lend;
mod pages;
mod parts;
mod ranges;
mod storage;
#[cfg(test)]
mod tests;
mod view;

impl<T> Vector<T> {
    fn state_mut(&mut self) -> &mut State<T> {
        self.state.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A clone is a separate vector with the same elements. The clone of an unreadable vector is
/// unreadable.
impl<T: Element> Clone for Vector<T> {
    fn clone(&self) -> Vector<T> {
        Vector::made(self.len, self.to_vec())
    }
}

impl<T: Element> Default for Vector<T> {
    fn default() -> Vector<T> {
        Vector::from_vec(Vec::new())
    }
}

impl<T: Element> From<Vec<T>> for Vector<T> {
    fn from(elements: Vec<T>) -> Vector<T> {
        Vector::from_vec(elements)
    }
}

impl<T: Element> FromIterator<T> for Vector<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Vector<T> {
        let elements = elements.into_iter();
        let least = elements.size_hint().0;
        match bytes::reserved(least) {
            Ok(mut all) => {
                all.extend(elements);
                Vector::from_vec(all)
            }
            Err(error) => Vector::made(least, Err(error)),
        }
    }
}

/// Prints the elements if the host has them, else the devices that hold them; copies nothing.
impl<T: Element + fmt::Debug> fmt::Debug for Vector<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut state = lock(&self.state);
        if let Err(error) = state.copies.unsettled() {
            return write!(f, "Vector(<{} elements lost: {error}>)", self.len);
        }
        if let Some(elements) = self.host.get() {
            return f.debug_tuple("Vector").field(&&**elements).finish();
        }
        let devices: Vec<_> = state
            .copies
            .valid_devices()
            .map(|d| d.to_string())
            .collect();
        write!(
            f,
            "Vector(<{} elements on {}>)",
            self.len,
            devices.join(", ")
        )
    }
}
