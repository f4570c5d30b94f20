use super::{Among, Uniformity};
use crate::sketch::{Sketch, SketchLocal};
use crate::{Axis, Builtin, CallTarget, Scalar};

/// For each of the locals, whether it is uniform.
fn uniform(fill: impl for<'s> Fn(&'s Sketch) -> Vec<SketchLocal<'s>>) -> Vec<bool> {
    let s = Sketch::new("k");
    let locals: Vec<_> = fill(&s).iter().map(|v| v.id).collect();
    let kernel = s.finish();
    assert_eq!(crate::validate(&kernel), Ok(()), "{kernel}");
    let uniformity = Uniformity::of(&kernel);
    locals.into_iter().map(|l| uniformity.local(l)).collect()
}

fn thread(s: &Sketch) -> crate::sketch::SketchExpr<'_> {
    s.id(Builtin::ThreadIdx(Axis::X))
}

#[test]
fn values_spread_through_operands_and_loads() {
    let found = uniform(|s| {
        let read = s.slice("read", Scalar::F32);
        let written = s.slice_mut("written", Scalar::F32);
        let block = s.let_("block", s.id(Builtin::BlockIdx(Axis::X)) * s.len(read));
        let id = s.let_("id", s.id(Builtin::GlobalIdx(Axis::X)));
        let same = s.let_("same", s.load(read, block.get()));
        let other = s.let_("other", s.load(read, id.get()));
        let racy = s.let_("racy", s.load(written, s.n(0)));
        s.store(written, id.get(), s.f32(0.0));
        vec![block, id, same, other, racy]
    });
    assert_eq!(found, [true, false, true, false, false]);
}

#[test]
fn assignments_under_varying_control_vary() {
    let found = uniform(|s| {
        let (a, b) = (s.let_mut("a", s.n(0)), s.let_mut("b", s.n(0)));
        s.if_(thread(s).lt(s.n(3)), || s.set(a, s.n(1)));
        s.if_(s.id(Builtin::BlockIdx(Axis::X)).lt(s.n(3)), || {
            s.set(b, s.n(1))
        });
        let copy = s.let_("copy", a.get());
        vec![a, b, copy]
    });
    assert_eq!(found, [false, true, false]);
}

#[test]
fn variables_carry_variation_around_loops() {
    let found = uniform(|s| {
        let (a, b) = (s.let_mut("a", s.n(0)), s.let_mut("b", s.n(0)));
        s.for_("k", s.n(0), s.n(4), |_, _| {
            s.set(a, a.get() + b.get());
            s.set(b, thread(s));
        });
        vec![a, b]
    });
    assert_eq!(found, [false, false]);
}

#[test]
fn loops_with_varying_exits_split_the_block() {
    let counter = |varying: bool| {
        uniform(move |s| {
            let n = s.let_mut("n", s.n(0));
            s.loop_(|l| {
                let bound = if varying { thread(s) } else { s.n(9) };
                s.if_(n.get().gt(bound), || s.break_(l));
                s.set(n, n.get() + s.n(1));
            });
            vec![n]
        })
    };
    assert_eq!(counter(true), [false]);
    assert_eq!(counter(false), [true]);
    let skipped = uniform(|s| {
        let (before, after) = (s.let_mut("before", s.n(0)), s.let_mut("after", s.n(0)));
        let outside = s.let_mut("outside", s.n(0));
        s.for_("k", s.n(0), s.n(4), |_, l| {
            s.set(before, s.n(1));
            s.if_(thread(s).eq(s.n(1)), || s.continue_(l));
            s.set(after, s.n(1));
        });
        s.set(outside, s.n(1));
        vec![before, after, outside]
    });
    assert_eq!(skipped, [true, false, true]);
}

#[test]
fn a_divergent_return_parts_nobody_that_is_left() {
    let found = uniform(|s| {
        let (before, after) = (s.let_mut("before", s.n(0)), s.let_mut("after", s.n(0)));
        s.set(before, s.n(1));
        s.if_(thread(s).eq(s.n(1)), || s.return_());
        s.set(after, s.n(1));
        vec![before, after]
    });
    assert_eq!(found, [true, true]);
}

#[test]
fn threads_of_a_row_agree_on_more() {
    let s = Sketch::new("k");
    let row = s.let_("row", s.id(Builtin::GlobalIdx(Axis::Y)));
    let col = s.let_("col", s.id(Builtin::GlobalIdx(Axis::X)));
    let below = col.get().lt(s.n(9));
    let cond = below.id;
    let (inside, kept) = (s.let_mut("inside", s.n(0)), s.let_("kept", s.n(1)));
    s.if_(below, || s.set(inside, s.n(2)));
    let (row, col, inside, kept) = (row.id, col.id, inside.id, kept.id);
    let kernel = s.finish();
    let of = |among: &Among| {
        let uniformity = Uniformity::among(&kernel, among);
        [row, col, inside, kept].map(|l| uniformity.local(l))
    };
    let mut among = Among::default();
    assert_eq!(of(&among), [false, false, false, true]);
    among.row = true;
    assert_eq!(of(&among), [true, false, false, true]);
    among.known.insert(cond, true);
    assert_eq!(of(&among), [true, false, true, true]);
    among.varying.insert(kept);
    assert_eq!(of(&among), [true, false, true, false]);
}

#[test]
fn counters_vary_with_their_bounds() {
    let found = uniform(|s| {
        let out = std::cell::Cell::new(None);
        s.for_("k", s.n(0), thread(s), |k, _| {
            out.set(Some(s.let_("copy", k.get())))
        });
        vec![out.get().expect("set above")]
    });
    assert_eq!(found, [false]);
}

#[test]
fn closures_run_for_some_threads_only() {
    let found = uniform(|s| {
        let (count, kept) = (s.let_mut("count", s.n(0)), s.let_("kept", s.n(1)));
        let closure = s.closure("k", Scalar::Usize, Scalar::Usize, |k| {
            s.set(count, count.get() + s.n(1));
            k.get() + kept.get()
        });
        let function = s.function("f");
        s.call_with(CallTarget::Function(function), &[], &[closure], None);
        let after = s.let_("after", s.n(2));
        vec![count, kept, after]
    });
    assert_eq!(found, [false, true, true]);
}
