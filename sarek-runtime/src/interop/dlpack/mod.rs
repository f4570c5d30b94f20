//! [DLPack](https://dmlc.github.io/dlpack/latest/): tensors in memory that NumPy, PyTorch, JAX and
//! other libraries share.
//!
//! A [`Tensor`] owns such a structure, and calls its deleter when it is dropped. Tensors in the
//! host's memory become vectors, and vectors become tensors, without a copy.

mod raw;

pub use crate::dlpack::{Refused, abi};

use std::ptr::NonNull;

use sarek_ir::{Scalar, TypeInfo};

use crate::{Element, Error, Result, Vector};
use abi::{DLDataType, DLDevice, DLTensor, device_type, type_code};

/// A tensor of another library, or one that is made for it.
#[derive(Debug)]
pub struct Tensor(raw::Managed);

impl Tensor {
    /// Turns a vector into a tensor of this shape in the host's memory, in row-major order. Nothing
    /// is copied; the tensor owns the vector.
    ///
    /// # Errors
    /// The error of a launch that failed to write the vector; [`Refused::Shape`] and
    /// [`Refused::NoType`].
    pub fn from_vector<T: Element>(vector: Vector<T>, shape: &[usize]) -> Result<Tensor> {
        Tensor::check_shape(&vector, shape).map_err(Error::Tensor)?;
        Tensor::of_vector(vector, shape)
    }

    /// Compares a shape with the length of a vector that becomes a tensor.
    ///
    /// # Errors
    /// [`Refused::Shape`].
    pub fn check_shape<T: Element>(vector: &Vector<T>, shape: &[usize]) -> Result<(), Refused> {
        let count = shape.iter().try_fold(1usize, |n, by| n.checked_mul(*by));
        match count == Some(vector.len()) {
            true => Ok(()),
            false => Err(Refused::Shape {
                shape: shape.iter().map(|n| *n as i64).collect(),
                problem: "has another number of elements than the vector",
            }),
        }
    }

    /// The number of elements along each dimension.
    ///
    /// # Errors
    /// [`Refused::Version`], [`Refused::Null`], [`Refused::Rank`] and [`Refused::Shape`].
    pub fn shape(&self) -> Result<Vec<usize>> {
        self.checked_shape().map_err(Error::Tensor)
    }

    fn checked_shape(&self) -> Result<Vec<usize>, Refused> {
        let (tensor, _) = self.0.tensor()?;
        let shape = self.sizes(&tensor)?;
        let sizes: Result<_, _> = shape.iter().map(|n| usize::try_from(*n)).collect();
        sizes.map_err(|_| Refused::Shape {
            shape: shape.to_vec(),
            problem: "has a negative size",
        })
    }

    /// The place of the tensor's memory.
    ///
    /// # Errors
    /// [`Refused::Version`].
    pub fn device(&self) -> Result<DLDevice> {
        let (tensor, _) = self.0.tensor().map_err(Error::Tensor)?;
        Ok(tensor.device)
    }

    /// The type of the elements.
    ///
    /// # Errors
    /// [`Refused::Version`].
    pub fn element_type(&self) -> Result<DLDataType> {
        let (tensor, _) = self.0.tensor().map_err(Error::Tensor)?;
        Ok(tensor.dtype)
    }

    /// True if the tensor may not be written.
    ///
    /// # Errors
    /// [`Refused::Version`].
    pub fn is_read_only(&self) -> Result<bool> {
        let (_, read_only) = self.0.tensor().map_err(Error::Tensor)?;
        Ok(read_only)
    }

    /// Turns a row-major tensor of any rank in the host's memory into a vector of its elements,
    /// which owns the tensor. Nothing is copied until the vector is written.
    ///
    /// # Errors
    /// All of [`Refused`] but the last. The tensor is given back to its producer.
    pub fn into_vector<T: Element>(self) -> Result<Vector<T>> {
        let (at, len) = self.host_elements::<T>().map_err(Error::Tensor)?;
        Ok(self.own_elements(at, len, false))
    }

    /// The same for a tensor of `N` dimensions; also returns the number of elements along each.
    ///
    /// # Errors
    /// As for [`Tensor::into_vector`], and [`Refused::Rank`].
    pub fn into_vector_of_rank<T: Element, const N: usize>(
        self,
    ) -> Result<(Vector<T>, [usize; N])> {
        let shape = self.shape()?;
        let found = shape.len() as i32;
        let rank = Refused::Rank { expected: N, found };
        let shape = shape.try_into().map_err(|_| Error::Tensor(rank))?;
        Ok((self.into_vector()?, shape))
    }

    /// The same as [`Tensor::into_vector`], for a vector that is written in the tensor's memory.
    ///
    /// # Errors
    /// All of [`Refused`].
    ///
    /// # Safety
    /// Until the vector is dropped, nobody else reads or writes the tensor's memory.
    pub unsafe fn into_vector_in_place<T: Element>(self) -> Result<Vector<T>> {
        if self.is_read_only()? {
            return Err(Error::Tensor(Refused::ReadOnly));
        }
        let (at, len) = self.host_elements::<T>().map_err(Error::Tensor)?;
        Ok(self.own_elements(at, len, true))
    }

