//! Allocation of elements, and conversion between them and the bytes that backends copy. It holds
//! the `unsafe` code of element access.
//!
//! Some bytes are no valid value of an element: invalid `bool`s and enum tags are replaced by valid
//! ones. `types/bytes.rs` reads the bytes of elements.

use std::alloc::{Layout, alloc_zeroed};
use std::borrow::Cow;
use std::ptr::NonNull;

use sarek_ir::{FieldInfo, Scalar, TypeInfo};

use super::pages;
use crate::types::bytes::{copy_all, covered, of};
use crate::types::leaves::{put, scalar};
use crate::{Element, Error, Result};

/// The same as [`of`] for many elements; returns an error if there is no memory for a copy.
pub(super) fn of_many<T: Element>(elements: &[T]) -> Result<Cow<'_, [u8]>> {
    if covered(&T::TYPE) == Some(size_of::<T>() as u64) {
        return Ok(of(elements));
    }
    let mut bytes = fresh(size_of_val(elements))?;
    // SAFETY: `Element` promises that the layout is the described one.
    unsafe { copy_all(elements, &mut bytes) };
    Ok(Cow::Owned(bytes))
}

/// True if every byte of an element is initialised, and every byte pattern is a valid element.
pub(super) fn are_elements<T: Element>() -> bool {
    covered(&T::TYPE) == Some(size_of::<T>() as u64) && !needs_mending(&T::TYPE)
}

/// Allocates elements for [`overwrite`]: zeros, or valid values where a zero is none. Zeroed pages
/// from the allocator are not touched here, so that the code that overwrites them touches them
/// first; for large memory it uses several threads.
///
/// # Errors
/// [`Error::OutOfMemory`], as for all allocating functions here.
pub(super) fn fresh<T: Element>(len: usize) -> Result<Vec<T>> {
    zeroed(len, true)
}

/// Allocates `len` copies of `value`.
pub(super) fn filled<T: Element>(len: usize, value: T) -> Result<Vec<T>> {
    if of(std::slice::from_ref(&value))
        .iter()
        .all(|byte| *byte == 0)
    {
        return zeroed(len, false);
    }
    let mut elements = reserved(len)?;
    elements.resize(len, value);
    Ok(elements)
}

/// Copies elements.
pub(super) fn copied<T: Element>(elements: &[T]) -> Result<Vec<T>> {
    let mut copy = reserved(elements.len())?;
    copy.extend_from_slice(elements);
    Ok(copy)
}

/// Repeats bytes `count` times.
pub(crate) fn repeated(bytes: &[u8], count: usize) -> Result<Vec<u8>> {
    let mut all = reserved(bytes.len().saturating_mul(count))?;
    (0..count).for_each(|_| all.extend_from_slice(bytes));
    Ok(all)
}

/// Allocates an empty `Vec` with room for `len` elements.
pub(super) fn reserved<T: Element>(len: usize) -> Result<Vec<T>> {
    let mut elements = Vec::new();
    match elements.try_reserve_exact(len) {
        Ok(()) => Ok(elements),
        Err(_) => Err(exhausted::<T>(len)),
    }
}

fn exhausted<T>(len: usize) -> Error {
    Error::OutOfMemory {
        device: "the host".to_owned(),
        bytes: len.saturating_mul(size_of::<T>()),
    }
}

/// Allocates zeros, or valid values where a zero is none; prefers large pages if `large`.
fn zeroed<T: Element>(len: usize, large: bool) -> Result<Vec<T>> {
    let layout = Layout::array::<T>(len).map_err(|_| exhausted::<T>(len))?;
    if layout.size() == 0 {
        // SAFETY: a layout of size 0 takes no memory, and any number of zero-sized elements may be
        // made of no bytes.
        return Ok(unsafe { Vec::from_raw_parts(NonNull::dangling().as_ptr(), len, len) });
    }
    // SAFETY: the layout's size is not 0. Zeros are made valid values of the type before they
    // become a `Vec` of it, whose layout this is.
    unsafe {
        let at = alloc_zeroed(layout);
        if at.is_null() {
            return Err(exhausted::<T>(len));
        }
        if large {
            pages::prefer_large(at, layout.size());
        }
        mend_all::<T>(std::slice::from_raw_parts_mut(at, layout.size()));
        Ok(Vec::from_raw_parts(at.cast(), len, len))
    }
}

