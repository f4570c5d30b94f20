//! Writes subgroup operations; a subgroup is a warp.
//!
//! If all threads of the block arrive together, a vote of the warp waits for its threads and returns the mask of
//! those that participate. No thread is missed, even if the compiler has not reconverged the threads after an earlier
//! branch. In divergent control flow the mask is not known beforehand; `__activemask()` returns the threads that are
//! executing. CUDA's own `coalesced_threads()` finds them in the same way.

use super::Cuda;
use crate::TypeClass::{Float, Int, Number, UnsignedInt};
use crate::write::{Dialect, Precedence, Subgroup, Template, Text};
use crate::{Scalar, SubgroupOp, TypeClass};

pub(super) fn subgroup(d: &Cuda, asked: &Subgroup<'_>) -> Text {
    let Subgroup {
        op,
        ty,
        together,
        args,
        index,
    } = *asked;
    let name = op.name();
    if op.takes_lane() && ty.is_bool() {
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
    let here = Text::primary(match together {
        true => "__ballot_sync(0xffffffffu, 1)",
        false => "__activemask()",
    });
    let args: Vec<_> = [&here].into_iter().chain(args).cloned().collect();
    Text::call(&function, &args)
}

const fn plain(op: &'static str, text: &'static str) -> Template {
    Template { op, on: None, text }
}

const fn on(op: &'static str, class: TypeClass, text: &'static str) -> Template {
    let on = Some(class);
    Template { op, on, text }
}

/// A full warp halves the distance at each step; otherwise the participating threads take turns.
macro_rules! reduction {
    ($join:literal) => {
        concat!(
            "$FN $T $NAME(u32 here, $T x) {
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
        "$FN $T $NAME(u32 here, $T x, $S lane) {
    return __shfl_sync(here, x, srk_source_$S(here, lane));
}",
    ),
    on(
        "subgroup_shuffle_up",
        Number,
        "$FN $T $NAME(u32 here, $T x, $S distance) {
    $S lane = srk_lane();
    return __shfl_sync(here, x, srk_source_$S(here, distance > lane ? lane : lane - distance));
}",
    ),
    on(
        "subgroup_shuffle_down",
        Number,
        "$FN $T $NAME(u32 here, $T x, $S distance) {
    $S lane = srk_lane();
    return __shfl_sync(here, x, srk_source_$S(here, distance > 31u ? lane : lane + distance));
}",
    ),
    on(
        "subgroup_shuffle_xor",
        Number,
        "$FN $T $NAME(u32 here, $T x, $S bits) {
    return __shfl_sync(here, x, srk_source_$S(here, srk_lane() ^ bits));
}",
    ),
    plain(
        "subgroup_all",
        "$FN bool srk_subgroup_all(u32 here, bool x) { return __all_sync(here, x) != 0; }",
    ),
    plain(
        "subgroup_any",
        "$FN bool srk_subgroup_any(u32 here, bool x) { return __any_sync(here, x) != 0; }",
    ),
    plain(
        "subgroup_ballot",
        "$FN u64 srk_subgroup_ballot(u32 here, bool x) { return __ballot_sync(here, x); }",
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
        "$FN $T $NAME(u32 here, $T x) {
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
        "$FN $T $NAME(u32 here, $T x) { return srk_join_sum_$T(srk_subgroup_exclusive_sum_$T(here, x), x); }",
    ),
];

#[cfg(test)]
mod tests {
    use crate::sketch::Sketch;
    use crate::write::{default_variant, dialect, render};
    use crate::{Axis, Builtin, Scalar, SubgroupOp, Value};

    /// Checks the masks in program order: before a branch, in it, and after it.
    #[test]
    fn a_vote_tells_who_is_here_unless_threads_are_apart() {
        let s = Sketch::new("k");
        let y = s.slice_mut("y", Scalar::U32);
        let thread = || s.id(Builtin::ThreadIdx(Axis::X));
        let sum = || {
            let one = s.lit(Value::U32(1));
            s.subgroup(SubgroupOp::Sum, &[one])
        };
        let total = s.let_mut("total", sum().get());
        s.if_(thread().lt(s.n(3)), || {
            s.set(total, total.get() + sum().get())
        });
        s.set(total, total.get() + sum().get());
        s.store(y, thread(), total.get());
        let cuda = dialect("cuda").expect("a built-in dialect");
        let kernel = s.finish();
        let text = render(&kernel, cuda, &default_variant(&kernel, cuda)).expect("all is had");
        let calls = text.text.split("= srk_subgroup_sum_u32(").skip(1);
        let masks: Vec<_> = calls
            .map(|call| &call[..call.find('(').unwrap_or(0)])
            .collect();
        assert_eq!(masks, ["__ballot_sync", "__activemask", "__ballot_sync"]);
    }
}