    fn host_elements<T: Element>(&self) -> Result<(NonNull<T>, usize), Refused> {
        let device = self.0.tensor()?.0.device;
        if ![device_type::CPU, device_type::CUDA_HOST].contains(&device.device_type) {
            return Err(Refused::Device(device));
        }
        self.elements()
    }

    /// The address and the number of the elements of a row-major tensor of any rank, in memory of
    /// any [`device`](Tensor::device).
    ///
    /// # Errors
    /// All of [`Refused`] but [`Refused::Device`] and [`Refused::ReadOnly`].
    pub fn elements<T: Element>(&self) -> Result<(NonNull<T>, usize), Refused> {
        let (tensor, _) = self.0.tensor()?;
        let (expected, found) = (dtype_of::<T>()?, tensor.dtype);
        if found != expected {
            return Err(Refused::Type { expected, found });
        }
        let shape = self.checked_shape()?;
        let refused = |problem| Refused::Shape {
            shape: shape.iter().map(|n| *n as i64).collect(),
            problem,
        };
        // The sizes besides a 0 are not bounded by memory.
        let count = match shape.contains(&0) {
            true => Some(0),
            false => shape.iter().try_fold(1usize, |n, by| n.checked_mul(*by)),
        };
        let bytes = count.and_then(|n| n.checked_mul(size_of::<T>()));
        let count = count.filter(|_| bytes.is_some_and(|n| isize::try_from(n).is_ok()));
        let count = count.ok_or_else(|| refused("is larger than memory"))?;
        if count == 0 {
            return Ok((NonNull::dangling(), 0));
        }
        self.contiguous(&tensor, &shape)?;
        if tensor.data.is_null() {
            return Err(Refused::Null("the elements"));
        }
        let offset = usize::try_from(tensor.byte_offset).ok();
        let address = offset.and_then(|offset| tensor.data.addr().checked_add(offset));
        let address = address.ok_or(Refused::ByteOffset(tensor.byte_offset))?;
        let alignment = align_of::<T>();
        if !address.is_multiple_of(alignment) {
            return Err(Refused::Misaligned { address, alignment });
        }
        let at = tensor.data.wrapping_byte_add(tensor.byte_offset as usize);
        let at = NonNull::new(at.cast()).ok_or(Refused::ByteOffset(tensor.byte_offset))?;
        Ok((at, count))
    }

    fn sizes(&self, tensor: &DLTensor) -> Result<&[i64], Refused> {
        let found = tensor.ndim;
        let count = usize::try_from(found).map_err(|_| Refused::Rank { expected: 1, found })?;
        match (count, self.0.numbers(tensor.shape, count)) {
            (0, _) => Ok(&[]),
            (_, shape) => shape.ok_or(Refused::Null("the shape")),
        }
    }

    fn contiguous(&self, tensor: &DLTensor, shape: &[usize]) -> Result<(), Refused> {
        // Null strides are those of a row-major tensor.
        let Some(strides) = self.0.numbers(tensor.strides, shape.len()) else {
            return Ok(());
        };
        let each = shape.iter().zip(strides).zip(row_major(shape));
        // The stride of a dimension of size 1 is never used.
        let fits =
            |((size, stride), wanted): ((&usize, &i64), i64)| *size == 1 || *stride == wanted;
        match each.into_iter().all(fits) {
            true => Ok(()),
            false => Err(Refused::Strides {
                shape: shape.iter().map(|n| *n as i64).collect(),
                strides: strides.to_vec(),
            }),
        }
    }
}

/// The strides of a row-major tensor, in elements.
fn row_major(shape: &[usize]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for d in (1..shape.len()).rev() {
        strides[d - 1] = i64::wrapping_mul(strides[d], shape[d] as i64);
    }
    strides
}

/// DLPack's type for elements: numbers, `bool`, and structs of two floats named `re` and `im`.
fn dtype_of<T: Element>() -> Result<DLDataType, Refused> {
    let none = || Refused::NoType(std::any::type_name::<T>());
    let of = |code, bytes: usize| DLDataType {
        code,
        bits: (8 * bytes) as u8,
        lanes: 1,
    };
    match T::TYPE {
        TypeInfo::Scalar(scalar) => code(scalar)
            .map(|code| of(code, scalar.size()))
            .ok_or_else(none),
        TypeInfo::Struct(info) => match info.fields {
            [re, im] if (re.name, im.name) == ("re", "im") && re.ty == im.ty && re.offset == 0 => {
                match re.ty {
                    TypeInfo::Scalar(Scalar::F32 | Scalar::F64) => {
                        Ok(of(type_code::COMPLEX, size_of::<T>()))
                    }
                    _ => Err(none()),
                }
            }
            _ => Err(none()),
        },
        TypeInfo::Array(..) | TypeInfo::Enum(_) => Err(none()),
    }
}

fn code(scalar: Scalar) -> Option<u8> {
    match scalar {
        Scalar::Bool => Some(type_code::BOOL),
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => Some(type_code::INT),
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => Some(type_code::UINT),
        Scalar::F16 | Scalar::F32 | Scalar::F64 => Some(type_code::FLOAT),
        Scalar::Bf16 => Some(type_code::BFLOAT),
        Scalar::Usize => None,
    }
}
