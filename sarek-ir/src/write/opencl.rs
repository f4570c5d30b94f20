use std::borrow::Cow;

use crate::TypeClass::UnsignedInt;
use crate::{Axis, Intrinsic, Scalar};

use super::{Dialect, Entry, RawId, Template, Text, Unsupported, c, expand, reserved};

/// OpenCL C 1.2.
#[derive(Clone, Copy, Debug)]
pub struct OpenCl;

impl Dialect for OpenCl {
    fn name(&self) -> &'static str {
        "opencl"
    }

    fn reserved(&self) -> &'static [&'static [&'static str]] {
        &[
            reserved::TYPES,
            reserved::C,
            reserved::MATH,
            reserved::OPENCL,
        ]
    }

    fn entry(&self, entry: &Entry<'_>) -> Result<String, Unsupported> {
        let size = entry
            .block
            .map(|[x, y, z]| format!(" __attribute__((reqd_work_group_size({x}, {y}, {z})))"));
        let before = format!("__kernel{} void", size.as_deref().unwrap_or_default());
        c::signature(
            self,
            &before,
            entry.name,
            entry.arguments,
            &|ty, mutable| {
                let qualifier = if mutable { "" } else { "const " };
                format!("__global {qualifier}{ty}* restrict")
            },
        )
    }

    fn raw_id(&self, id: RawId, axis: Axis, index: Scalar) -> Text {
        let id = match id {
            RawId::ThreadIdx => "get_local_id",
            RawId::BlockIdx => "get_group_id",
            RawId::BlockDim => "get_local_size",
            RawId::GridDim => "get_num_groups",
        };
        // A `size_t`: 32 bits wide on some devices.
        let id = Text::primary(format!("{id}({})", axis.index()));
        Text::prefix(&format!("({})", self.type_name(index)), &id)
    }

    fn long_suffix(&self) -> &'static str {
        "l"
    }

    fn function(&self, intrinsic: Intrinsic, ty: Scalar) -> Option<Cow<'static, str>> {
        c::function(intrinsic, ty)
    }

    fn snippet(&self, name: &str) -> Option<String> {
        let definition = match Scalar::from_name(name) {
            Some(Scalar::I8) => "char",
            Some(Scalar::U8) => "uchar",
            Some(Scalar::I16) => "short",
            Some(Scalar::U16) => "ushort",
            Some(Scalar::I32) => "int",
            Some(Scalar::U32) => "uint",
            Some(Scalar::I64) => "long",
            Some(Scalar::U64) => "ulong",
            Some(Scalar::F32) => "float",
            Some(Scalar::F64) => "double",
            Some(Scalar::Bool | Scalar::Usize) => return None,
            None => return expand(self, OWN, name).or_else(|| c::snippet(self, name)),
        };
        let typedef = format!("typedef {definition} {name};");
        Some(match definition {
            "double" => format!("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n{typedef}"),
            _ => typedef,
        })
    }

    fn variable(&self, name: &str, types: &[Scalar]) -> Option<String> {
        Some(match name {
            "FN" => "static inline".into(),
            "FAULTS" => "__global u32*".into(),
            "EXCHANGE" => "atomic_xchg".into(),
            "F" => String::new(),
            "FLOAT" if types.first()?.bits() == 64 => "f64".into(),
            "FLOAT" => "f32".into(),
            "TOBITS" if types.first()?.bits() == 64 => "as_ulong".into(),
            "TOBITS" => "as_uint".into(),
            "FROMBITS" if types.first()?.bits() == 64 => "as_double".into(),
            "FROMBITS" => "as_float".into(),
            _ => return None,
        })
    }
}

const fn on(op: &'static str, text: &'static str) -> Template {
    let on = Some(UnsignedInt);
    Template { op, on, text }
}

/// Helpers for what OpenCL C has functions for, or 1.2 has not.
const OWN: &[Template] = &[
    on(
        "count_ones",
        "$FN u32 $NAME($T x) { return (u32)popcount(x); }",
    ),
    on(
        "leading_zeros",
        "$FN u32 $NAME($T x) { return x == 0 ? $BITS : (u32)clz(x); }",
    ),
    on(
        "trailing_zeros",
        "$FN u32 $NAME($T x) { return (u32)popcount(~x & (x - 1)); }",
    ),
    on(
        "reverse_bits",
        "$FN $T $NAME($T x) {
    $T reversed = 0;
    for (u32 i = 0; i < $BITS; i++) { reversed = reversed << 1 | (x >> i & 1u); }
    return reversed;
}",
    ),
];
