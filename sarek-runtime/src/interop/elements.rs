//! Descriptions of other crates' structs as types of kernels.

/// Implements `KernelType`, `Element` and `Plain` for structs of numbers without padding:
/// `Type as "name" { field: FieldType, … }`. The fields lie one after another in this order.
macro_rules! elements {
    ($($([$param:ident])? $ty:path as $name:literal { $($field:ident: $of:ty),+ })*) => {$(
        // SAFETY: the type has these fields, one after another: the constant below compares sizes.
        unsafe impl$(<$param: $crate::KernelType>)? $crate::KernelType for $ty {
            const TYPE: sarek_ir::TypeInfo = sarek_ir::TypeInfo::Struct(
                const {
                    &sarek_ir::StructInfo {
                        name: $name,
                        fields: const {
                            &$crate::interop::elements::consecutive(
                                [$((stringify!($field), <$of as $crate::KernelType>::TYPE)),+],
                                size_of::<$ty>(),
                            )
                        },
                        size: size_of::<$ty>() as u64,
                        align: align_of::<$ty>() as u64,
                    }
                },
            );
        }

        // SAFETY: numbers without padding.
        unsafe impl$(<$param: $crate::Element>)? $crate::Element for $ty {}

        // SAFETY: as above; it has any bits of its fields.
        unsafe impl$(<$param: $crate::host::Plain>)? $crate::host::Plain for $ty {
            const ANY: bool = true $(&& <$param as $crate::host::Plain>::ANY)?;
        }
    )*};
}

pub(crate) use elements;

use sarek_ir::{FieldInfo, TypeInfo};

/// Fields at consecutive offsets, of types that have no padding. Fails to compile unless they fill
/// the struct.
pub(crate) const fn consecutive<const N: usize>(
    fields: [(&'static str, TypeInfo); N],
    size: usize,
) -> [FieldInfo; N] {
    let first = FieldInfo {
        name: "",
        ty: fields[0].1,
        offset: 0,
    };
    let mut all = [first; N];
    let (mut i, mut at) = (0, 0);
    while i < N {
        let (name, ty) = fields[i];
        all[i] = FieldInfo {
            name,
            ty,
            offset: at,
        };
        at += ty.size();
        i += 1;
    }
    assert!(at == size as u64, "the fields do not fill the struct");
    all
}
