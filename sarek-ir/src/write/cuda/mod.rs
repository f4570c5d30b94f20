//! Writes CUDA C++.
//!
//! Shared arrays that are arguments are in the launch's dynamic shared memory, in the order of their slots, each at a
//! multiple of [`crate::SHARED_ALIGNMENT`] bytes. The argument is a `u32`, the byte offset.

mod atomics;
mod subgroups;

use std::borrow::Cow;

use crate::TypeClass::UnsignedInt;
use crate::{AtomicOp, Axis, BinaryOp, Exactness, Intrinsic, Scalar, Scope};

use super::{
    Atomic, Dialect, Entry, RawId, Subgroup, Template, Text, Unsupported, c, expand, reserved,
};

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

    fn shared_prefix(&self, aligned: bool) -> &'static str {
        match aligned {
            true => "__shared__ __align__(16)",
            false => "__shared__",
        }
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
        let head = c::Head {
            before: &before,
            pointer: &|ty, mutable| {
                let qualifier = if mutable { "" } else { "const " };
                format!("{qualifier}{ty}* __restrict__")
            },
            given: &|name, ty| {
                let offset = format!("srk_at_{name}");
                (
                    format!("const unsigned int {offset}"),
                    format!("{ty}* const {name} = ({ty}*)(srk_shared + {offset});"),
                )
            },
        };
        c::signature(self, entry, &head)
    }

    /// A launch must opt in to use more.
    fn max_declared_shared(&self) -> u64 {
        48 << 10
    }

    /// Uses global memory, which is cached. If the threads of a warp read different elements of `__constant__` memory,
    /// the hardware serves them one after the other.
    fn declare_table(&self, name: &str, ty: Scalar, values: &[Text]) -> String {
        c::declare_table("static __device__ const", self.type_name(ty), name, values)
    }

    fn barrier(&self, _: bool) -> Result<&'static str, Unsupported> {
        Ok("__syncthreads();")
    }

    fn fence(&self, scope: Scope) -> Result<&'static str, Unsupported> {
        Ok(match scope {
            Scope::Block => "__threadfence_block();",
            Scope::Device => "__threadfence();",
        })
    }

    fn is_native(&self, op: AtomicOp, ty: Scalar) -> bool {
        let adds = matches!(op, AtomicOp::Add | AtomicOp::Sub);
        c::is_native_atomic(op, ty) || adds && ty.is_float()
    }

    fn atomic(&self, atomic: &Atomic<'_>) -> Result<String, Unsupported> {
        Ok(atomics::atomic(self, atomic))
    }

    fn subgroup_ids(&self, index: Scalar) -> Result<[Text; 2], Unsupported> {
        Ok(["warpSize", "srk_lane()"].map(|id| {
            let id = Text::primary(id);
            Text::prefix(&format!("({})", self.type_name(index)), &id)
        }))
    }

    fn subgroup(&self, subgroup: &Subgroup<'_>) -> Result<Text, Unsupported> {
        Ok(subgroups::subgroup(self, subgroup))
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

    /// CUDA's functions for the operators round to nearest and are never fused, whatever the compiler's options.
    fn strict_head(&self) -> Result<&'static str, Unsupported> {
        Ok("")
    }

    fn strict_binary(&self, op: BinaryOp, ty: Scalar, lhs: &Text, rhs: &Text) -> Text {
        let name = match op {
            BinaryOp::Add => "add",
            BinaryOp::Sub => "sub",
            BinaryOp::Mul => "mul",
            BinaryOp::Div => "div",
            BinaryOp::Rem
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => return self.binary(op, ty, lhs, rhs),
        };
        Text::call(&rounded(name, ty), &[lhs.clone(), rhs.clone()])
    }

    fn strict_function(&self, intrinsic: Intrinsic, ty: Scalar) -> Option<Cow<'static, str>> {
        match intrinsic.exactness() {
            Exactness::Rounded => Some(rounded(&c::function(intrinsic, ty)?, ty).into()),
            Exactness::Exact | Exactness::Zeros | Exactness::Composed | Exactness::Elementary => {
                self.function(intrinsic, ty)
            }
        }
    }

    fn wide_type(&self, ty: Scalar, count: usize) -> Option<&'static str> {
        Some(match (ty, count) {
            (Scalar::F32, 2) => "float2",
            (Scalar::F32, 4) => "float4",
            (Scalar::I32, 2) => "int2",
            (Scalar::I32, 4) => "int4",
            (Scalar::U32, 2) => "uint2",
            (Scalar::U32, 4) => "uint4",
            (Scalar::F64, 2) => "double2",
            (Scalar::I64, 2) => "longlong2",
            (Scalar::U64, 2) => "ulonglong2",
            (_, _) => return None,
        })
    }

    fn wide_element(
        &self,
        buffer: &str,
        wide: &str,
        writes: bool,
        index: &Text,
        _: Scalar,
    ) -> String {
        let qualifier = if writes { "" } else { "const " };
        format!("(({qualifier}{wide}*){buffer})[{}]", index.text)
    }

    fn wide_shared(&self) -> Option<&'static str> {
        Some("")
    }

    fn wide_value(&self, wide: &str, parts: &[Text]) -> Text {
        let parts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
        Text::primary(format!("{wide}{{ {} }}", parts.join(", ")))
    }

    fn snippet(&self, name: &str) -> Option<String> {
        let definition = match Scalar::from_name(name) {
            Some(Scalar::I8) => "signed char",
            Some(Scalar::U8) => "unsigned char",
            Some(Scalar::I16) => "short",
            Some(Scalar::U16 | Scalar::F16 | Scalar::Bf16) => "unsigned short",
            Some(Scalar::I32) => "int",
            Some(Scalar::U32) => "unsigned int",
            Some(Scalar::I64) => "long long",
            Some(Scalar::U64) => "unsigned long long",
            Some(Scalar::F32) => "float",
            Some(Scalar::F64) => "double",
            Some(Scalar::Bool | Scalar::Usize) => return None,
            None => {
                return expand(self, OWN, name)
                    .or_else(|| expand(self, subgroups::TEMPLATES, name))
                    .or_else(|| c::snippet(self, name));
            }
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
            "FLOAT" if types.first()?.bits() == 16 => "f16".into(),
            // 16-bit floats are held as their bits.
            "TOBITS" | "FROMBITS" if types.first()?.bits() == 16 => String::new(),
            "FLOAT" => "f32".into(),
            "TOBITS" if types.first()?.bits() == 64 => "__double_as_longlong".into(),
            "TOBITS" => "__float_as_uint".into(),
            "FROMBITS" if types.first()?.bits() == 64 => "__longlong_as_double".into(),
            "FROMBITS" => "__uint_as_float".into(),
            _ => return None,
        })
    }
}

