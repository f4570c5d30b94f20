//! A subgroup is a warp. Who takes part is who is here, as `__activemask()` tells.

use super::Cuda;
use crate::TypeClass::{Float, Int, Number, UnsignedInt};
use crate::write::{Dialect, Precedence, Template, Text};
use crate::{Scalar, SubgroupOp, TypeClass};

pub(super) fn subgroup(d: &Cuda, op: SubgroupOp, ty: Scalar, args: &[Text], index: Scalar) -> Text {
    let name = op.name();
    if op.takes_lane() && ty.is_bool() {
        let as_word = [d.cast(&args[0], ty, Scalar::U32), args[1].clone()];
        let word = subgroup(d, op, Scalar::U32, &as_word, index);
        return Text::infix(Precedence::Compare, "!=", &word, &Text::literal("0u"));
    }
    let function = match op {
        SubgroupOp::All | SubgroupOp::Any | SubgroupOp::Ballot => format!("srk_{name}"),
        SubgroupOp::Broadcast => format!("srk_subgroup_shuffle_{ty}_{index}"),
        SubgroupOp::Shuffle
        | SubgroupOp::ShuffleUp
        | SubgroupOp::ShuffleDown
        | SubgroupOp::ShuffleXor => format!("srk_{name}_{ty}_{index}"),
        SubgroupOp::Sum
        | SubgroupOp::Product
        | SubgroupOp::Min
        | SubgroupOp::Max
        | SubgroupOp::InclusiveSum
        | SubgroupOp::ExclusiveSum => format!("srk_{name}_{ty}"),
    };
    Text::call(&function, args)
}

const fn plain(op: &'static str, text: &'static str) -> Template {
    Template { op, on: None, text }
}

const fn on(op: &'static str, class: TypeClass, text: &'static str) -> Template {
    let on = Some(class);
    Template { op, on, text }
}

/// A full warp halves the distance at each step; else the threads that are here take turns.
macro_rules! reduction {
    ($join:literal) => {
        concat!(
            "$FN $T $NAME($T x) {
    u32 here = __activemask();
    if (here == 0xffffffffu) {
        for (u32 apart = 16u; apart != 0u; apart >>= 1) {
            x = srk_join_",
            $join,
            "_$T(x, __shfl_xor_sync(here, x, apart));
        }
        return x;
    }
    u32 next = here & (here - 1u);
    $T all = __shfl_sync(here, x, __ffs(here) - 1);
    for (; next != 0u; next &= next - 1u) {
        all = srk_join_",
            $join,
            "_$T(all, __shfl_sync(here, x, __ffs(next) - 1));
    }
    return all;
}"
        )
    };
}

pub(super) const TEMPLATES: &[Template] = &[
    plain(
        "lane",
        "// The number of this thread in its subgroup.
$FN u32 srk_lane() {
    u32 lane;
    asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(lane));
    return lane;
}",
    ),
    on(
        "source",
        UnsignedInt,
        "// A lane of those that are here, or else one's own.
$FN u32 $NAME(u32 here, $T lane) {
    return lane < 32u && (here >> lane & 1u) != 0u ? (u32)lane : srk_lane();
}",
    ),
    on(
        "subgroup_shuffle",
        Number,
        "$FN $T $NAME($T x, $S lane) {
    u32 here = __activemask();
    return __shfl_sync(here, x, srk_source_$S(here, lane));
}",
    ),
    on(
        "subgroup_shuffle_up",
        Number,
        "$FN $T $NAME($T x, $S distance) {
    u32 here = __activemask();
    $S lane = srk_lane();
    return __shfl_sync(here, x, srk_source_$S(here, distance > lane ? lane : lane - distance));
}",
    ),
    on(
        "subgroup_shuffle_down",
        Number,
        "$FN $T $NAME($T x, $S distance) {
    u32 here = __activemask();
    $S lane = srk_lane();
    return __shfl_sync(here, x, srk_source_$S(here, distance > 31u ? lane : lane + distance));
}",
    ),
    on(
        "subgroup_shuffle_xor",
        Number,
        "$FN $T $NAME($T x, $S bits) {
    u32 here = __activemask();
    return __shfl_sync(here, x, srk_source_$S(here, srk_lane() ^ bits));
}",
    ),
    plain(
        "subgroup_all",
        "$FN bool srk_subgroup_all(bool x) { return __all_sync(__activemask(), x) != 0; }",
    ),
    plain(
        "subgroup_any",
        "$FN bool srk_subgroup_any(bool x) { return __any_sync(__activemask(), x) != 0; }",
    ),
    plain(
        "subgroup_ballot",
        "$FN u64 srk_subgroup_ballot(bool x) { return __ballot_sync(__activemask(), x); }",
    ),
    on(
        "join_sum",
        Int,
        "$FN $T $NAME($T a, $T b) { return ($T)(($U)a + ($U)b); }",
    ),
    on(
        "join_sum",
        Float,
        "$FN $T $NAME($T a, $T b) { return a + b; }",
    ),
    on(
        "join_product",
        Int,
        "$FN $T $NAME($T a, $T b) { return ($T)(($U)a * ($U)b); }",
    ),
    on(
        "join_product",
        Float,
        "$FN $T $NAME($T a, $T b) { return a * b; }",
    ),
    on(
        "join_min",
        Int,
        "$FN $T $NAME($T a, $T b) { return min(a, b); }",
    ),
    on(
        "join_min",
        Float,
        "$FN $T $NAME($T a, $T b) { return fmin$F(a, b); }",
    ),
    on(
        "join_max",
        Int,
        "$FN $T $NAME($T a, $T b) { return max(a, b); }",
    ),
    on(
        "join_max",
        Float,
        "$FN $T $NAME($T a, $T b) { return fmax$F(a, b); }",
    ),
    on("subgroup_sum", Number, reduction!("sum")),
    on("subgroup_product", Number, reduction!("product")),
    on("subgroup_min", Number, reduction!("min")),
    on("subgroup_max", Number, reduction!("max")),
    on(
        "subgroup_exclusive_sum",
        Number,
        "$FN $T $NAME($T x) {
    u32 here = __activemask();
    u32 lane = srk_lane();
    $T sum = $0;
    if (here == 0xffffffffu) {
        for (u32 distance = 1u; distance < 32u; distance <<= 1) {
            $T below = __shfl_up_sync(here, x, distance);
            if (lane >= distance) { x = srk_join_sum_$T(x, below); }
        }
        sum = __shfl_up_sync(here, x, 1);
        return lane == 0u ? $0 : sum;
    }
    for (u32 rest = here; rest != 0u; rest &= rest - 1u) {
        u32 other = (u32)__ffs(rest) - 1u;
        $T below = __shfl_sync(here, x, other);
        if (other < lane) { sum = srk_join_sum_$T(sum, below); }
    }
    return sum;
}",
    ),
    on(
        "subgroup_inclusive_sum",
        Number,
        "$FN $T $NAME($T x) { return srk_join_sum_$T(srk_subgroup_exclusive_sum_$T(x), x); }",
    ),
];
