//! Rust types as the user's crate describes them: what [`TypeDef::Link`](crate::TypeDef::Link) stands for.

use crate::Scalar;

/// A Rust type with the layout that rustc gave it.
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
    /// Bytes from one to the next in a slice; 0 if the type does not stand in memory.
    pub size: u64,
    /// Bytes that its address is a multiple of; of no account if the type does not stand in memory.
    pub align: u64,
}

/// A field of a struct or of a variant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FieldInfo {
    /// Its name; of a tuple field its number.
    pub name: &'static str,
    /// Its type.
    pub ty: TypeInfo,
    /// Bytes from the beginning of the struct or enum.
    pub offset: u64,
}

/// An enum with its layout: a `u32` tag at its beginning, as `#[repr(C, u32)]` has it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EnumInfo {
    /// Its name, for messages.
    pub name: &'static str,
    /// The variants, in order of declaration.
    pub variants: &'static [VariantInfo],
    /// Bytes from one to the next in a slice; 0 if the type does not stand in memory.
    pub size: u64,
}

/// A variant of an enum.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct VariantInfo {
    /// Its name.
    pub name: &'static str,
    /// Its tag.
    pub tag: u32,
    /// Its fields.
    pub fields: &'static [FieldInfo],
}

impl TypeInfo {
    /// Bytes from one to the next in a slice; 0 if the type does not stand in memory.
    pub const fn size(&self) -> u64 {
        match self {
            TypeInfo::Scalar(scalar) => scalar.size() as u64,
            TypeInfo::Array(elem, len) => elem.size() * *len,
            TypeInfo::Struct(info) => info.size,
            TypeInfo::Enum(info) => info.size,
        }
    }

    /// How many scalars it consists of. Of an enum, the tag and those of all its variants.
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

    /// Are any bits a value of it? A `usize`, which is not the same everywhere, counts as if they were not.
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

    /// Bytes of its smallest scalar of at least so many; 0 if it has none. An enum's tag counts.
    pub const fn smallest_scalar(&self, least: u64) -> u64 {
        match self {
            TypeInfo::Scalar(scalar) => {
                let size = scalar.size() as u64;
                if size < least { 0 } else { size }
            }
            TypeInfo::Array(elem, _) => elem.smallest_scalar(least),
            TypeInfo::Struct(info) => smallest_of_fields(info.fields, least, 0),
            TypeInfo::Enum(info) => {
                let mut found = Scalar::U32.size() as u64;
                let mut i = 0;
                while i < info.variants.len() {
                    found = smallest_of_fields(info.variants[i].fields, least, found);
                    i += 1;
                }
                found
            }
        }
    }

    /// Bytes of its scalars, without what lies between them. Of an enum, those of all its variants.
    pub const fn scalar_bytes(&self) -> u64 {
        match self {
            TypeInfo::Scalar(scalar) => scalar.size() as u64,
            TypeInfo::Array(elem, len) => elem.scalar_bytes() * *len,
            TypeInfo::Struct(info) => bytes_of_fields(info.fields),
            TypeInfo::Enum(info) => {
                let mut bytes = 4;
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
