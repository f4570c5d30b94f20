//! Bytes that are values of a type.

use sarek_ir::{Scalar, TypeInfo};

use super::leaves::scalar;

/// Returns the problem of bytes that are no value of the type. Their number is that of the type.
pub(crate) fn check(info: &TypeInfo, bytes: &[u8]) -> Result<(), String> {
    match info {
        TypeInfo::Scalar(Scalar::Bool) => match bytes {
            [0 | 1] => Ok(()),
            _ => Err(format!("a `bool` is 0 or 1, not {bytes:?}")),
        },
        TypeInfo::Scalar(_) => Ok(()),
        TypeInfo::Array(elem, n) => {
            let size = elem.size() as usize;
            (0..*n as usize).try_for_each(|i| check(elem, &bytes[i * size..(i + 1) * size]))
        }
        TypeInfo::Struct(info) => info.fields.iter().try_for_each(|field| {
            let at = field.offset as usize;
            check(&field.ty, &bytes[at..at + field.ty.size() as usize])
        }),
        TypeInfo::Enum(info) => {
            let tag = scalar(bytes, info.tag());
            let variant = info.variants.iter().find(|variant| variant.tag == tag);
            let Some(variant) = variant else {
                let name = info.name;
                return Err(format!(
                    "`{name}` has no variant of the tag {}",
                    tag.bits() as i64
                ));
            };
            variant.fields.iter().try_for_each(|field| {
                let at = field.offset as usize;
                check(&field.ty, &bytes[at..at + field.ty.size() as usize])
            })
        }
    }
}
