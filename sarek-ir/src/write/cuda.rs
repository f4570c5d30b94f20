use std::borrow::Cow;

use crate::TypeClass::UnsignedInt;
use crate::{Axis, Intrinsic, Scalar};

use super::{Dialect, Entry, RawId, Template, Text, Unsupported, c, expand, reserved};

/// CUDA C++ for NVRTC, without headers.
#[derive(Clone, Copy, Debug)]
pub struct Cuda;

impl Dialect for Cuda {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn reserved(&self) -> &'static [&'static [&'static str]] {
        &[
            reserved::TYPES,
            reserved::C,
            reserved::CPP,
            reserved::MATH,
            reserved::CUDA,
        ]
    }

    fn entry(&self, entry: &Entry<'_>) -> Result<String, Unsupported> {
        let bounds = entry.block.map(|[x, y, z]| {
            let threads = u64::from(x) * u64::from(y) * u64::from(z);
            format!(" __launch_bounds__({threads})")
        });
        let before = format!(
            "extern \"C\" __global__ void{}",
            bounds.as_deref().unwrap_or_default()
        );
        c::signature(
            self,
            &before,
            entry.name,
            entry.arguments,
            &|ty, mutable| {
                let qualifier = if mutable { "" } else { "const " };
                format!("{qualifier}{ty}* __restrict__")
            },
        )
    }

    fn raw_id(&self, id: RawId, axis: Axis, index: Scalar) -> Text {
        let id = match id {
            RawId::ThreadIdx => "threadIdx",
            RawId::BlockIdx => "blockIdx",
            RawId::BlockDim => "blockDim",
            RawId::GridDim => "gridDim",
        };
        let id = Text::primary(format!("{id}.{}", axis.name()));
        if index == Scalar::U32 {
            id
        } else {
            self.cast(&id, Scalar::U32, index)
        }
    }

    fn function(&self, intrinsic: Intrinsic, ty: Scalar) -> Option<Cow<'static, str>> {
        let name = c::function(intrinsic, ty)?;
        Some(if ty == Scalar::F32 && !name.starts_with("srk_") {
            format!("{name}f").into()
        } else {
            name
        })
    }

    fn snippet(&self, name: &str) -> Option<String> {
        let definition = match Scalar::from_name(name) {
            Some(Scalar::I8) => "signed char",
            Some(Scalar::U8) => "unsigned char",
            Some(Scalar::I16) => "short",
            Some(Scalar::U16) => "unsigned short",
            Some(Scalar::I32) => "int",
            Some(Scalar::U32) => "unsigned int",
            Some(Scalar::I64) => "long long",
            Some(Scalar::U64) => "unsigned long long",
            Some(Scalar::F32) => "float",
            Some(Scalar::F64) => "double",
            Some(Scalar::Bool | Scalar::Usize) => return None,
            None => return expand(self, OWN, name).or_else(|| c::snippet(self, name)),
        };
        Some(format!("typedef {definition} {name};"))
    }

    fn variable(&self, name: &str, types: &[Scalar]) -> Option<String> {
        Some(match name {
            "FN" => "static __device__ __forceinline__".into(),
            "FAULTS" => "u32*".into(),
            "EXCHANGE" => "atomicExch".into(),
            "F" if types.first() == Some(&Scalar::F32) => "f".into(),
            "F" => String::new(),
            // The suffix of the integer functions.
            "L" if types.first()?.bits() == 64 => "ll".into(),
            "L" => String::new(),
            "FLOAT" if types.first()?.bits() == 64 => "f64".into(),
            "FLOAT" => "f32".into(),
            "TOBITS" if types.first()?.bits() == 64 => "__double_as_longlong".into(),
            "TOBITS" => "__float_as_uint".into(),
            "FROMBITS" if types.first()?.bits() == 64 => "__longlong_as_double".into(),
            "FROMBITS" => "__uint_as_float".into(),
            _ => return None,
        })
    }
}

const fn on(op: &'static str, text: &'static str) -> Template {
    let on = Some(UnsignedInt);
    Template { op, on, text }
}

/// Helpers for what CUDA has functions for.
const OWN: &[Template] = &[
    on(
        "count_ones",
        "$FN u32 $NAME($T x) { return (u32)__popc$L(x); }",
    ),
    on(
        "leading_zeros",
        "$FN u32 $NAME($T x) { return (u32)__clz$L(x); }",
    ),
    on(
        "trailing_zeros",
        "$FN u32 $NAME($T x) { return (u32)__clz$L(__brev$L(x)); }",
    ),
    on("reverse_bits", "$FN $T $NAME($T x) { return __brev$L(x); }"),
];
