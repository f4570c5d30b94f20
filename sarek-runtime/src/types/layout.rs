//! Layout computations for the code that `#[derive(KernelType)]` generates.

use std::mem::MaybeUninit;

use sarek_ir::{FieldInfo, Value};

use super::leaves;
use crate::KernelType;

/// Describes a field at an offset.
pub const fn field<T: KernelType>(name: &'static str, offset: usize) -> FieldInfo {
    FieldInfo {
        name,
        ty: T::TYPE,
        offset: offset as u64,
    }
}

/// A field of a type whose layout is not fixed.
pub const fn part<T: KernelType>(name: &'static str) -> FieldInfo {
    field::<T>(name, 0)
}

/// The offset of variant fields, which follow the tag; from the tag's size and the alignment of each field.
pub const fn payload_start(tag: usize, aligns: &[usize]) -> usize {
    round_up(tag, most(aligns, 1))
}

/// The offset of a field, from the sizes and alignments of the fields before it in its variant.
pub const fn offset(start: usize, before: &[(usize, usize)], align: usize) -> usize {
    round_up(end(start, before), align)
}

/// The scalars of all parts, for [`KernelType::__leaves`].
pub fn joined<const N: usize>(parts: [Vec<Vec<Value>>; N]) -> Vec<Vec<Value>> {
    parts.concat()
}

/// Zeros for the scalars of a field that the value does not have.
pub fn no_leaves<T: KernelType>() -> Vec<Vec<Value>> {
    leaves::no_leaves(&T::TYPE)
}

/// Skips the scalars of a field that the value does not have.
pub fn skip<T: KernelType>(scalars: &mut dyn Iterator<Item = Value>) {
    leaves::skip(&T::TYPE, scalars);
}

/// The end offset of the last of these fields.
pub const fn end(start: usize, fields: &[(usize, usize)]) -> usize {
    let mut at = start;
    let mut i = 0;
    while i < fields.len() {
        let (size, align) = fields[i];
        at = round_up(at, align) + size;
        i += 1;
    }
    at
}

/// The size of an enum, from the alignments of its fields and the ends of its variants. Fails to
/// compile unless it equals rustc's size.
pub const fn checked_size(size: usize, tag: usize, aligns: &[usize], ends: &[usize]) -> u64 {
    let computed = round_up(most(ends, tag), most(aligns, tag));
    assert!(
        size == computed,
        "this enum has another layout than its `#[repr(…)]` says"
    );
    size as u64
}

/// Memory for an enum with the tag set and all other bytes zero.
pub const fn tagged<T: KernelType, Tag: Copy>(tag: Tag) -> MaybeUninit<T> {
    assert!(
        size_of::<T>() >= size_of::<Tag>() && align_of::<T>() >= align_of::<Tag>(),
        "an enum has a tag"
    );
    let mut memory = MaybeUninit::<T>::zeroed();
    // SAFETY: the memory has room for an aligned tag.
    unsafe { memory.as_mut_ptr().cast::<Tag>().write(tag) };
    memory
}

const fn most(values: &[usize], least: usize) -> usize {
    let mut most = least;
    let mut i = 0;
    while i < values.len() {
        if values[i] > most {
            most = values[i];
        }
        i += 1;
    }
    most
}

const fn round_up(value: usize, align: usize) -> usize {
    value.div_ceil(align) * align
}
