//! Layout computations for the code that `#[derive(KernelType)]` generates.

use std::mem::MaybeUninit;

use sarek_ir::FieldInfo;

use crate::KernelType;

/// Describes a field at an offset.
pub const fn field<T: KernelType>(name: &'static str, offset: usize) -> FieldInfo {
    FieldInfo {
        name,
        ty: T::TYPE,
        offset: offset as u64,
    }
}

/// The offset of variant fields, which follow the tag; from the alignment of each.
pub const fn payload_start(aligns: &[usize]) -> usize {
    round_up(4, most(aligns, 1))
}

/// The offset of a field, from the sizes and alignments of the fields before it in its variant.
pub const fn offset(start: usize, before: &[(usize, usize)], align: usize) -> usize {
    round_up(end(start, before), align)
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
pub const fn checked_size(size: usize, aligns: &[usize], ends: &[usize]) -> u64 {
    let computed = round_up(most(ends, 4), most(aligns, 4));
    assert!(
        size == computed,
        "this enum has another layout than `#[repr(C, u32)]`"
    );
    size as u64
}

/// Memory for an enum with the tag set and all other bytes zero.
pub const fn tagged<T: KernelType>(tag: u32) -> MaybeUninit<T> {
    assert!(
        size_of::<T>() >= 4 && align_of::<T>() >= 4,
        "an enum has a tag"
    );
    let mut memory = MaybeUninit::<T>::zeroed();
    // SAFETY: the memory has room for an aligned `u32`.
    unsafe { memory.as_mut_ptr().cast::<u32>().write(tag) };
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
