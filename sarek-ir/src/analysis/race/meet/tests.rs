//! Kernels in which two threads meet, and which only a wrong fact about values would refute.
//!
//! All threads that reach a store of element 0 race.

use super::super::{check, satisfied};
use crate::analysis::range::{ArgFact, LaunchFacts};
use crate::sketch::{Sketch, SketchExpr};
use crate::{
    Argument, Axis, Builtin, DivideOp, Intrinsic, Kernel, ParamId, Scalar, SharedId, Value,
};

const X: Builtin = Builtin::GlobalIdx(Axis::X);
const MANY: u64 = 1 << 20;

/// True if a launch of eight threads with these arguments may run.
fn runs(kernel: &Kernel, args: &[ArgFact]) -> bool {
    assert_eq!(crate::validate(kernel), Ok(()), "{kernel}");
    let facts = LaunchFacts {
        grid: [1; 3],
        block: [8, 1, 1],
        extent: [8, 1, 1],
        args,
    };
    check(kernel).is_ok_and(|needs| satisfied(kernel, &needs, &facts))
}

/// True if a kernel with a slice, some data, and three sizes may run.
fn may_run(sizes: [u64; 3], fill: impl Fn(&Sketch, ParamId, [ParamId; 3])) -> bool {
    let s = Sketch::new("k");
    let v = s.slice_mut("v", Scalar::U32);
    let names = ["l", "m", "n"].map(|name| s.scalar(name, Scalar::Usize));
    s.slice("data", Scalar::U32);
    fill(&s, v, names);
    let [l, m, n] = sizes.map(|n| ArgFact::Scalar(Value::Usize(n)));
    runs(
        &s.finish(),
        &[ArgFact::Len(MANY), l, m, n, ArgFact::Len(MANY)],
    )
}

/// Stores to element 0 in the first threads.
fn meet(s: &Sketch, v: ParamId) {
    s.if_(s.id(X).lt(s.n(4)), || s.store(v, s.n(0), s.u32(1)));
}

/// An element of the data, which nobody knows.
fn loaded(s: &Sketch) -> SketchExpr<'_> {
    s.load(ParamId(4), s.id(X)).cast(Scalar::Usize)
}

#[test]
fn the_dividend_of_a_quotient_may_wrap() {
    let found = may_run([0, 0, 8], |s, v, [_, _, n]| {
        let i = s.let_("i", s.id(X));
        let part = s.let_("part", (i.get() - s.arg(n)) / s.n(4));
        s.if_(i.get().lt(s.arg(n)).and(part.get().gt(s.n(5))), || {
            meet(s, v)
        });
    });
    assert!(!found);
}

#[test]
fn an_operand_of_min_may_wrap() {
    let found = may_run([0, 0, 8], |s, v, [_, _, n]| {
        let i = s.let_("i", s.id(X));
        let least = s.call(Intrinsic::Min, &[i.get() - s.arg(n), s.n(9)]);
        s.if_(i.get().lt(s.arg(n)).and(least.gt(s.n(5))), || meet(s, v));
    });
    assert!(!found);
}

#[test]
fn the_value_of_a_mutable_local_may_have_wrapped() {
    let found = may_run([0, 0, 8], |s, v, [_, _, n]| {
        let i = s.let_("i", s.id(X));
        let k = s.let_mut("k", i.get() - s.arg(n));
        s.if_(i.get().lt(s.arg(n)).and(k.get().gt(s.n(5))), || meet(s, v));
    });
    assert!(!found);
}

#[test]
fn exclusive_or_of_signed_values_may_be_negative() {
    let found = may_run([0, 0, 8], |s, v, [_, _, n]| {
        let k = s.let_("k", s.arg(n).cast(Scalar::I32));
        let other = s.let_("other", k.get() ^ s.i32(1));
        s.if_(other.get().lt(s.i32(0)), || meet(s, v));
    });
    assert!(!found);
}

#[test]
fn two_branches_on_data_may_differ() {
    let found = may_run([0, 0, 8], |s, v, _| {
        let [j, k] = ["j", "k"].map(|name| s.let_mut(name, s.n(0)));
        for local in [j, k] {
            let data = s.let_("data", loaded(s).cast(Scalar::F32));
            s.if_(data.get().lt(s.f32(0.5)), || s.set(local, s.n(1)));
        }
        s.if_(j.get().ne(k.get()), || meet(s, v));
    });
    assert!(!found);
}

