//! The scalars of a value: reading them, and building a value from them.

use std::mem::MaybeUninit;

use half::{bf16, f16};
use sarek_ir::link::{self, LeafAt};
use sarek_ir::{FieldInfo, Scalar, TypeInfo, Value};

use super::{Element, KernelType, ScalarArg, bytes};

/// The scalars of a value in the order of [`link::leaves`]; zeros for the fields of inactive
/// variants.
pub fn leaves<T: Element>(value: &T) -> Vec<Value> {
    let bytes = bytes::of(std::slice::from_ref(value));
    let leaves = link::leaves(&T::TYPE).into_iter();
    leaves
        .map(|leaf| scalar(&bytes[leaf.offset as usize..], leaf.scalar))
        .collect()
}

/// The same, with the scalars of array elements grouped.
///
/// # Safety
/// The type's layout is the one that [`KernelType::TYPE`] describes.
pub(crate) unsafe fn leaves_in_memory<T: KernelType>(value: &T) -> Vec<Vec<Value>> {
    // SAFETY: the caller's promise.
    let bytes = unsafe { bytes::of_described(std::slice::from_ref(value)) };
    let read = |leaf: LeafAt| scalar(&bytes[leaf.offset as usize..], leaf.scalar);
    let each = link::each_leaf(&T::TYPE).into_iter();
    each.map(|leaf| leaf.into_iter().map(read).collect())
        .collect()
}

/// Zeros for all scalars of a type.
pub(crate) fn no_leaves(info: &TypeInfo) -> Vec<Vec<Value>> {
    let zero = |leaf: LeafAt| Value::zero(leaf.scalar);
    let each = link::each_leaf(info).into_iter();
    each.map(|leaf| leaf.into_iter().map(zero).collect())
        .collect()
}

/// The scalar at the beginning of `bytes`.
pub(crate) fn scalar(bytes: &[u8], scalar: Scalar) -> Value {
    macro_rules! read {
        ($ty:ident) => {{
            let bytes = bytes.first_chunk().copied();
            ScalarArg::value($ty::from_ne_bytes(bytes.unwrap_or_default()))
        }};
    }
    match scalar {
        Scalar::Bool => Value::Bool(bytes[0] != 0),
        Scalar::I8 => read!(i8),
        Scalar::U8 => read!(u8),
        Scalar::I16 => read!(i16),
        Scalar::U16 => read!(u16),
        Scalar::I32 => read!(i32),
        Scalar::U32 => read!(u32),
        Scalar::I64 => read!(i64),
        Scalar::U64 => read!(u64),
        Scalar::Usize => read!(usize),
        Scalar::F16 => read!(f16),
        Scalar::Bf16 => read!(bf16),
        Scalar::F32 => read!(f32),
        Scalar::F64 => read!(f64),
    }
}

/// Writes a scalar at the beginning of `bytes`.
pub(crate) fn put(value: Value, bytes: &mut [u8]) {
    let to = &mut bytes[..value.scalar().size()];
    // SAFETY: there is room for the value.
    unsafe { put_value(to.as_mut_ptr(), value) }
}

/// Builds a value from its scalars, for a type with a layout in memory. `None` for an unknown tag.
///
/// # Safety
/// `info` describes `T`, including its layout in memory.
pub(crate) unsafe fn assembled<T: Copy>(
    info: &TypeInfo,
    scalars: &mut dyn Iterator<Item = Value>,
) -> Option<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: the scalars lie within `T`, by the caller's promise.
    unsafe {
        write(info, value.as_mut_ptr().cast(), scalars)?;
        // Each scalar has a value of its type, each tag is a variant's, and other bytes are zeros.
        Some(value.assume_init())
    }
}

/// Skips the scalars of a type.
pub(crate) fn skip(info: &TypeInfo, scalars: &mut dyn Iterator<Item = Value>) {
    match info {
        TypeInfo::Scalar(_) => {
            scalars.next();
        }
        TypeInfo::Array(elem, n) => (0..*n).for_each(|_| skip(elem, scalars)),
        TypeInfo::Struct(info) => skip_fields(info.fields, scalars),
        TypeInfo::Enum(info) => {
            scalars.next();
            let variants = info.variants.iter();
            variants.for_each(|variant| skip_fields(variant.fields, scalars));
        }
    }
}

fn skip_fields(fields: &[FieldInfo], scalars: &mut dyn Iterator<Item = Value>) {
    fields.iter().for_each(|field| skip(&field.ty, scalars));
}

/// # Safety
/// A value of the type may be written at `to`.
unsafe fn write(
    info: &TypeInfo,
    to: *mut u8,
    scalars: &mut dyn Iterator<Item = Value>,
) -> Option<()> {
    // SAFETY: the parts of a value lie within it.
    unsafe {
        match info {
            TypeInfo::Scalar(scalar) => {
                let value = scalars.next().filter(|value| value.scalar() == *scalar);
                put_value(to, value?);
            }
            TypeInfo::Array(elem, n) => {
                for i in 0..*n {
                    write(elem, to.add((i * elem.size()) as usize), scalars)?;
                }
            }
            TypeInfo::Struct(info) => write_fields(info.fields, to, scalars)?,
            TypeInfo::Enum(info) => {
                let tag = scalars.next().filter(|tag| tag.scalar() == info.tag())?;
                put_value(to, tag);
                let mut is_known = false;
                for variant in info.variants {
                    if tag == variant.tag {
                        is_known = true;
                        write_fields(variant.fields, to, scalars)?;
                    } else {
                        skip_fields(variant.fields, scalars);
                    }
                }
                return is_known.then_some(());
            }
        }
    }
    Some(())
}

