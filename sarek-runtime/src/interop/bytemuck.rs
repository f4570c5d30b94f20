//! The traits of `bytemuck` for `f32x4` and its kin, and casts of vectors.
//!
//! A type of the user's derives both `Pod` and [`KernelType`](crate::KernelType).

use bytemuck::{AnyBitPattern, NoUninit, Pod, PodCastError, Zeroable};

use crate::{Element, Error, Result, Vector, simd};

macro_rules! pods {
    ($($ty:ident)*) => {$(
        // SAFETY: it consists of numbers, of which zero is one.
        unsafe impl Zeroable for simd::$ty {}
        // SAFETY: a `repr(C)` struct of numbers, whose size is asserted to be theirs.
        unsafe impl Pod for simd::$ty {}
    )*};
}

pods! { f32x2 f32x3 f32x4 f64x2 f64x3 f64x4 i32x2 i32x3 i32x4 u32x2 u32x3 u32x4 }

/// Turns a vector into one of another type with the same bytes; without a copy if the vector owns
/// its memory and both types have the same alignment.
///
/// # Errors
/// The error of a launch that failed to write the vector; [`Error::Convert`] if the bytes are not a
/// whole number of elements.
pub fn cast<A, B>(vector: Vector<A>) -> Result<Vector<B>>
where
    A: Element + NoUninit,
    B: Element + AnyBitPattern,
{
    match bytemuck::allocation::try_cast_vec(vector.into_vec()?) {
        Ok(elements) => Ok(Vector::from_vec(elements)),
        Err((_, elements)) => from_bytes(bytemuck::cast_slice(&elements)),
    }
}

/// The bytes of a vector, for reading on the host.
///
/// # Errors
/// The error of a launch that failed to write the vector.
pub fn bytes<T: Element + NoUninit>(vector: &Vector<T>) -> Result<&[u8]> {
    vector.as_slice().map(bytemuck::cast_slice)
}

/// The bytes of a vector, for reading and writing on the host. Devices get the elements anew at
/// their next use.
///
/// # Errors
/// As for [`bytes`].
pub fn bytes_mut<T: Element + Pod>(vector: &mut Vector<T>) -> Result<&mut [u8]> {
    vector.as_mut_slice().map(bytemuck::cast_slice_mut)
}

/// Copies bytes into a vector. They may have any alignment.
///
/// # Errors
/// [`Error::Convert`] if the bytes are not a whole number of elements.
pub fn from_bytes<T: Element + AnyBitPattern>(bytes: &[u8]) -> Result<Vector<T>> {
    let size = size_of::<T>();
    if size == 0 || !bytes.len().is_multiple_of(size) {
        return Err(Error::Convert {
            from: "bytes",
            to: "a vector",
            problem: format!(
                "{} bytes are not a whole number of elements of {size}",
                bytes.len()
            ),
        });
    }
    match bytemuck::try_cast_slice(bytes) {
        Ok(elements) => Ok(Vector::from_slice(elements)),
        Err(PodCastError::TargetAlignmentGreaterAndInputNotAligned) | Err(_) => Ok(bytes
            .chunks_exact(size)
            .map(bytemuck::pod_read_unaligned)
            .collect()),
    }
}
