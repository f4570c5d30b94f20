//! Vectors: memory that the host and the devices see alike.

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
mod read_back;
mod storage;
#[cfg(test)]
mod tests;
mod view;

use std::fmt;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::sync::lock;
use crate::{Device, Element, Error, Result};
use copies::Copies;
pub(crate) use erased::Operand;
pub use lend::Lent;
pub use parts::{Part, PartMut, Parts};
pub(crate) use ranges::resolve;
pub use read_back::{ReadBack, Reading};

/// Zeroed bytes, if there is memory for them.
pub(crate) fn host_bytes(len: usize) -> Result<Vec<u8>> {
    bytes::fresh(len)
}
use storage::Storage;
pub use view::{VectorView, VectorViewMut};

/// A vector of fixed length that kernels read and write on any device.
///
/// Copies are made when they are needed: to a device when a launch there uses the vector, back
/// when the host reads it. A read on the host waits for the launches that write the vector.
///
/// If such a launch failed, the vector is unreadable: reads and launches that use it return the
/// launch's error until all elements are rewritten by [`Vector::fill`] or [`Vector::copy_from_slice`]
/// (or the vector is replaced). So is a vector for which the host had no memory: the error is then [`Error::OutOfMemory`].
pub struct Vector<T> {
    len: usize,
    /// The host copy, present while it is valid.
    host: OnceLock<Storage<T>>,
    state: Mutex<State<T>>,
    /// What devices see elements as, once that was asked.
    unit: OnceLock<(sarek_ir::Scalar, u64)>,
    /// By which graphs know it, once that was asked.
    id: OnceLock<u64>,
    /// Is it in a storage other than devices' own memory? So that launches need not ask its state.
    elsewhere: bool,
}

struct State<T> {
    copies: Copies,
    /// Storage of the host copy while that is invalid, for re-use.
    spare: Option<Storage<T>>,
}

impl<T: Element> Vector<T> {
    /// A vector of these elements; takes the storage over.
    pub fn from_vec(elements: Vec<T>) -> Vector<T> {
        Vector {
            len: elements.len(),
            host: OnceLock::from(Storage::Own(elements)),
            state: Mutex::new(State {
                copies: Copies::default(),
                spare: None,
            }),
            unit: OnceLock::new(),
            id: OnceLock::new(),
            elsewhere: false,
        }
    }

    /// A vector whose elements are all still to be written; nobody sees it before.
    fn blank(len: usize) -> Vector<T> {
        let mut vector = Vector::from_vec(Vec::new());
        if len > 0 {
            vector.host.take();
            vector.len = len;
        }
        vector
    }

    /// These elements; should there be no memory for them, a vector of as many that cannot be read.
    fn made(len: usize, elements: Result<Vec<T>>) -> Vector<T> {
        let error = match elements {
            Ok(elements) => return Vector::from_vec(elements),
            Err(error) => error,
        };
        Vector {
            len,
            host: OnceLock::new(),
            state: Mutex::new(State {
                copies: Copies::failed(error),
                spare: None,
            }),
            unit: OnceLock::new(),
            id: OnceLock::new(),
            elsewhere: false,
        }
    }

    /// The bytes of its elements. Where the host never had so many, more than any device has.
    pub(crate) fn bytes(&self) -> usize {
        self.len.saturating_mul(size_of::<T>())
    }

    /// A vector of a copy of these elements.
    pub fn from_slice(elements: &[T]) -> Vector<T> {
        Vector::made(elements.len(), bytes::copied(elements))
    }

    /// `len` times the default: zeros, or `false`.
    pub fn zeros(len: usize) -> Vector<T>
    where
        T: Default,
    {
        Vector::filled(len, T::default())
    }

    /// `len` times `value`.
    pub fn filled(len: usize, value: T) -> Vector<T> {
        Vector::made(len, bytes::filled(len, value))
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Has it no elements?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The devices that hold the elements as they are, and so need no upload for the next launch.
    pub fn devices(&self) -> Vec<Device> {
        lock(&self.state).copies.valid_devices().cloned().collect()
    }

    /// A copy of the elements.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.as_slice().and_then(bytes::copied)
    }

    /// The elements, in the vector's own storage; a copy if that is somebody else's.
    pub fn into_vec(mut self) -> Result<Vec<T>> {
        self.as_slice()?;
        let host = self.host.take();
        host.map_or(Ok(Vec::new()), Storage::into_vec)
    }

    /// The element at `index`.
    pub fn get(&self, index: usize) -> Result<T> {
        let found = self.as_slice()?.get(index).copied();
        found.ok_or(self.out_of_bounds(index))
    }

    /// Overwrites the element at `index`.
    pub fn set(&mut self, index: usize, value: T) -> Result<()> {
        let error = self.out_of_bounds(index);
        *self.as_mut_slice()?.get_mut(index).ok_or(error)? = value;
        Ok(())
    }

    /// Overwrites all elements; this also makes the vector of a failed launch readable again.
    pub fn fill(&mut self, value: T) -> Result<()> {
        self.rewrite(|elements| elements.fill(value))
    }

    /// Overwrites all elements with as many others; this also makes the vector of a failed launch
    /// readable again.
    pub fn copy_from_slice(&mut self, elements: &[T]) -> Result<()> {
        if elements.len() != self.len {
            return Err(Error::Length {
                expected: self.len,
                found: elements.len(),
            });
        }
        self.rewrite(|storage| storage.copy_from_slice(elements))
    }

    /// The elements, to read on the host.
    pub fn as_slice(&self) -> Result<&[T]> {
        self.valid_host(&mut *self.settled()?)
    }

    /// The state once the outcome of each launch that wrote the vector is known; the fault, if one failed. What these launches print is
    /// printed while nothing is locked: the output hook may use the vector.
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
                // The device could not tell; it is asked again.
                return outcome.map(|()| state);
            }
            state.copies.learn(&pending, outcome);
        }
    }

    /// The elements, to read and write on the host. Devices get them anew when they next use them.
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

    /// The host copy, downloaded if it is not valid.
    fn valid_host(&self, state: &mut State<T>) -> Result<&[T]> {
        if let Some(valid) = self.host.get() {
            return Ok(valid);
        }
        state.copies.finish_at_home();
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

    /// Replaces the elements by those that `write` puts into storage of as many.
    fn rewrite(&mut self, write: impl FnOnce(&mut [T])) -> Result<()> {
        let len = self.len;
        let state = self.state.get_mut();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        if self.host.get().is_none() {
            let storage = state.spare.take().filter(|spare| spare.len() == len);
            self.host = OnceLock::from(storage.map_or_else(|| import::fresh(len), Ok)?);
        }
        let host = self.host.get_mut();
        let elements = host.expect("it is there, or was put there").make_mut()?;
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

impl<T> Vector<T> {
    fn state_mut(&mut self) -> &mut State<T> {
        self.state.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A vector of its own with the same elements. Should those be unreadable, so is the clone.
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

/// The elements if the host has them, else where they are: nothing is copied for this.
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