/// # Safety
/// As for [`write`], with the type that has these fields.
unsafe fn write_fields(
    fields: &[FieldInfo],
    to: *mut u8,
    scalars: &mut dyn Iterator<Item = Value>,
) -> Option<()> {
    for field in fields {
        // SAFETY: the caller's promise.
        unsafe { write(&field.ty, to.add(field.offset as usize), scalars)? };
    }
    Some(())
}

/// # Safety
/// The value may be written at `to`.
unsafe fn put_value(to: *mut u8, value: Value) {
    unsafe fn put<T>(to: *mut u8, value: T) {
        // SAFETY: as above.
        unsafe { to.cast::<T>().write_unaligned(value) }
    }
    // SAFETY: the caller's promise.
    unsafe {
        match value {
            Value::Bool(v) => put(to, v),
            Value::I8(v) => put(to, v),
            Value::U8(v) => put(to, v),
            Value::I16(v) => put(to, v),
            Value::U16(v) | Value::F16(v) | Value::Bf16(v) => put(to, v),
            Value::I32(v) => put(to, v),
            Value::U32(v) | Value::F32(v) => put(to, v),
            Value::I64(v) => put(to, v),
            Value::U64(v) | Value::F64(v) => put(to, v),
            Value::Usize(v) => put(to, v as usize),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sarek_ir::{EnumInfo, VariantInfo};

    fn of<T: KernelType>(scalars: &[Value]) -> Option<T> {
        T::__of_scalars(&mut scalars.iter().copied())
    }

    #[test]
    fn values_come_back() {
        let (one, two) = (Value::I32(1), Value::F64(2f64.to_bits()));
        assert_eq!(
            of::<[(i32, f64); 2]>(&[one, two, one, two]),
            Some([(1, 2.0); 2])
        );
        let (none, some) = (Value::U32(0), Value::U32(1));
        assert_eq!(of::<Option<bool>>(&[none, Value::Bool(true)]), Some(None));
        assert_eq!(
            of::<Option<bool>>(&[some, Value::Bool(true)]),
            Some(Some(true))
        );
        type Both = (Result<u8, usize>, i64);
        let err = [some, Value::U8(7), Value::Usize(9), Value::I64(-3)];
        assert_eq!(of::<Both>(&err), Some((Err(9), -3)));
        let ok = [none, Value::U8(7), Value::Usize(9), Value::I64(-3)];
        assert_eq!(of::<Both>(&ok), Some((Ok(7), -3)));
    }

    /// Values consist of scalars of their own types, whatever scalars the caller passes.
    #[test]
    fn scalars_of_other_types_make_no_value() {
        assert_eq!(of::<u8>(&[Value::U64(u64::MAX)]), None);
        assert_eq!(of::<u64>(&[Value::U8(1)]), None);
        assert_eq!(of::<bool>(&[Value::U8(7)]), None);
        assert_eq!(of::<f32>(&[Value::U32(7)]), None);
        assert_eq!(of::<[u16; 2]>(&[Value::U16(1), Value::U32(1)]), None);
        assert_eq!(of::<(u32, bool)>(&[Value::U32(1), Value::U8(7)]), None);
        assert_eq!(of::<Option<bool>>(&[Value::U8(1), Value::Bool(true)]), None);
        assert_eq!(of::<Option<bool>>(&[Value::U32(1), Value::U8(7)]), None);
        assert_eq!(
            of::<Result<bool, u8>>(&[Value::U32(0), Value::U8(7), Value::U8(7)]),
            None
        );
        assert_eq!(of::<u32>(&[]), None);
    }

    /// A tag that a faulting thread has corrupted gives no value.
    #[test]
    fn tags_are_those_of_variants() {
        assert_eq!(of::<Option<u8>>(&[Value::U32(2), Value::U8(1)]), None);
        const INFO: TypeInfo = TypeInfo::Enum(&EnumInfo {
            name: "E",
            variants: &[
                VariantInfo {
                    name: "A",
                    tag: Value::U32(5),
                    fields: &[FieldInfo {
                        name: "0",
                        ty: TypeInfo::Scalar(Scalar::U16),
                        offset: 4,
                    }],
                },
                VariantInfo {
                    name: "B",
                    tag: Value::U32(6),
                    fields: &[FieldInfo {
                        name: "0",
                        ty: TypeInfo::Scalar(Scalar::U32),
                        offset: 4,
                    }],
                },
            ],
            size: 8,
        });
        let of = |tag| {
            let scalars = [Value::U32(tag), Value::U16(3), Value::U32(4)];
            // SAFETY: two words hold the enum, and any bits are valid words.
            unsafe { assembled::<[u32; 2]>(&INFO, &mut scalars.into_iter()) }
        };
        assert_eq!(of(6), Some([6, 4]));
        assert_eq!(of(5).map(|words| words[0]), Some(5));
        assert_eq!(of(0), None);
    }
}
