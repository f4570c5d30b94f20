//! Writes atomic and subgroup operations.

use super::Wgsl;
use crate::TypeClass::{Float, Number, UnsignedInt};
use crate::write::c::{ByBits, assigned};
use crate::write::{Atomic, Dialect, Precedence, Subgroup, Template, Text, Unsupported};
use crate::{AtomicOp, Scalar, SubgroupOp, TypeClass};

/// The entry point's parameters for the subgroup size and the lane.
pub(super) const IDS: [&str; 2] = ["subgroup_size", "subgroup_lane"];

pub(super) fn atomic_type(ty: Scalar) -> Result<&'static str, Unsupported> {
    match ty {
        Scalar::I32 => Ok("atomic<i32>"),
        Scalar::U32 | Scalar::F32 => Ok("atomic<u32>"),
        Scalar::I64 => Ok("atomic<i64>"),
        Scalar::U64 | Scalar::F64 => Ok("atomic<u64>"),
        Scalar::Bool
        | Scalar::I8
        | Scalar::U8
        | Scalar::I16
        | Scalar::U16
        | Scalar::F16
        | Scalar::Bf16
        | Scalar::Usize => Err(Unsupported::new("wgsl", format!("atomic {ty}"))),
    }
}

pub(super) fn atomic(d: &Wgsl, atomic: &Atomic<'_>) -> String {
    let Atomic { op, ty, place, .. } = *atomic;
    let carrier = match ty {
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
        | Scalar::F16
        | Scalar::Bf16
        | Scalar::Usize => ty,
    };
    let bits = ByBits {
        dialect: d,
        ty,
        carrier,
    };
    let mut args = vec![Text::primary(format!("&{place}"))];
    args.extend(atomic.args.iter().map(|arg| bits.carried(arg)));
    let function = match op {
        AtomicOp::Load => "atomicLoad",
        AtomicOp::Store => "atomicStore",
        AtomicOp::Add => "atomicAdd",
        AtomicOp::Sub => "atomicSub",
        AtomicOp::Min => "atomicMin",
        AtomicOp::Max => "atomicMax",
        AtomicOp::And => "atomicAnd",
        AtomicOp::Or => "atomicOr",
        AtomicOp::Xor => "atomicXor",
        AtomicOp::Swap => "atomicExchange",
        AtomicOp::CompareExchange => return exchange(&bits, &args, atomic.result),
    };
    let call = Text::call(function, &args);
    assigned(atomic.result, &bits.back(&call), &call)
}

/// WGSL has only the weak compare-exchange, which may fail spuriously. The text then retries.
fn exchange(bits: &ByBits<'_, Wgsl>, args: &[Text], result: Option<&str>) -> String {
    let call = Text::call("atomicCompareExchangeWeak", args);
    let found = bits.back(&Text::primary("srk_found.old_value"));
    let assign = result.map(|result| format!("{result} = {}; ", found.text));
    let unlike = Text::infix(
        Precedence::Compare,
        "!=",
        &Text::primary("srk_found.old_value"),
        &args[1],
    );
    format!(
        "loop {{\n    let srk_found = {};\n    if (srk_found.exchanged || {}) {{ {}break; }}\n}}",
        call.text,
        unlike.text,
        assign.unwrap_or_default()
    )
}