#[test]
fn a_break_between_two_steps_parts_their_counts() {
    let found = may_run([0, 0, 8], |s, v, [_, _, n]| {
        let [j, k] = ["j", "k"].map(|name| s.let_mut(name, s.n(0)));
        s.while_(j.get().lt(s.n(9)).and(k.get().lt(s.n(9))), |label| {
            s.set(j, j.get() + s.n(1));
            s.if_(j.get().ge(s.arg(n)), || s.break_(label));
            s.set(k, k.get() + s.n(1));
        });
        s.if_(j.get().ne(k.get()), || meet(s, v));
    });
    assert!(!found);
}

#[test]
fn a_step_is_not_divided_before_the_first_turn() {
    let found = may_run([8, 8, 0], |s, v, [l, m, n]| {
        let k = s.let_mut("k", s.n(0));
        s.while_(k.get().lt(s.arg(l)), |_| {
            s.if_(s.arg(n).eq(s.n(0)), || meet(s, v));
            s.set(k, k.get() + s.arg(m) / s.arg(n));
        });
    });
    assert!(!found);
}

#[test]
fn a_step_that_was_divided_before_is_known() {
    let found = may_run([8, 2, 2], |s, v, [l, m, n]| {
        let i = s.let_("i", s.id(X));
        let step = s.let_("step", s.arg(m) / s.arg(n));
        let k = s.let_mut("k", i.get());
        s.while_(k.get().lt(s.arg(l)), |_| {
            s.if_(k.get().eq(i.get()), || s.store(v, k.get(), s.u32(1)));
            s.set(k, k.get() + step.get());
        });
    });
    assert!(found);
}

#[test]
fn equal_quotients_of_other_types_are_other_values() {
    let found = may_run([0, 0, 8], |s, v, [_, _, n]| {
        let [i, n] = [s.let_("i", s.id(X)), s.let_("n", s.arg(n))];
        let wrapped = s.let_("wrapped", (i.get() - n.get()) / s.n(4));
        let [i, n] = [i, n].map(|value| value.get().cast(Scalar::I64));
        let four = s.lit(Value::I64(4));
        let signed = s.let_("signed", (i - n).divide(DivideOp::DivEuclid, four));
        let below = signed.get().lt(s.lit(Value::I64(0)));
        s.if_(wrapped.get().ge(s.n(0)).and(below), || meet(s, v));
    });
    assert!(!found);
}

/// A loop over `start..end` in steps of `step`, as the frontend lowers it.
fn steps<'s>(
    s: &'s Sketch,
    start: impl Fn() -> SketchExpr<'s>,
    end: impl Fn() -> SketchExpr<'s>,
    step: impl Fn() -> SketchExpr<'s>,
    body: impl FnOnce(SketchExpr<'s>),
) {
    let next = s.let_mut("next", start());
    let more = s.let_mut("more", start().lt(end()));
    s.while_(s.read(more.id), |_| {
        let here = s.let_("here", next.get());
        let apart = s.call(Intrinsic::AbsDiff, &[here.get(), end()]);
        s.set(more, apart.cast(Scalar::Usize).gt(step()));
        s.set(next, s.call(Intrinsic::WrappingAdd, &[here.get(), step()]));
        body(here.get());
    });
}

#[test]
fn the_start_of_a_stepped_range_may_wrap() {
    let found = may_run([8, 0, u64::MAX], |s, v, [l, _, n]| {
        let start = s.let_("start", s.id(X) + s.arg(n));
        s.if_(s.arg(n).gt(s.arg(l)), || {
            steps(s, || start.get(), || s.arg(l), || s.n(2), |_| meet(s, v));
        });
    });
    assert!(!found);
}

#[test]
fn the_end_of_a_range_is_that_before_the_loop() {
    let found = may_run([0, 0, 8], |s, v, [_, _, n]| {
        let end = s.let_mut("end", s.arg(n));
        s.for_("k", s.n(0), end.get(), |k, _| {
            let minus = |a, b| s.call(Intrinsic::WrappingSub, &[a, b]);
            let last = minus(end.get(), s.n(1));
            let i = s.let_("i", minus(last, minus(k.get(), s.n(0))));
            s.if_(i.get().ge(s.arg(n)), || meet(s, v));
            s.set(end, s.n(0));
        });
    });
    assert!(!found);
}