/// Lets `write` overwrite elements through their bytes. Invalid values that it leaves are replaced
/// by valid ones.
pub(super) fn overwrite<T: Element>(
    elements: &mut [T],
    write: impl FnOnce(&mut [u8]) -> Result<()>,
) -> Result<()> {
    let len = size_of_val(elements);
    let at = elements.as_mut_ptr().cast::<u8>();
    if covered(&T::TYPE) != Some(size_of::<T>() as u64) {
        // Padding may be uninitialised so far.
        // SAFETY: the borrow is exclusive; `Mended` makes the zeros valid values before the
        // elements are used again.
        unsafe { at.write_bytes(0, len) };
    }
    // SAFETY: the bytes are initialised, and the borrow is exclusive. If `write` leaves invalid
    // values, `Mended` replaces them before `elements` can be used again, even if `write` panics.
    let bytes = unsafe { std::slice::from_raw_parts_mut(at, len) };
    let guard = Mended {
        bytes,
        mend: mend_all::<T>,
    };
    write(&mut *guard.bytes)
}

struct Mended<'a> {
    bytes: &'a mut [u8],
    mend: fn(&mut [u8]),
}

impl Drop for Mended<'_> {
    fn drop(&mut self) {
        (self.mend)(self.bytes);
    }
}

/// Replaces invalid values by valid ones.
fn mend_all<T: Element>(bytes: &mut [u8]) {
    let info = T::TYPE;
    if needs_mending(&info) {
        for element in bytes.chunks_exact_mut(size_of::<T>().max(1)) {
            mend(&info, element);
        }
    }
}

fn needs_mending(info: &TypeInfo) -> bool {
    match info {
        TypeInfo::Scalar(scalar) => *scalar == Scalar::Bool,
        TypeInfo::Array(elem, _) => needs_mending(elem),
        TypeInfo::Struct(info) => info.fields.iter().any(|f| needs_mending(&f.ty)),
        TypeInfo::Enum(_) => true,
    }
}

/// Turns every `bool` byte other than 0 into `true`, and every unknown tag into that of the first
/// variant.
fn mend(info: &TypeInfo, bytes: &mut [u8]) {
    match info {
        TypeInfo::Scalar(Scalar::Bool) => bytes[0] = u8::from(bytes[0] != 0),
        TypeInfo::Scalar(_) => {}
        TypeInfo::Array(elem, n) => {
            let size = elem.size() as usize;
            for i in 0..*n as usize {
                mend(elem, &mut bytes[i * size..]);
            }
        }
        TypeInfo::Struct(info) => mend_fields(info.fields, bytes),
        TypeInfo::Enum(info) => {
            let tag = scalar(bytes, info.tag());
            let mut found = info.variants.iter().filter(|v| v.tag == tag);
            if let Some(variant) = found.next().or(info.variants.first()) {
                put(variant.tag, bytes);
                mend_fields(variant.fields, bytes);
            }
        }
    }
}

fn mend_fields(fields: &[FieldInfo], bytes: &mut [u8]) {
    for field in fields {
        mend(&field.ty, &mut bytes[field.offset as usize..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_elements() {
        assert_eq!(
            *of(&[1u32, 2]),
            [1u32.to_ne_bytes(), 2u32.to_ne_bytes()].concat()
        );
        assert!(of::<f64>(&[]).is_empty());
    }

    #[test]
    fn foreign_bytes_become_valid_booleans() {
        let mut flags = [false, true, true];
        let fill = |bytes: &mut [u8]| {
            bytes.copy_from_slice(&[2, 0, 1]);
            Ok(())
        };
        overwrite(&mut flags, fill).unwrap();
        assert_eq!(*of(&flags), [1, 0, 1]);
    }

    #[test]
    fn booleans_inside_of_arrays_are_mended() {
        let mut flags = [[false; 2]; 2];
        let fill = |bytes: &mut [u8]| {
            bytes.copy_from_slice(&[2, 0, 1, 255]);
            Ok(())
        };
        overwrite(&mut flags, fill).unwrap();
        assert_eq!(flags, [[true, false], [true, true]]);
        assert_eq!(fresh::<[bool; 2]>(2).unwrap(), [[false; 2]; 2]);
    }

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        let asked = |bytes: usize| move |error| matches!(error, Error::OutOfMemory { bytes: b, .. } if b == bytes);
        assert!(fresh::<u64>(1 << 60).is_err_and(asked(1 << 63)));
        assert!(filled(usize::MAX, 1u16).is_err_and(asked(usize::MAX)));
        assert!(filled(usize::MAX / 4, 0u32).is_err_and(asked(usize::MAX - 3)));
        assert!(
            filled(3, -0.0f32)
                .unwrap()
                .iter()
                .all(|zero| zero.is_sign_negative())
        );
        assert_eq!(filled(2, true).unwrap(), [true; 2]);
    }
}