pub(super) fn subgroup(d: &Wgsl, asked: &Subgroup<'_>) -> Text {
    let Subgroup {
        op,
        ty,
        together: _,
        args,
        index,
    } = *asked;
    let name = op.name();
    if op.takes_lane() {
        if ty.is_bool() {
            let word = subgroup(
                d,
                &Subgroup {
                    ty: Scalar::U32,
                    args: &[d.cast(&args[0], ty, Scalar::U32), args[1].clone()],
                    ..*asked
                },
            );
            return Text::infix(Precedence::Compare, "!=", &word, &Text::literal("0u"));
        }
        let name = match op {
            SubgroupOp::Broadcast => SubgroupOp::Shuffle.name(),
            _ => name,
        };
        let lane = match index {
            Scalar::U32 => args[1].clone(),
            _ => Text::call(&format!("srk_lane_{index}"), &args[1..]),
        };
        let args = [args[0].clone(), lane, Text::primary(IDS[1])];
        return Text::call(&format!("srk_{name}_{ty}"), &args);
    }
    let function = match op {
        SubgroupOp::All => "subgroupAll",
        SubgroupOp::Any => "subgroupAny",
        SubgroupOp::Sum => "subgroupAdd",
        SubgroupOp::Product => "subgroupMul",
        SubgroupOp::InclusiveSum => "subgroupInclusiveAdd",
        SubgroupOp::ExclusiveSum => "subgroupExclusiveAdd",
        SubgroupOp::Min if ty.is_int() => "subgroupMin",
        SubgroupOp::Max if ty.is_int() => "subgroupMax",
        SubgroupOp::Min | SubgroupOp::Max => return Text::call(&format!("srk_{name}_{ty}"), args),
        SubgroupOp::Ballot => return Text::call("srk_subgroup_ballot", args),
        SubgroupOp::Shuffle
        | SubgroupOp::ShuffleUp
        | SubgroupOp::ShuffleDown
        | SubgroupOp::ShuffleXor
        | SubgroupOp::Broadcast => unreachable!("written above"),
    };
    Text::call(function, args)
}

const fn plain(op: &'static str, text: &'static str) -> Template {
    Template { op, on: None, text }
}

const fn on(op: &'static str, class: TypeClass, text: &'static str) -> Template {
    let on = Some(class);
    Template { op, on, text }
}

pub(super) const TEMPLATES: &[Template] = &[
    on(
        "lane",
        UnsignedInt,
        "// A lane as a `u32`; those that no subgroup has stay such.
fn $NAME(lane: $T) -> u32 { return select(0xffffffffu, u32(lane), lane < $X(4294967295)); }",
    ),
    plain(
        "source",
        "// A lane of those that are here, or else one's own.
fn srk_source(lane: u32, own: u32) -> u32 {
    let here = subgroupBallot(true);
    let word = here[min(lane >> 5u, 3u)];
    return select(own, lane, lane < 128u && (word >> (lane & 31u) & 1u) != 0u);
}",
    ),
    on(
        "subgroup_shuffle",
        Number,
        "fn $NAME(x: $T, lane: u32, own: u32) -> $T { return subgroupShuffle(x, srk_source(lane, own)); }",
    ),
    on(
        "subgroup_shuffle_up",
        Number,
        "fn $NAME(x: $T, distance: u32, own: u32) -> $T {
    let lane = select(own - distance, own, distance > own);
    return subgroupShuffle(x, srk_source(lane, own));
}",
    ),
    on(
        "subgroup_shuffle_down",
        Number,
        "fn $NAME(x: $T, distance: u32, own: u32) -> $T {
    let lane = select(own + distance, own, distance > 127u);
    return subgroupShuffle(x, srk_source(lane, own));
}",
    ),
    on(
        "subgroup_shuffle_xor",
        Number,
        "fn $NAME(x: $T, bits: u32, own: u32) -> $T {
    return subgroupShuffle(x, srk_source(own ^ bits, own));
}",
    ),
    plain(
        "subgroup_ballot",
        "fn srk_subgroup_ballot(x: bool) -> u64 {
    let words = subgroupBallot(x);
    return u64(words.x) | (u64(words.y) << 32u);
}",
    ),
    // Like `min` and `max`, the targets do not specify NaN. Here NaN is the result only if all operands are NaN.
    on(
        "subgroup_min",
        Float,
        "fn $NAME(x: $T) -> $T {
    let is_nan = srk_is_nan_$T(x);
    let least = subgroupMin(select(x, $INFINITY, is_nan));
    return select(least, $NAN, subgroupAll(is_nan));
}",
    ),
    on(
        "subgroup_max",
        Float,
        "fn $NAME(x: $T) -> $T {
    let is_nan = srk_is_nan_$T(x);
    let most = subgroupMax(select(x, -$INFINITY, is_nan));
    return select(most, $NAN, subgroupAll(is_nan));
}",
    ),
];
