//! Printing of compound values, which are rebuilt from their scalars on the host.

use std::fmt;
use std::mem::MaybeUninit;

use sarek_ir::{FieldInfo, Scalar, TypeInfo, Value};

use crate::KernelType;

/// Returns the next printed value, built from its scalars; `of` determines the type and is never
/// called.
///
/// Values that are too long do not compile, if expansions can name their type:
///
/// ```compile_fail,E0080
/// sarek_runtime::host::printed(&mut std::iter::empty(), || [0u32; 1025]);
/// ```
///
/// ```
/// assert_eq!(sarek_runtime::host::printed(&mut std::iter::empty(), || [0u32; 1024]), None);
/// ```
pub fn printed<T: KernelType>(
    scalars: &mut impl Iterator<Item = Value>,
    _of: impl FnOnce() -> T,
) -> Option<T> {
    const {
        assert!(
            T::TYPE.scalars() <= sarek_ir::print::MAX_SCALARS,
            "SRK0902: a printed value has more scalars than are printed at once; instead: print its parts"
        );
    }
    T::__of_scalars(scalars)
}

/// A printed value in the code of the expansion: `(&Told(&value)).__debug()` is the value if its
/// type implements the trait. Otherwise it is a placeholder that does, and rustc reports the
/// missing trait for the user's function alone.
#[derive(Clone, Copy)]
pub struct Told<'a, T>(pub &'a T);

macro_rules! told {
    ($($trait:ident $method:ident $can:ident $cannot:ident)*) => {$(
        #[doc(hidden)]
        pub trait $can<'a> {
            fn $method(&self) -> &'a (dyn fmt::$trait + 'a);
        }

        impl<'a, T: fmt::$trait> $can<'a> for Told<'a, T> {
            #[inline(always)]
            fn $method(&self) -> &'a (dyn fmt::$trait + 'a) {
                self.0
            }
        }

        // Method lookup finds this second, because it takes one more reference.
        #[doc(hidden)]
        pub trait $cannot {
            fn $method(&self) -> &'static str;
        }

        impl<T> $cannot for &Told<'_, T> {
            fn $method(&self) -> &'static str {
                unreachable!("the user's function does not compile")
            }
        }
    )*};
}

told!(Debug __debug Debugs NoDebug Display __display Displays NoDisplay);

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
                let tag = scalars.next().filter(|tag| tag.scalar() == Scalar::U32)?;
                put_value(to, tag);
                let mut is_known = false;
                for variant in info.variants {
                    if tag == Value::U32(variant.tag) {
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
        assert_eq!(printed(&mut [Value::U8(7)].into_iter(), || true), None);
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
                    tag: 5,
                    fields: &[FieldInfo {
                        name: "0",
                        ty: TypeInfo::Scalar(Scalar::U16),
                        offset: 4,
                    }],
                },
                VariantInfo {
                    name: "B",
                    tag: 6,
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
