//! Describes Rust types as the user's crate reports them, to fill in [`TypeDef::Link`](crate::TypeDef::Link).

use crate::{Scalar, Value};

/// A Rust type with its layout as rustc computed it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TypeInfo {
    /// A scalar.
    Scalar(Scalar),
    /// An array.
    Array(&'static TypeInfo, u64),
    /// A struct, or a tuple, whose fields are named `0`, `1`, ….
    Struct(&'static StructInfo),
    /// An enum.
    Enum(&'static EnumInfo),
}

/// A struct with its layout.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StructInfo {
    /// Its name, for messages.
    pub name: &'static str,
    /// The fields, in order of declaration.
    pub fields: &'static [FieldInfo],
    /// The stride in bytes of a slice of it; 0 if the type cannot be stored in memory.
    pub size: u64,
    /// The alignment in bytes; meaningless if the type cannot be stored in memory.
    pub align: u64,
}

/// A field of a struct or of a variant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FieldInfo {
    /// The name, or the number of a tuple field.
    pub name: &'static str,
    /// Its type.
    pub ty: TypeInfo,
    /// The offset in bytes from the beginning of the struct or enum.
    pub offset: u64,
}

/// An enum with its layout: a tag at the beginning, as for `#[repr(C, u32)]`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EnumInfo {
    /// Its name, for messages.
    pub name: &'static str,
    /// The variants, in order of declaration.
    pub variants: &'static [VariantInfo],
    /// The stride in bytes of a slice of it; 0 if the type cannot be stored in memory.
    pub size: u64,
}

/// A variant of an enum.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct VariantInfo {
    /// Its name.
    pub name: &'static str,
    /// Its tag: its discriminant, an integer of the type that `#[repr(…)]` names.
    pub tag: Value,
    /// Its fields.
    pub fields: &'static [FieldInfo],
}

impl EnumInfo {
    /// The type of its tags.
    pub const fn tag(&self) -> Scalar {
        match self.variants {
            [first, ..] => first.tag.scalar(),
            [] => Scalar::U32,
        }
    }
}

impl TypeInfo {
    /// The stride in bytes of a slice of it; 0 if the type cannot be stored in memory.
    pub const fn size(&self) -> u64 {
        match self {
            TypeInfo::Scalar(scalar) => scalar.size() as u64,
            TypeInfo::Array(elem, len) => elem.size() * *len,
            TypeInfo::Struct(info) => info.size,
            TypeInfo::Enum(info) => info.size,
        }
    }

    /// The number of its scalars. An enum counts its tag and the scalars of all its variants.
    pub const fn scalars(&self) -> u64 {
        match self {
            TypeInfo::Scalar(_) => 1,
            TypeInfo::Array(elem, len) => elem.scalars() * *len,
            TypeInfo::Struct(info) => scalars_of_fields(info.fields),
            TypeInfo::Enum(info) => {
                let mut scalars = 1;
                let mut i = 0;
                while i < info.variants.len() {
                    scalars += scalars_of_fields(info.variants[i].fields);
                    i += 1;
                }
                scalars
            }
        }
    }

    /// True if any bit pattern is a valid value. False for `usize`, whose size differs between targets.
    pub const fn takes_any_bits(&self) -> bool {
        match self {
            TypeInfo::Scalar(Scalar::Bool | Scalar::Usize) => false,
            TypeInfo::Scalar(_) => true,
            TypeInfo::Array(elem, _) => elem.takes_any_bits(),
            TypeInfo::Struct(info) => {
                let mut i = 0;
                while i < info.fields.len() {
                    if !info.fields[i].ty.takes_any_bits() {
                        return false;
                    }
                    i += 1;
                }
                true
            }
            TypeInfo::Enum(_) => false,
        }
    }

    /// The size in bytes of its smallest scalar of at least `least` bytes; 0 if there is none. An enum's tag counts.
    pub const fn smallest_scalar(&self, least: u64) -> u64 {
        match self {
            TypeInfo::Scalar(scalar) => {
                let size = scalar.size() as u64;
                if size < least { 0 } else { size }
            }
            TypeInfo::Array(elem, _) => elem.smallest_scalar(least),
            TypeInfo::Struct(info) => smallest_of_fields(info.fields, least, 0),
            TypeInfo::Enum(info) => {
                let tag = info.tag().size() as u64;
                let mut found = if tag < least { 0 } else { tag };
                let mut i = 0;
                while i < info.variants.len() {
                    found = smallest_of_fields(info.variants[i].fields, least, found);
                    i += 1;
                }
                found
            }
        }
    }

    /// The total size in bytes of its scalars, without padding. An enum counts its tag and all its variants.
    pub const fn scalar_bytes(&self) -> u64 {
        match self {
            TypeInfo::Scalar(scalar) => scalar.size() as u64,
            TypeInfo::Array(elem, len) => elem.scalar_bytes() * *len,
            TypeInfo::Struct(info) => bytes_of_fields(info.fields),
            TypeInfo::Enum(info) => {
                let mut bytes = info.tag().size() as u64;
                let mut i = 0;
                while i < info.variants.len() {
                    bytes += bytes_of_fields(info.variants[i].fields);
                    i += 1;
                }
                bytes
            }
        }
    }
}

const fn smallest_of_fields(fields: &[FieldInfo], least: u64, mut found: u64) -> u64 {
    let mut i = 0;
    while i < fields.len() {
        let size = fields[i].ty.smallest_scalar(least);
        if size != 0 && (found == 0 || size < found) {
            found = size;
        }
        i += 1;
    }
    found
}

const fn scalars_of_fields(fields: &[FieldInfo]) -> u64 {
    let mut scalars = 0;
    let mut i = 0;
    while i < fields.len() {
        scalars += fields[i].ty.scalars();
        i += 1;
    }
    scalars
}

const fn bytes_of_fields(fields: &[FieldInfo]) -> u64 {
    let mut bytes = 0;
    let mut i = 0;
    while i < fields.len() {
        bytes += fields[i].ty.scalar_bytes();
        i += 1;
    }
    bytes
}
