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
}
