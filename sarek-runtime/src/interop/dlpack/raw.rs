//! Ownership of DLPack's structures. It holds the `unsafe` code of this folder.

use std::ptr::{NonNull, null_mut, slice_from_raw_parts};

use super::abi::{
    DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLTensor, READ_ONLY, VERSION, device_type,
};
use super::{Refused, Tensor, dtype_of, row_major};
use crate::{Element, Error, Result, Vector};

/// A structure that this owner must free by its deleter.
#[derive(Debug)]
pub(super) enum Managed {
    Unversioned(NonNull<DLManagedTensor>),
    Versioned(NonNull<DLManagedTensorVersioned>),
}

// SAFETY: producers promise that the deleter may run on any thread, see `Tensor::from_raw`; the
// structure is only read.
unsafe impl Send for Managed {}
// SAFETY: as above.
unsafe impl Sync for Managed {}

impl Drop for Managed {
    fn drop(&mut self) {
        // SAFETY: this owns the structure, and calls its deleter once.
        unsafe {
            match *self {
                Managed::Unversioned(of) => {
                    if let Some(deleter) = of.as_ref().deleter {
                        deleter(of.as_ptr());
                    }
                }
                // Also for unknown major versions, these fields are at their places.
                Managed::Versioned(of) => {
                    if let Some(deleter) = of.as_ref().deleter {
                        deleter(of.as_ptr());
                    }
                }
            }
        }
    }
}

impl Managed {
    /// The description of the tensor, and true if the tensor may not be written.
    ///
    /// # Errors
    /// [`Refused::Version`] for a structure whose layout is unknown.
    pub(super) fn tensor(&self) -> Result<(DLTensor, bool), Refused> {
        // SAFETY: the structure lives as long as this.
        unsafe {
            match self {
                Managed::Unversioned(of) => Ok((of.as_ref().dl_tensor, false)),
                Managed::Versioned(of) => {
                    let version = (*of.as_ptr()).version;
                    if version.major != VERSION.major {
                        return Err(Refused::Version(version.major, version.minor));
                    }
                    let of = of.as_ref();
                    Ok((of.dl_tensor, of.flags & READ_ONLY != 0))
                }
            }
        }
    }

    /// The numbers at `shape` or `strides`; `None` for a null pointer.
    pub(super) fn numbers(&self, at: *mut i64, count: usize) -> Option<&[i64]> {
        // SAFETY: producers keep `ndim` numbers there as long as the structure lives.
        (!at.is_null()).then(|| unsafe { &*slice_from_raw_parts(at, count) })
    }
}

impl Tensor {
    /// Takes a tensor from its producer: the pointer of a Python capsule named `dltensor`, for
    /// example, which the caller renames to `used_dltensor`.
    ///
    /// # Errors
    /// [`Refused::Null`] for a null pointer.
    ///
    /// # Safety
    /// - The pointer is null, or that of a valid structure which this call takes over.
    /// - Until its deleter is called, the described memory exists, all elements are initialised with
    ///   valid values, and nobody writes them.
    /// - The deleter may be called on any thread.
    pub unsafe fn from_raw(of: *mut DLManagedTensor) -> Result<Tensor> {
        let of = NonNull::new(of).ok_or(Error::Tensor(Refused::Null("the tensor")))?;
        Ok(Tensor(Managed::Unversioned(of)))
    }

    /// The same for a structure with a version, as in Python capsules named `dltensor_versioned`.
    ///
    /// # Errors
    /// [`Refused::Null`] for a null pointer.
    ///
    /// # Safety
    /// As for [`Tensor::from_raw`].
    pub unsafe fn from_versioned(of: *mut DLManagedTensorVersioned) -> Result<Tensor> {
        let of = NonNull::new(of).ok_or(Error::Tensor(Refused::Null("the tensor")))?;
        Ok(Tensor(Managed::Versioned(of)))
    }

    /// Gives the tensor away, to a consumer who will call its deleter. A tensor with a version loses
    /// it, and its flags.
    ///
    /// # Errors
    /// [`Refused::ReadOnly`] for a tensor that may not be written, which only a flag can say.
    pub fn into_raw(self) -> Result<*mut DLManagedTensor> {
        match self.0.tensor().map_err(Error::Tensor)? {
            (_, true) => Err(Error::Tensor(Refused::ReadOnly)),
            (tensor, false) => Ok(Wrapped::unversioned(self, tensor)),
        }
    }

    /// The same, as a structure with a version.
    ///
    /// # Errors
    /// [`Refused::Version`] for a structure whose layout is unknown.
    pub fn into_versioned(self) -> Result<*mut DLManagedTensorVersioned> {
        let (tensor, read_only) = self.0.tensor().map_err(Error::Tensor)?;
        Ok(Wrapped::versioned(self, tensor, read_only))
    }

