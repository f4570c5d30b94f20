//! The bytes of values. It holds the `unsafe` code that reads them.
//!
//! Some bytes of a value may be uninitialised: padding between fields, and the fields of an enum's
//! inactive variants. Such values are copied scalar by scalar.

use std::borrow::Cow;

use sarek_ir::{FieldInfo, TypeInfo};

use super::leaves::scalar;
use super::{Element, KernelType};

/// The bytes of elements; uninitialised bytes become 0.
pub(crate) fn of<T: Element>(elements: &[T]) -> Cow<'_, [u8]> {
    // SAFETY: `Element` promises that the layout is the described one.
    unsafe { of_described(elements) }
}

/// The same for any type with a described layout.
///
/// # Safety
/// The type's layout is the one that [`KernelType::TYPE`] describes.
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

/// Copies the scalars of values, and leaves the bytes between them alone.
///
/// # Safety
/// The type's layout is the one that [`KernelType::TYPE`] describes.
pub(crate) unsafe fn copy_all<T: KernelType>(elements: &[T], bytes: &mut [u8]) {
    let size = size_of::<T>().max(1);
    for (element, to) in elements.iter().zip(bytes.chunks_exact_mut(size)) {
        let from = std::ptr::from_ref(element).cast();
        // SAFETY: the caller promises that the scalars of a valid value are at these offsets.
        unsafe { copy(&T::TYPE, from, to) };
    }
}

/// The number of bytes that the scalars of a type cover; `None` if it depends on the value.
pub(crate) fn covered(info: &TypeInfo) -> Option<u64> {
    match info {
        TypeInfo::Scalar(scalar) => Some(scalar.size() as u64),
        TypeInfo::Array(elem, n) => Some(covered(elem)? * n),
        TypeInfo::Struct(info) => info.fields.iter().map(|f| covered(&f.ty)).sum(),
        TypeInfo::Enum(info) if info.variants.iter().all(|v| v.fields.is_empty()) => {
            Some(info.tag().size() as u64)
        }
        TypeInfo::Enum(_) => None,
    }
}

/// Copies the scalars of a value.
///
/// # Safety
/// A valid value of the type is at `from`.
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
                // SAFETY: array elements are contiguous.
                unsafe { copy(elem, from.add(i * size), &mut to[i * size..]) };
            }
        }
        // SAFETY: the caller's promise.
        TypeInfo::Struct(info) => unsafe { copy_fields(info.fields, from, to) },
        TypeInfo::Enum(info) => {
            let tag = info.tag();
            let size = tag.size();
            // SAFETY: the tag is at offset 0.
            to[..size].copy_from_slice(unsafe { std::slice::from_raw_parts(from, size) });
            let tag = scalar(to, tag);
            if let Some(variant) = info.variants.iter().find(|v| v.tag == tag) {
                // SAFETY: the value is of this variant.
                unsafe { copy_fields(variant.fields, from, to) };
            }
        }
    }
}

/// # Safety
/// A valid value with these fields is at `from`.
unsafe fn copy_fields(fields: &[FieldInfo], from: *const u8, to: &mut [u8]) {
    for field in fields {
        let at = field.offset as usize;
        // SAFETY: the caller's promise.
        unsafe { copy(&field.ty, from.add(at), &mut to[at..]) };
    }
}