/// CUDA's round-to-nearest function for the operation: `__fadd_rn`, `__dadd_rn`, `__fmaf_rn`, `__fma_rn`.
fn rounded(operation: &str, ty: Scalar) -> String {
    match (ty, operation) {
        (Scalar::F32, "fma") => "__fmaf_rn".into(),
        (_, "fma") => "__fma_rn".into(),
        (Scalar::F32, _) => format!("__f{operation}_rn"),
        (_, _) => format!("__d{operation}_rn"),
    }
}

const DYNAMIC: Template = Template {
    op: "shared",
    on: None,
    text: "extern __shared__ __align__(16) unsigned char srk_shared[];",
};

const fn on(op: &'static str, text: &'static str) -> Template {
    let on = Some(UnsignedInt);
    Template { op, on, text }
}

const fn plain(op: &'static str, text: &'static str) -> Template {
    Template { op, on: None, text }
}

/// Helpers that use CUDA's own functions.
const OWN: &[Template] = &[
    DYNAMIC,
    plain(
        "widen_f16",
        "$FN f32 $NAME(f16 bits) {
    f32 x;
    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(x) : \"h\"(bits));
    return x;
}",
    ),
    plain(
        "narrow_f16_f32",
        "$FN f16 $NAME(f32 x) {
    f16 bits;
    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(bits) : \"f\"(x));
    return bits;
}",
    ),
    plain(
        "narrow_f16_f64",
        "$FN f16 $NAME(f64 x) { return srk_narrow_f16_f32((f32)x); }",
    ),
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
