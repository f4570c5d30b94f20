//! Vectors: memory that the host and the devices see alike.

pub(crate) mod bytes;
mod copies;
mod device_copy;
mod erased;
mod future;
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

use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::sync::lock;
use crate::{Device, Element, Error, Result};
use copies::Copies;
pub(crate) use erased::Operand;
pub use future::{ReadBack, Reading};
pub use lend::Lent;
pub use parts::{Part, PartMut, Parts};
pub(crate) use ranges::resolve;
use storage::Storage;
pub use view::{VectorView, VectorViewMut};

/// A vector of fixed length that kernels read and write on any device.
///
/// Copies are made when they are needed: to a device when a launch there uses the vector, back
/// when the host reads it. A read on the host waits for the launches that write the vector.
///
/// If such a launch failed, the vector is unreadable: reads and launches that use it return the
/// launch's error until all elements are rewritten by [`Vector::fill`] or [`Vector::copy_from_slice`]
/// (or the vector is replaced).
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

    /// A vector of a copy of these elements.
    pub fn from_slice(elements: &[T]) -> Vector<T> {
        Vector::from_vec(elements.to_vec())
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
        Vector::from_vec(vec![value; len])
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
        self.as_slice().map(<[T]>::to_vec)
    }

    /// The elements, in the vector's own storage; a copy if that is somebody else's.
    pub fn into_vec(mut self) -> Result<Vec<T>> {
        self.as_slice()?;
        Ok(self.host.take().map_or_else(Vec::new, Storage::into_vec))
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
        self.rewrite(|elements| elements.fill(value));
        Ok(())
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
        self.rewrite(|storage| storage.copy_from_slice(elements));
        Ok(())
    }

    /// The elements, to read on the host.
    pub fn as_slice(&self) -> Result<&[T]> {
        let mut state = lock(&self.state);
        state.copies.settle()?;
        self.valid_host(&mut state)
    }

    /// The elements, to read and write on the host. Devices get them anew when they next use them.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        self.as_slice()?;
        self.state_mut().copies.invalidate();
        let host = self.host.get_mut();
        Ok(host
            .expect("`as_slice` made the host copy valid")
            .make_mut())
    }

    /// The host copy, downloaded if it is not valid.
    fn valid_host(&self, state: &mut State<T>) -> Result<&[T]> {
        if let Some(valid) = self.host.get() {
            return Ok(valid);
        }
        state.copies.finish_at_home();
        let spare = state.spare.take();
        let mut fresh = spare.unwrap_or_else(|| import::fresh(self.len));
        let result = bytes::overwrite(fresh.make_mut(), |to| state.copies.download(0, to));
        if let Err(error) = result {
            state.spare = Some(fresh);
            return Err(error);
        }
        Ok(self.host.get_or_init(|| fresh))
    }

    /// Replaces the elements by those that `write` puts into storage of as many.
    fn rewrite(&mut self, write: impl FnOnce(&mut [T])) {
        let (host, len) = (self.host.take(), self.len);
        let state = self.state_mut();
        let storage = host.or(state.spare.take());
        let mut storage = storage.unwrap_or_else(|| import::fresh(len));
        state.copies.forget();
        write(storage.make_mut());
        self.host = OnceLock::from(storage);
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
        match self.to_vec() {
            Ok(elements) => Vector::from_vec(elements),
            Err(error) => Vector {
                len: self.len,
                host: OnceLock::new(),
                state: Mutex::new(State {
                    copies: Copies::failed(error),
                    spare: None,
                }),
                unit: OnceLock::new(),
                id: OnceLock::new(),
                elsewhere: false,
            },
        }
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
        Vector::from_vec(elements.into_iter().collect())
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
