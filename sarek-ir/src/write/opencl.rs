use std::borrow::Cow;

use crate::TypeClass::UnsignedInt;
use crate::{AtomicOp, Axis, Intrinsic, Scalar, Scope};

use super::c::{ByBits, assigned};
use super::{Atomic, Dialect, Entry, RawId, Template, Text, Unsupported, c, expand, reserved};

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

    fn shared_prefix(&self, aligned: bool) -> &'static str {
        match aligned {
            true => "__local __attribute__((aligned(16)))",
            false => "__local",
        }
    }

    fn entry(&self, entry: &Entry<'_>) -> Result<String, Unsupported> {
        let size = entry
            .block
            .map(|[x, y, z]| format!(" __attribute__((reqd_work_group_size({x}, {y}, {z})))"));
        let before = format!("__kernel{} void", size.as_deref().unwrap_or_default());
        let head = c::Head {
            before: &before,
            pointer: &|ty, mutable| {
                let qualifier = if mutable { "" } else { "const " };
                format!("__global {qualifier}{ty}* restrict")
            },
            given: &|name, ty| {
                let before = entry.shared_prefix[0];
                (format!("{before} {ty}* {name}"), String::new())
            },
        };
        c::signature(self, entry, &head)
    }

    /// Floats are accessed by their bits: OpenCL C 1.2 has atomic arithmetic on integers only.
    fn atomic_type(&self, ty: Scalar) -> Result<&'static str, Unsupported> {
        Ok(self.type_name(bits_of(ty)))
    }

    fn declare_table(&self, name: &str, ty: Scalar, values: &[Text]) -> String {
        c::declare_table("__constant", self.type_name(ty), name, values)
    }

    fn barrier(&self, buffers: bool) -> Result<&'static str, Unsupported> {
        Ok(match buffers {
            true => "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
            false => "barrier(CLK_LOCAL_MEM_FENCE);",
        })
    }

    /// A macro that makes predicates opaque to PoCL's compiler, which would otherwise turn them back into branches.
    fn predicate(&self) -> Option<&'static str> {
        Some("srk_opaque")
    }

    /// OpenCL C 1.2 guarantees this order within the block only. A device with coherent caches keeps it for all
    /// threads.
    fn fence(&self, scope: Scope) -> Result<&'static str, Unsupported> {
        Ok(match scope {
            Scope::Block | Scope::Device => {
                "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"
            }
        })
    }

    fn atomic(&self, atomic: &Atomic<'_>) -> Result<String, Unsupported> {
        Ok(atomic_text(self, atomic))
    }

    fn raw_id(&self, id: RawId, axis: Axis, index: Scalar) -> Text {
        let id = match id {
            RawId::ThreadIdx => "get_local_id",
            RawId::BlockIdx => "get_group_id",
            RawId::BlockDim => "get_local_size",
            RawId::GridDim => "get_num_groups",
        };
        // The function returns a `size_t`, which has 32 bits on some devices.
        let id = Text::primary(format!("{id}({})", axis.index()));
        Text::prefix(&format!("({})", self.type_name(index)), &id)
    }

    fn long_suffix(&self) -> &'static str {
        "l"
    }

    fn function(&self, intrinsic: Intrinsic, ty: Scalar) -> Option<Cow<'static, str>> {
        c::function(intrinsic, ty)
    }

    /// A compiler option makes division and square root correctly rounded, on devices that report support for it.
    fn strict_head(&self) -> Result<&'static str, Unsupported> {
        Ok("#pragma OPENCL FP_CONTRACT OFF")
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
            (Scalar::I64, 2) => "long2",
            (Scalar::U64, 2) => "ulong2",
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
        format!("((__global {qualifier}{wide}*){buffer})[{}]", index.text)
    }

    fn wide_shared(&self) -> Option<&'static str> {
        Some("__local ")
    }

    fn wide_value(&self, wide: &str, parts: &[Text]) -> Text {
        Text::call(&format!("({wide})"), parts)
    }

    fn snippet(&self, name: &str) -> Option<String> {
        let definition = match Scalar::from_name(name) {
            Some(Scalar::I8) => "char",
            Some(Scalar::U8) => "uchar",
            Some(Scalar::I16) => "short",
            Some(Scalar::U16 | Scalar::F16 | Scalar::Bf16) => "ushort",
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
            "FLOAT" if types.first()?.bits() == 16 => "f16".into(),
            // 16-bit floats are held as their bits.
            "TOBITS" | "FROMBITS" if types.first()?.bits() == 16 => String::new(),
            "FLOAT" => "f32".into(),
            "TOBITS" if types.first()?.bits() == 64 => "as_ulong".into(),
            "TOBITS" => "as_uint".into(),
            "FROMBITS" if types.first()?.bits() == 64 => "as_double".into(),
            "FROMBITS" => "as_float".into(),
            _ => return None,
        })
    }
}