    /// The elements of a checked tensor in the host's memory, as a vector. It owns the tensor.
    pub(super) fn own_elements<T: Element>(
        self,
        at: NonNull<T>,
        len: usize,
        in_place: bool,
    ) -> Vector<T> {
        let elements = Elements {
            at,
            len,
            _owner: self,
        };
        match in_place {
            true => Vector::from_owner(elements),
            false => Vector::from_read_only(elements),
        }
    }

    /// The elements of a vector as a tensor that owns them.
    pub(super) fn of_vector<T: Element>(mut vector: Vector<T>, shape: &[usize]) -> Result<Tensor> {
        let data = vector.as_mut_slice()?.as_mut_ptr();
        let device = DLDevice {
            device_type: device_type::CPU,
            device_id: 0,
        };
        // SAFETY: the elements stay there, since the vector is not used again before it is dropped.
        unsafe { Tensor::of_memory(vector, data, device, shape) }
    }

    /// Makes a row-major tensor of memory anywhere, which `owner` keeps. It is dropped with the tensor, on any thread.
    ///
    /// # Errors
    /// [`Refused::Shape`] and [`Refused::NoType`].
    ///
    /// # Safety
    /// Until `owner` is dropped, there are as many valid elements at `data` in the memory of `device` as the shape says,
    /// and only users of the tensor read or write them. The drop of `owner` waits for work of other libraries on them.
    pub unsafe fn of_memory<T: Element>(
        owner: impl Send + Sync + 'static,
        data: *mut T,
        device: DLDevice,
        shape: &[usize],
    ) -> Result<Tensor> {
        let dtype = dtype_of::<T>().map_err(Error::Tensor)?;
        let sizes: Result<Vec<i64>, _> = shape.iter().map(|n| i64::try_from(*n)).collect();
        let (Ok(mut sizes), Ok(ndim)) = (sizes, i32::try_from(shape.len())) else {
            return Err(Error::Tensor(Refused::Shape {
                shape: shape.iter().map(|n| *n as i64).collect(),
                problem: "is too large",
            }));
        };
        let mut strides = row_major(shape);
        let tensor = DLTensor {
            data: data.cast(),
            device,
            ndim,
            dtype,
            shape: sizes.as_mut_ptr(),
            strides: strides.as_mut_ptr(),
            byte_offset: 0,
        };
        // The numbers of a `Vec` stay where they are when it is moved.
        let made = Wrapped::versioned((owner, sizes, strides), tensor, false);
        // SAFETY: it was just made, and the caller promises the rest.
        unsafe { Tensor::from_versioned(made) }
    }
}

/// Elements in a tensor's memory.
struct Elements<T> {
    at: NonNull<T>,
    len: usize,
    _owner: Tensor,
}

// SAFETY: the elements may be sent, and so may the tensor.
unsafe impl<T: Send> Send for Elements<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Elements<T> {}

impl<T> AsRef<[T]> for Elements<T> {
    fn as_ref(&self) -> &[T] {
        // SAFETY: the tensor was checked to have these elements, and the producer promised that
        // they are valid and not written.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.len) }
    }
}

impl<T> AsMut<[T]> for Elements<T> {
    fn as_mut(&mut self) -> &mut [T] {
        // SAFETY: the same; the caller of `into_vector_in_place` promised that nobody else uses them.
        unsafe { std::slice::from_raw_parts_mut(self.at.as_ptr(), self.len) }
    }
}

/// A structure in one allocation with its owner.
#[repr(C)] // the structure has the address of the whole
struct Wrapped<M, O> {
    managed: M,
    _owner: O,
}

impl<M, O: Send + Sync> Wrapped<M, O> {
    fn boxed(managed: M, owner: O) -> *mut M {
        let wrapped = Wrapped {
            managed,
            _owner: owner,
        };
        Box::into_raw(Box::new(wrapped)).cast()
    }

    unsafe extern "C" fn delete(of: *mut M) {
        // SAFETY: consumers call this once, with a structure that `boxed` made.
        drop(unsafe { Box::from_raw(of.cast::<Self>()) });
    }
}

impl<O: Send + Sync> Wrapped<DLManagedTensor, O> {
    fn unversioned(owner: O, dl_tensor: DLTensor) -> *mut DLManagedTensor {
        let managed = DLManagedTensor {
            dl_tensor,
            manager_ctx: null_mut(),
            deleter: Some(Self::delete),
        };
        Self::boxed(managed, owner)
    }
}

impl<O: Send + Sync> Wrapped<DLManagedTensorVersioned, O> {
    fn versioned(owner: O, dl_tensor: DLTensor, read_only: bool) -> *mut DLManagedTensorVersioned {
        let managed = DLManagedTensorVersioned {
            version: VERSION,
            manager_ctx: null_mut(),
            deleter: Some(Self::delete),
            flags: if read_only { READ_ONLY } else { 0 },
            dl_tensor,
        };
        Self::boxed(managed, owner)
    }
}
