//! Elements as the bytes that backends copy: the only `unsafe` code behind vectors.
//!
//! Not every byte of an element has a value: there may be padding between fields, and an enum has bytes of the
//! variants that it is not. Such elements are copied scalar by scalar. The other way, not all bytes are a value:
//! what is no `bool` and no tag is mended.

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::borrow::Cow;
use std::ptr::NonNull;

use sarek_ir::{FieldInfo, Scalar, TypeInfo};

use super::pages;
use crate::{Element, KernelType, Result};

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
    for (element, to) in elements.iter().zip(bytes.chunks_exact_mut(size.max(1))) {
        let from = std::ptr::from_ref(element).cast();
        // SAFETY: the caller promises that this is where the scalars of a valid value are.
        unsafe { copy(&T::TYPE, from, to) };
    }
    Cow::Owned(bytes)
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
pub(super) fn fresh<T: Element>(len: usize) -> Vec<T> {
    let layout = Layout::array::<T>(len);
    let layout = layout.expect("a vector of as many elements was made before");
    if layout.size() == 0 {
        // SAFETY: no bytes are elements of a type without any, of which there are as many as one likes; or there is none. Neither
        // takes memory.
        return unsafe { Vec::from_raw_parts(NonNull::dangling().as_ptr(), len, len) };
    }
    // SAFETY: the layout has a size. Zeros are mended to values of the type before they are a `Vec` of it, whose layout this is.
    unsafe {
        let at = alloc_zeroed(layout);
        if at.is_null() {
            handle_alloc_error(layout);
        }
        pages::prefer_large(at, layout.size());
        mend_all::<T>(std::slice::from_raw_parts_mut(at, layout.size()));
        Vec::from_raw_parts(at.cast(), len, len)
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
        assert_eq!(fresh::<[bool; 2]>(2), [[false; 2]; 2]);
    }
}