/// The unsigned integer of a float's width; other types unchanged.
fn bits_of(ty: Scalar) -> Scalar {
    match ty {
        Scalar::F32 => Scalar::U32,
        Scalar::F64 => Scalar::U64,
        Scalar::Bool
        | Scalar::I8
        | Scalar::U8
        | Scalar::I16
        | Scalar::U16
        | Scalar::I32
        | Scalar::U32
        | Scalar::I64
        | Scalar::U64
        | Scalar::Usize
        | Scalar::F16
        | Scalar::Bf16 => ty,
    }
}

/// Writes a native atomic operation. The 64-bit functions belong to extensions and are called `atom_…`.
fn atomic_text(d: &OpenCl, atomic: &Atomic<'_>) -> String {
    let Atomic { op, ty, place, .. } = *atomic;
    let carrier = bits_of(ty);
    let bits = ByBits {
        dialect: d,
        ty,
        carrier,
    };
    let space = if atomic.shared { "__local" } else { "__global" };
    let volatile = format!("*(volatile {space} {carrier}*)&{place}");
    let function = match op {
        AtomicOp::Load => {
            let load = Text::primary(volatile);
            return assigned(atomic.result, &bits.back(&load), &load);
        }
        AtomicOp::Store => return format!("{volatile} = {};", bits.carried(&atomic.args[0]).text),
        AtomicOp::Add => "add",
        AtomicOp::Sub => "sub",
        AtomicOp::Min => "min",
        AtomicOp::Max => "max",
        AtomicOp::And => "and",
        AtomicOp::Or => "or",
        AtomicOp::Xor => "xor",
        AtomicOp::Swap => "xchg",
        AtomicOp::CompareExchange => "cmpxchg",
    };
    let mut args = vec![Text::primary(format!("&{place}"))];
    args.extend(atomic.args.iter().map(|arg| bits.carried(arg)));
    let call = match carrier.size() {
        8 => format!("srk_atom({function})"),
        _ => format!("atomic_{function}"),
    };
    let call = Text::call(&call, &args);
    assigned(atomic.result, &bits.back(&call), &call)
}

const fn on(op: &'static str, text: &'static str) -> Template {
    let on = Some(UnsignedInt);
    Template { op, on, text }
}

/// Helpers that use OpenCL C's own functions, or replace those that version 1.2 lacks.
const OWN: &[Template] = &[
    Template {
        op: "opaque",
        on: None,
        text: "#ifndef $NAME\n#define $NAME\n#endif",
    },
    // Every device can read and write `half` in memory, and bytes may alias memory of any type.
    Template {
        op: "widen_f16",
        on: None,
        text: "$FN f32 $NAME(f16 bits) {
    uchar2 bytes = as_uchar2(bits);
    return vload_half(0, (const __private half*)&bytes);
}",
    },
    Template {
        op: "narrow_f16_f32",
        on: None,
        text: "$FN f16 $NAME(f32 x) {
    uchar2 bytes;
    vstore_half_rte(x, 0, (__private half*)&bytes);
    return as_ushort(bytes);
}",
    },
    Template {
        op: "narrow_f16_f64",
        on: None,
        text: "$FN f16 $NAME(f64 x) { return srk_narrow_f16_f32((f32)x); }",
    },
    Template {
        op: "atom",
        on: None,
        text: "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define srk_atom(function) atom_##function",
    },
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
