//! Elements as the bytes that backends copy: the only `unsafe` code behind vectors.
//!
//! Not every byte of an element has a value: there may be padding between fields, and an enum has bytes of the
//! variants that it is not. Such elements are copied scalar by scalar. The other way, not all bytes are a value:
//! what is no `bool` and no tag is mended.

use std::alloc::{Layout, alloc_zeroed};
use std::borrow::Cow;
use std::ptr::NonNull;

use sarek_ir::{FieldInfo, Scalar, TypeInfo};

use super::pages;
use crate::{Element, Error, KernelType, Result};

/// The bytes of some elements; those without a value are 0.
pub(crate) fn of<T: Element>(elements: &[T]) -> Cow<'_, [u8]> {
    // SAFETY: `Element` promises that.
    unsafe { of_described(elements) }
}

/// The same.
///
/// # Safety
/// The type's layout is what [`KernelType::TYPE`] says.
pub(crate) unsafe fn of_described<T: KernelType>(elements: &[T]) -> Cow<'_, [u8]> {
    let size = size_of::<T>();
    if covered(&T::TYPE) == Some(size as u64) {
        // SAFETY: the scalars of a value cover it, so each of its bytes is initialised; the length is that of
        // the same memory, and the result borrows it.
        return Cow::Borrowed(unsafe {
            std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements))
        });
    }
    let mut bytes = vec![0; size_of_val(elements)];
    // SAFETY: the caller's promise.
    unsafe { copy_all(elements, &mut bytes) };
    Cow::Owned(bytes)
}

/// As [`of`], of many elements: an error if there is no memory for a copy.
pub(super) fn of_many<T: Element>(elements: &[T]) -> Result<Cow<'_, [u8]>> {
    if covered(&T::TYPE) == Some(size_of::<T>() as u64) {
        return Ok(of(elements));
    }
    let mut bytes = fresh(size_of_val(elements))?;
    // SAFETY: `Element` promises that.
    unsafe { copy_all(elements, &mut bytes) };
    Ok(Cow::Owned(bytes))
}

/// Copies the scalars of values; the bytes between them stay.
///
/// # Safety
/// The type's layout is what [`KernelType::TYPE`] says.
unsafe fn copy_all<T: KernelType>(elements: &[T], bytes: &mut [u8]) {
    let size = size_of::<T>().max(1);
    for (element, to) in elements.iter().zip(bytes.chunks_exact_mut(size)) {
        let from = std::ptr::from_ref(element).cast();
        // SAFETY: the caller promises that this is where the scalars of a valid value are.
        unsafe { copy(&T::TYPE, from, to) };
    }
}

/// How many bytes the scalars of a type cover; `None` if that depends on the value.
fn covered(info: &TypeInfo) -> Option<u64> {
    match info {
        TypeInfo::Scalar(scalar) => Some(scalar.size() as u64),
        TypeInfo::Array(elem, n) => Some(covered(elem)? * n),
        TypeInfo::Struct(info) => info.fields.iter().map(|f| covered(&f.ty)).sum(),
        TypeInfo::Enum(info) if info.variants.iter().all(|v| v.fields.is_empty()) => Some(4),
        TypeInfo::Enum(_) => None,
    }
}

/// Are elements their bytes, all of them, and are any bytes elements?
pub(super) fn are_elements<T: Element>() -> bool {
    covered(&T::TYPE) == Some(size_of::<T>() as u64) && !needs_mending(&T::TYPE)
}