#[test]
fn a_local_that_both_branches_assign_may_have_wrapped() {
    let found = may_run([0, 0, 8], |s, v, [_, m, n]| {
        let i = s.let_("i", s.id(X));
        let k = s.let_uninit("k", Scalar::Usize);
        s.if_else(
            s.arg(m).eq(s.n(0)),
            || s.set(k, i.get() - s.arg(n)),
            || s.set(k, i.get() - s.arg(n)),
        );
        s.if_(i.get().lt(s.arg(n)).and(k.get().gt(s.n(5))), || meet(s, v));
    });
    assert!(!found);
}

#[test]
fn a_divisor_in_a_mutable_local_may_have_wrapped() {
    let found = may_run([0, 0, 8], |s, v, _| {
        let divisor = s.let_mut("divisor", s.u32(1 << 31));
        s.set(divisor, divisor.get() * s.u32(2) + s.u32(3));
        let i = s.id(X).cast(Scalar::U32);
        s.if_((i / divisor.get()).gt(s.u32(0)), || meet(s, v));
    });
    assert!(!found);
}

#[test]
fn an_index_of_a_view_has_the_values_of_its_let() {
    let s = Sketch::new("k");
    let view = s.slice_mut("m", Scalar::U32);
    for name in ["rows", "cols", "offset", "row_stride", "col_stride"] {
        s.scalar(name, Scalar::Usize);
    }
    let k = s.let_mut("k", s.n(0));
    let at = s.let_("at", s.at(view, &[s.n(0), k.get()]));
    s.set(k, s.id(X));
    s.store(view, at.get(), s.u32(1));
    let args = [ArgFact::Scalar(Value::Usize(1)); 6];
    assert!(!runs(&s.finish(), &args));
}

#[test]
fn a_call_may_change_the_value_of_a_stepped_range() {
    let found = may_run([8, 0, 8], |s, v, [l, ..]| {
        let next = s.let_mut("next", s.n(5));
        let more = s.let_mut("more", s.n(5).lt(s.arg(l)));
        s.while_(s.read(more.id), |_| {
            let here = s.let_("here", next.get());
            let apart = s.call(Intrinsic::AbsDiff, &[here.get(), s.arg(l)]);
            s.set(more, apart.cast(Scalar::Usize).gt(s.n(2)));
            s.set(next, s.call(Intrinsic::WrappingAdd, &[here.get(), s.n(2)]));
            let shrink = s.function("shrink");
            s.call_function(shrink, &[Argument::Local(next.id)], None);
            s.if_(here.get().lt(s.n(5)), || meet(s, v));
        });
    });
    assert!(!found);
}

/// True if a kernel with a shared array and a size of 8 may run.
fn shared(fill: impl Fn(&Sketch, SharedId, ParamId)) -> bool {
    let s = Sketch::new("k");
    let n = s.scalar("n", Scalar::Usize);
    let v = s.shared("v", Scalar::U32, 64);
    fill(&s, v, n);
    runs(&s.finish(), &[ArgFact::Scalar(Value::Usize(8))])
}

/// Stores to element 0 in the first threads of a block.
fn meet_in_block(s: &Sketch, v: SharedId) {
    let first = s.id(Builtin::ThreadIdx(Axis::X)).lt(s.n(4));
    s.if_(first, || s.store(v, s.n(0), s.u32(1)));
}

#[test]
fn the_end_of_a_range_with_a_barrier_is_that_before_the_loop() {
    let found = shared(|s, v, n| {
        let end = s.let_mut("end", s.arg(n));
        s.for_("k", s.n(0), end.get(), |k, _| {
            s.if_(k.get().ge(end.get()), || meet_in_block(s, v));
            s.barrier();
            s.set(end, s.n(0));
        });
    });
    assert!(!found);
}

#[test]
fn a_break_between_two_steps_in_a_loop_with_a_barrier() {
    let found = shared(|s, v, n| {
        let [j, k] = ["j", "k"].map(|name| s.let_mut(name, s.n(0)));
        s.while_(j.get().lt(s.n(9)).and(k.get().lt(s.n(9))), |label| {
            s.set(j, j.get() + s.n(1));
            s.barrier();
            s.if_(j.get().ge(s.arg(n)), || s.break_(label));
            s.set(k, k.get() + s.n(1));
        });
        s.if_(j.get().ne(k.get()), || meet_in_block(s, v));
    });
    assert!(!found);
}