/// Copies the scalars of a value.
///
/// # Safety
/// A value of the type stands at `from`.
unsafe fn copy(info: &TypeInfo, from: *const u8, to: &mut [u8]) {
    match info {
        TypeInfo::Scalar(scalar) => {
            let size = scalar.size();
            // SAFETY: the caller's promise.
            to[..size].copy_from_slice(unsafe { std::slice::from_raw_parts(from, size) });
        }
        TypeInfo::Array(elem, n) => {
            let size = elem.size() as usize;
            for i in 0..*n as usize {
                // SAFETY: elements stand one after the other.
                unsafe { copy(elem, from.add(i * size), &mut to[i * size..]) };
            }
        }
        // SAFETY: the caller's promise.
        TypeInfo::Struct(info) => unsafe { copy_fields(info.fields, from, to) },
        TypeInfo::Enum(info) => {
            // SAFETY: the tag stands at the beginning.
            let tag = unsafe { from.cast::<u32>().read_unaligned() };
            to[..4].copy_from_slice(&tag.to_ne_bytes());
            if let Some(variant) = info.variants.iter().find(|v| v.tag == tag) {
                // SAFETY: the value is of this variant.
                unsafe { copy_fields(variant.fields, from, to) };
            }
        }
    }
}

/// # Safety
/// The fields stand behind `from`.
unsafe fn copy_fields(fields: &[FieldInfo], from: *const u8, to: &mut [u8]) {
    for field in fields {
        let at = field.offset as usize;
        // SAFETY: the caller's promise.
        unsafe { copy(&field.ty, from.add(at), &mut to[at..]) };
    }
}

/// Elements for [`overwrite`] to overwrite: zeros, as far as these are values. Memory that the allocator has as zeros is not
/// touched here: who overwrites it does so first, by several threads if it is large.
///
/// # Errors
/// [`Error::OutOfMemory`], as of all functions here that allocate.
pub(super) fn fresh<T: Element>(len: usize) -> Result<Vec<T>> {
    zeroed(len, true)
}

/// `len` times `value`.
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

/// A copy of elements.
pub(super) fn copied<T: Element>(elements: &[T]) -> Result<Vec<T>> {
    let mut copy = reserved(elements.len())?;
    copy.extend_from_slice(elements);
    Ok(copy)
}

/// Bytes, so many times one after the other.
pub(crate) fn repeated(bytes: &[u8], count: usize) -> Result<Vec<u8>> {
    let mut all = reserved(bytes.len().saturating_mul(count))?;
    (0..count).for_each(|_| all.extend_from_slice(bytes));
    Ok(all)
}

/// Room for so many elements.
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

/// Zeros as far as these are values, in large pages if those are preferred.
fn zeroed<T: Element>(len: usize, large: bool) -> Result<Vec<T>> {
    let layout = Layout::array::<T>(len).map_err(|_| exhausted::<T>(len))?;
    if layout.size() == 0 {
        // SAFETY: no bytes are elements of a type without any, of which there are as many as one likes; or there is none. Neither
        // takes memory.
        return Ok(unsafe { Vec::from_raw_parts(NonNull::dangling().as_ptr(), len, len) });
    }
    // SAFETY: the layout has a size. Zeros are mended to values of the type before they are a `Vec` of it, whose layout this is.
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

/// Lets `write` overwrite elements through their bytes. Whatever it leaves there becomes a value.
pub(super) fn overwrite<T: Element>(
    elements: &mut [T],
    write: impl FnOnce(&mut [u8]) -> Result<()>,
) -> Result<()> {
    let len = size_of_val(elements);
    let at = elements.as_mut_ptr().cast::<u8>();
    if covered(&T::TYPE) != Some(size_of::<T>() as u64) {
        // Its bytes may have no value yet.
        // SAFETY: the borrow is exclusive; `Mended` makes values of the zeros before the elements are used again.
        unsafe { at.write_bytes(0, len) };
    }
    // SAFETY: the bytes are initialised, and the borrow is exclusive. Should `write` leave what is no value,
    // `Mended` mends it before `elements` can be used again, even if `write` panics.
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

/// Makes the bytes those of elements.
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

/// Every byte of a `bool` but 0 becomes `true`, every tag that is none that of the first variant.
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
            let tag = bytes.first_chunk().copied().unwrap_or_default();
            let found = info.variants.iter();
            let mut found = found.filter(|v| v.tag == u32::from_ne_bytes(tag));
            if let Some(variant) = found.next().or(info.variants.first()) {
                bytes[..4].copy_from_slice(&variant.tag.to_ne_bytes());
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
