use super::{ArgFact, LaunchFacts, Ranges, analyse};
use crate::sketch::{Sketch, SketchLocal};
use crate::{Axis, Builtin, Intrinsic, Kernel, NativeText, Piece, Scalar, SiteId, SiteKind, Value};

const X: Builtin = Builtin::GlobalIdx(Axis::X);
const Y: Builtin = Builtin::GlobalIdx(Axis::Y);

/// A launch over `extent` threads with blocks of 64 by 1 by 1.
pub(super) fn over(kernel: &Kernel, extent: [u64; 3], args: &[ArgFact]) -> Ranges {
    assert_eq!(crate::validate(kernel), Ok(()), "{kernel}");
    over_unchecked(kernel, extent, args)
}

fn over_unchecked(kernel: &Kernel, extent: [u64; 3], args: &[ArgFact]) -> Ranges {
    let block = [64, 1, 1];
    let grid = [extent[0].div_ceil(64), extent[1], extent[2]];
    analyse(
        kernel,
        &LaunchFacts {
            grid,
            block,
            extent,
            args,
        },
    )
}

/// The sites that are not proved.
pub(super) fn unproved(kernel: &Kernel, extent: [u64; 3], args: &[ArgFact]) -> Vec<u32> {
    let ranges = over(kernel, extent, args);
    (0..kernel.sites.len() as u32)
        .filter(|&s| !ranges.proved(SiteId(s)))
        .collect()
}

pub(super) fn len(n: u64) -> ArgFact {
    ArgFact::Len(n)
}

pub(super) fn scalar(v: u64) -> ArgFact {
    ArgFact::Scalar(Value::Usize(v))
}

#[test]
fn a_guard_by_the_length_proves_the_access() {
    let s = Sketch::new("guarded");
    let y = s.slice_mut("y", Scalar::F32);
    let i = s.let_("i", s.id(X));
    s.if_(i.get().lt(s.len(y)), || {
        s.store(y, i.get(), s.load(y, i.get()))
    });
    let k = s.finish();
    assert_eq!(unproved(&k, [1000, 1, 1], &[len(10)]), []);
    assert_eq!(unproved(&k, [1000, 1, 1], &[len(0)]), []);
}

#[test]
fn lanes_are_below_the_size_of_the_block() {
    let of = |n: u64, at: fn(&Sketch) -> crate::sketch::SketchExpr<'_>| {
        let s = Sketch::new("lanes");
        let y = s.slice_mut("y", Scalar::F32);
        s.store(y, at(&s), s.f32(1.0));
        unproved(&s.finish(), [640, 1, 1], &[len(n)])
    };
    assert_eq!(of(63, |s| s.id(Builtin::SubgroupLane)), [0]);
    assert_eq!(of(64, |s| s.id(Builtin::SubgroupLane)), []);
    assert_eq!(of(64, |s| s.id(Builtin::SubgroupSize)), [0]);
}

#[test]
fn without_a_guard_the_extent_decides() {
    let s = Sketch::new("exact");
    let y = s.slice_mut("y", Scalar::F32);
    s.store(y, s.id(X), s.f32(0.0));
    let k = s.finish();
    assert_eq!(unproved(&k, [100, 1, 1], &[len(100)]), []);
    assert_eq!(unproved(&k, [100, 1, 1], &[len(99)]), [0]);
    assert_eq!(
        unproved(&k, [0, 1, 1], &[len(0)]),
        [],
        "no threads, no faults"
    );
}

#[test]
fn an_early_return_guards_the_rest() {
    let s = Sketch::new("early");
    let y = s.slice_mut("y", Scalar::F32);
    let i = s.let_("i", s.id(X));
    s.if_(i.get().ge(s.len(y)), || s.return_());
    s.store(y, i.get(), s.f32(1.0));
    assert_eq!(unproved(&s.finish(), [1000, 1, 1], &[len(7)]), []);
    let off_by_one = Sketch::new("early");
    let s = &off_by_one;
    let y = s.slice_mut("y", Scalar::F32);
    let i = s.let_("i", s.id(X));
    s.if_(i.get().gt(s.len(y)), || s.return_());
    s.store(y, i.get(), s.f32(1.0));
    assert_eq!(unproved(&off_by_one.finish(), [1000, 1, 1], &[len(7)]), [0]);
}

/// `for k in 0..n { c += a[row * n + k] * b[k * m + col] }` under `row < h && col < m`.
#[test]
fn matmul() {
    let s = Sketch::new("matmul");
    let (a, b) = (s.slice("a", Scalar::F32), s.slice("b", Scalar::F32));
    let c = s.slice_mut("c", Scalar::F32);
    let (h, n, m) = (
        s.scalar("h", Scalar::Usize),
        s.scalar("n", Scalar::Usize),
        s.scalar("m", Scalar::Usize),
    );
    let (row, col) = (s.let_("row", s.id(Y)), s.let_("col", s.id(X)));
    let inside = row.get().lt(s.arg(h)).and(col.get().lt(s.arg(m)));
    s.if_(inside, || {
        let acc = s.let_mut("acc", s.f32(0.0));
        s.for_("k", s.n(0), s.arg(n), |k, _| {
            let x = s.load(a, row.get() * s.arg(n) + k.get());
            let y = s.load(b, k.get() * s.arg(m) + col.get());
            s.set(acc, acc.get() + x * y);
        });
        s.store(c, row.get() * s.arg(m) + col.get(), acc.get());
    });
    let k = s.finish();
    let args = |la, lb, lc| {
        [
            len(la),
            len(lb),
            len(lc),
            scalar(30),
            scalar(20),
            scalar(50),
        ]
    };
    assert_eq!(unproved(&k, [64, 32, 1], &args(600, 1000, 1500)), []);
    assert_eq!(unproved(&k, [64, 32, 1], &args(599, 1000, 1500)), [0]);
    assert_eq!(unproved(&k, [64, 32, 1], &args(600, 999, 1499)), [1, 2]);
    assert!(over(&k, [64, 32, 1], &args(600, 1000, 1500)).fits_u32());
}

/// Reads the four neighbours of `(x, y)` where `x` and `y` are in `1..w - last` and `1..h - last`.
fn stencil(last: u64) -> Kernel {
    let s = Sketch::new("stencil");
    let a = s.slice("a", Scalar::F32);
    let b = s.slice_mut("b", Scalar::F32);
    let (w, h) = (s.scalar("w", Scalar::Usize), s.scalar("h", Scalar::Usize));
    let (x, y) = (s.let_("x", s.id(X)), s.let_("y", s.id(Y)));
    let inner_x = x.get().gt(s.n(0)).and(x.get().lt(s.arg(w) - s.n(last)));
    let inner_y = y.get().gt(s.n(0)).and(y.get().lt(s.arg(h) - s.n(last)));
    s.if_(inner_x.and(inner_y), || {
        let up = s.load(a, (y.get() - s.n(1)) * s.arg(w) + x.get());
        let down = s.load(a, (y.get() + s.n(1)) * s.arg(w) + x.get());
        let left = s.load(a, y.get() * s.arg(w) + x.get() - s.n(1));
        let right = s.load(a, y.get() * s.arg(w) + (x.get() + s.n(1)));
        s.store(b, y.get() * s.arg(w) + x.get(), up + down + left + right);
    });
    s.finish()
}

#[test]
fn stencil_interior() {
    let args = |w, h| [len(w * h), len(w * h), scalar(w), scalar(h)];
    assert_eq!(unproved(&stencil(1), [128, 100, 1], &args(100, 90)), []);
    assert_eq!(
        unproved(&stencil(1), [128, 100, 1], &args(1, 1)),
        [],
        "no interior at all"
    );
    assert_eq!(unproved(&stencil(0), [128, 100, 1], &args(100, 90)), [1, 3]);
    // With w = 0, `w - 1` wraps and guards nothing.
    assert!(!unproved(&stencil(1), [128, 100, 1], &args(0, 90)).is_empty());
}

#[test]
fn transpose() {
    let s = Sketch::new("transpose");
    let (a, b) = (s.slice("a", Scalar::F32), s.slice_mut("b", Scalar::F32));
    let (w, h) = (s.scalar("w", Scalar::Usize), s.scalar("h", Scalar::Usize));
    let (x, y) = (s.let_("x", s.id(X)), s.let_("y", s.id(Y)));
    s.if_(x.get().lt(s.arg(w)).and(y.get().lt(s.arg(h))), || {
        let v = s.load(a, y.get() * s.arg(w) + x.get());
        s.store(b, x.get() * s.arg(h) + y.get(), v);
    });
    let k = s.finish();
    let args = |n| [len(n), len(n), scalar(30), scalar(20)];
    assert_eq!(unproved(&k, [64, 64, 1], &args(600)), []);
    assert_eq!(unproved(&k, [64, 64, 1], &args(599)), [0, 1]);
}

/// `(x as i32 + d).max(0).min(w as i32 - 1) as usize`
#[test]
fn image_clamp() {
    let s = Sketch::new("clamp");
    let a = s.slice("a", Scalar::F32);
    let (w, h) = (s.scalar("w", Scalar::Usize), s.scalar("h", Scalar::Usize));
    s.for_("dy", s.i32(-2), s.i32(3), |dy, _| {
        s.for_("dx", s.i32(-2), s.i32(3), |dx, _| {
            let clamped = |id, d: SketchLocal<'_>, n| {
                let moved = s.id(id).cast(Scalar::I32) + s.read(d.id);
                let low = s.call(Intrinsic::Max, &[moved, s.i32(0)]);
                let last = s.arg(n).cast(Scalar::I32) - s.i32(1);
                s.call(Intrinsic::Min, &[low, last]).cast(Scalar::Usize)
            };
            let sy = s.let_("sy", clamped(Y, dy, h));
            let sx = s.let_("sx", clamped(X, dx, w));
            s.let_("v", s.load(a, sy.get() * s.arg(w) + sx.get()));
        });
    });
    let k = s.finish();
    let args = |n| [len(n), scalar(33), scalar(20)];
    assert_eq!(unproved(&k, [33, 20, 1], &args(660)), []);
    assert_eq!(unproved(&k, [33, 20, 1], &args(659)), [0]);
    assert_eq!(
        unproved(&k, [33, 20, 1], &[len(660), scalar(0), scalar(20)]),
        [0]
    );
}

#[test]
fn guards_reach_along_chains_of_lets() {
    let s = Sketch::new("chain");
    let (a, b) = (s.slice("a", Scalar::F32), s.slice("b", Scalar::F32));
    let (w, h) = (s.scalar("w", Scalar::Usize), s.scalar("h", Scalar::Usize));
    let i = s.let_("i", s.id(X));
    let row = s.let_("row", i.get() / s.arg(w));
    let col = s.let_("col", i.get() % s.arg(w));
    s.if_(row.get().lt(s.arg(h)), || {
        s.let_("u", s.load(a, i.get()));
        s.let_("v", s.load(b, row.get() * s.arg(w) + col.get()));
    });
    let k = s.finish();
    let args = |n| [len(n), len(n), scalar(32), scalar(16)];
    assert_eq!(unproved(&k, [10_000, 1, 1], &args(512)), []);
    assert_eq!(unproved(&k, [10_000, 1, 1], &args(511)), [2, 3]);
    let no_width = [len(512), len(512), scalar(0), scalar(16)];
    assert_eq!(unproved(&k, [10_000, 1, 1], &no_width), [0, 1, 2, 3]);
}

#[test]
fn a_guard_holds_for_every_expression_of_its_shape() {
    let s = Sketch::new("shape");
    let a = s.slice_mut("a", Scalar::F32);
    let w = s.scalar("w", Scalar::Usize);
    let (x, y) = (s.let_("x", s.id(X)), s.let_("y", s.id(Y)));
    let flat = || y.get() * s.arg(w) + x.get();
    s.if_(flat().lt(s.len(a)), || s.store(a, flat(), s.f32(0.0)));
    s.if_(flat().le(s.len(a)), || s.store(a, flat(), s.f32(0.0)));
    assert_eq!(
        unproved(&s.finish(), [64, 64, 1], &[len(600), scalar(30)]),
        [1]
    );
}

#[test]
fn booleans_disjunctions_and_negations() {
    let s = Sketch::new("bools");
    let a = s.slice_mut("a", Scalar::F32);
    let i = s.let_("i", s.id(X));
    let inside = s.let_("inside", i.get().ge(s.n(2)).and(i.get().lt(s.len(a))));
    let shifted = || i.get() - s.n(2);
    s.if_(inside.get(), || s.store(a, shifted(), s.f32(0.0)));
    s.if_(!inside.get(), || s.return_());
    s.store(a, shifted(), s.f32(1.0));
    s.if_(i.get().eq(s.n(2)).or(!i.get().ne(s.n(4))), || {
        s.store(a, i.get() + s.n(5), s.f32(1.0))
    });
    let k = s.finish();
    assert_eq!(unproved(&k, [100, 1, 1], &[len(10)]), []);
    assert_eq!(unproved(&k, [100, 1, 1], &[len(9)]), [2]);
}

#[test]
fn a_grid_stride_loop() {
    let s = Sketch::new("stride");
    let a = s.slice_mut("a", Scalar::F32);
    let i = s.let_mut("i", s.id(X));
    s.while_(i.get().lt(s.len(a)), |_| {
        s.store(a, i.get(), s.f32(0.0));
        s.set(i, i.get() + s.id(Builtin::GlobalDim(Axis::X)));
    });
    let k = s.finish();
    assert_eq!(unproved(&k, [256, 1, 1], &[len(100_000)]), []);
    assert!(over(&k, [256, 1, 1], &[len(100_000)]).fits_u32());
    let edge = len(u64::from(u32::MAX) - 100);
    assert!(
        !over(&k, [256, 1, 1], &[edge]).fits_u32(),
        "the last step leaves u32"
    );
}

#[test]
fn what_takes_turns() {
    let s = Sketch::new("turns");
    let a = s.slice_mut("a", Scalar::F32);
    let out = s.let_mut("out", s.n(0));
    let d = s.let_mut("d", s.n(1));
    s.while_(d.get().lt(s.n(64)), |_| {
        s.set(out, s.n(1) - out.get());
        s.store(a, out.get(), s.f32(0.0));
        s.set(d, d.get() * s.n(2));
    });
    let k = s.finish();
    assert_eq!(unproved(&k, [1, 1, 1], &[len(2)]), []);
    assert_eq!(unproved(&k, [1, 1, 1], &[len(1)]), [0]);
}

#[test]
fn loops_with_jumps() {
    let s = Sketch::new("jumps");
    let a = s.slice_mut("a", Scalar::F32);
    let i = s.let_mut("i", s.n(0));
    s.loop_(|l| {
        s.if_(i.get().ge(s.len(a)), || s.break_(l));
        s.store(a, i.get(), s.f32(0.0));
        s.set(i, i.get() + s.n(1));
        s.if_(i.get().eq(s.n(3)), || s.continue_(l));
        s.store(a, i.get(), s.f32(0.0));
    });
    assert_eq!(
        unproved(&s.finish(), [1, 1, 1], &[len(10)]),
        [1],
        "i may have reached the end"
    );
}

/// On an accelerator, a thread that has faulted leaves its loop although the condition holds.
#[test]
fn what_a_loop_leaves_behind_is_not_believed_after_a_fault() {
    let kernel = |faulty: bool| {
        let s = Sketch::new("after");
        let (a, b) = (s.slice_mut("a", Scalar::F32), s.slice_mut("b", Scalar::F32));
        if faulty {
            s.store(a, s.n(100), s.f32(0.0));
        }
        let i = s.let_mut("i", s.n(0));
        s.while_(i.get().lt(s.n(5)), |_| s.set(i, i.get() + s.n(1)));
        s.store(b, i.get() - s.n(5), s.f32(0.0));
        s.finish()
    };
    assert_eq!(unproved(&kernel(false), [1, 1, 1], &[len(1), len(1)]), []);
    assert_eq!(
        unproved(&kernel(true), [1, 1, 1], &[len(1), len(1)]),
        [0, 1]
    );
}

#[test]
fn divisors_and_assertions() {
    let s = Sketch::new("divide");
    let n = s.scalar("n", Scalar::I32);
    let q = s.let_("q", s.i32(i32::MIN) / s.arg(n));
    s.assert(q.get().lt(s.i32(0)), "negative");
    let k = s.finish();
    let with = |n| unproved(&k, [4, 1, 1], &[ArgFact::Scalar(Value::I32(n))]);
    assert_eq!(with(2), []);
    assert_eq!(with(-2), [1]);
    assert_eq!(with(-1), [0, 1]);
    assert_eq!(with(0), [0, 1]);
}

#[test]
fn overflow_is_seen_through_immutable_locals() {
    let s = Sketch::new("overflow");
    let n = s.scalar("n", Scalar::Usize);
    let row = s.let_("row", s.id(Y) * s.arg(n));
    let index = row.get() + s.id(X);
    let id = index.id;
    s.let_("index", index);
    let k = s.finish();
    assert!(over(&k, [10, 10, 1], &[scalar(1 << 40)]).no_overflow(id));
    assert!(!over(&k, [10, 10, 1], &[scalar(1 << 61)]).no_overflow(id));
}

#[test]
fn overflows_are_proved_one_by_one() {
    let s = Sketch::new("exact");
    let (y, n) = (s.slice_mut("y", Scalar::U32), s.scalar("n", Scalar::Usize));
    let i = s.let_("i", s.id(Y) * s.arg(n) + s.id(X));
    s.if_(i.get().lt(s.n(100)), || {
        let left = s.n(99) - i.get();
        s.store(y, left, s.load(y, i.get()) + s.u32(1));
    });
    let shifted = s.u32(1) << s.id(X).cast(Scalar::U32);
    s.let_("shifted", shifted);
    let mut k = s.finish();
    let before = k.sites.len() as u32;
    k.check_overflows();
    assert_eq!(crate::validate(&k), Ok(()));
    let symbols = k.sites[before as usize..]
        .iter()
        .map(|site| match site.kind {
            SiteKind::Overflow(arithmetic) => arithmetic.symbol(),
            _ => panic!("the last sites are those of overflows"),
        });
    assert_eq!(symbols.collect::<Vec<_>>(), ["*", "+", "-", "+", "<<"]);
    let open = |extent, n| -> Vec<u32> {
        let facts = [len(100), scalar(n)];
        let open = unproved(&k, extent, &facts).into_iter();
        open.filter(|site| *site >= before)
            .map(|site| site - before)
            .collect()
    };
    // Nothing is known about loaded values.
    assert_eq!(open([10, 10, 1], 10), [3]);
    assert_eq!(open([33, 1, 1], 10), [3, 4]);
    assert_eq!(open([10, 10, 1], 1 << 61), [0, 1, 3]);
}

#[test]
fn usize_is_not_narrowed_where_the_width_shows() {
    let fits = |make: &dyn for<'s> Fn(&'s Sketch) -> SketchLocal<'s>| {
        let s = Sketch::new("width");
        make(&s);
        over(&s.finish(), [10, 1, 1], &[]).fits_u32()
    };
    assert!(fits(&|s| s.let_("a", s.n(u32::MAX.into()))));
    assert!(!fits(&|s| s.let_("a", s.n(1 << 32))));
    assert!(
        !fits(&|s| s.let_("a", s.id(X) - s.n(1))),
        "wraps in thread 0"
    );
    assert!(!fits(&|s| s.let_("a", s.n(8) >> s.n(33))));
    let of_8 = |intrinsic| fits(&|s| s.let_("a", s.call(intrinsic, &[s.n(8)]).cast(Scalar::Usize)));
    assert!(of_8(Intrinsic::LeadingZeros), "60 in both widths");
    assert!(of_8(Intrinsic::TrailingZeros));
    assert!(!of_8(Intrinsic::SwapBytes));
    assert!(fits(&|s| s.let_(
        "a",
        s.call(Intrinsic::CountOnes, &[s.n(8)]).cast(Scalar::Usize)
    )));
    assert!(!fits(&|s| s.let_("a", s.f32(1.0).cast(Scalar::Usize))));
}

#[test]
fn a_local_keeps_the_value_that_a_variable_had() {
    let s = Sketch::new("kept");
    let a = s.slice_mut("a", Scalar::F32);
    let m = s.let_mut("m", s.id(X));
    let l = s.let_("l", m.get());
    s.set(m, s.n(0));
    s.if_(l.get().lt(s.n(50)), || s.store(a, l.get(), s.f32(0.0)));
    assert_eq!(unproved(&s.finish(), [100, 1, 1], &[len(1)]), [0]);
}

#[test]
fn native_text_may_assign_what_it_names() {
    let s = Sketch::new("native");
    let a = s.slice_mut("a", Scalar::F32);
    let m = s.let_mut("m", s.n(0));
    s.store(a, m.get(), s.f32(0.0));
    let text = NativeText {
        target: "cuda".into(),
        pieces: vec![Piece::Local(m.id)].into(),
        origin: Default::default(),
    };
    s.native(vec![text], Some(&|| s.set(m, s.n(0))));
    s.store(a, m.get(), s.f32(0.0));
    assert_eq!(unproved(&s.finish(), [1, 1, 1], &[len(1)]), [1]);
}

/// `cargo test --release -- --ignored --nocapture analysis_is_fast`
#[test]
#[ignore = "measures, and needs a release build to mean anything"]
fn analysis_is_fast() {
    let k = stencil(1);
    let args = [len(9000), len(9000), scalar(100), scalar(90)];
    let start = std::time::Instant::now();
    let rounds = 10_000;
    for _ in 0..rounds {
        std::hint::black_box(over_unchecked(&k, [128, 100, 1], &args));
    }
    let each = start.elapsed() / rounds;
    println!("{each:?} for {} expressions", k.exprs.len());
}

#[test]
fn an_assertion_whose_condition_may_fault_stays() {
    let s = Sketch::new("assert");
    let n = s.scalar("n", Scalar::U32);
    let remainder = s.lit(Value::U32(7)) % s.arg(n);
    s.assert(s.lit(Value::U32(u32::MAX)).ge(remainder), "always");
    let k = s.finish();
    let with = |n| unproved(&k, [1, 1, 1], &[ArgFact::Scalar(Value::U32(n))]);
    assert_eq!(with(2), []);
    assert_eq!(with(0), [0, 1]);
}

/// Analysing 24 nested loops takes no noticeable time, and the sites behind guards are still proved.
#[test]
fn deep_loops_end() {
    fn nest<'s>(s: &'s Sketch, depth: usize, sum: SketchLocal<'s>, innermost: &dyn Fn()) {
        match depth {
            0 => innermost(),
            _ => s.for_("k", s.n(0), sum.get(), |k, _| {
                s.set(sum, sum.get() + k.get());
                nest(s, depth - 1, sum, innermost);
            }),
        }
    }
    let s = Sketch::new("deep");
    let y = s.slice_mut("y", Scalar::F32);
    let sum = s.let_mut("sum", s.n(1));
    nest(&s, 24, sum, &|| {
        s.if_(sum.get().lt(s.len(y)), || {
            s.store(y, sum.get(), s.load(y, s.n(12)));
        });
    });
    let kernel = s.finish();
    // The load is the first site.
    assert_eq!(unproved(&kernel, [1000, 1, 1], &[len(10)]), [0]);
}

/// True if the last sum of a kernel does not overflow in a launch of 1000 threads.
fn last_sum_is_exact(fill: impl Fn(&Sketch)) -> bool {
    let s = Sketch::new("sum");
    s.slice("x", Scalar::U64);
    fill(&s);
    let kernel = s.finish();
    let is_sum = |expr: &crate::Expr| {
        let op = match expr {
            crate::Expr::Binary { op, .. } => Some(*op),
            _ => None,
        };
        op == Some(crate::BinaryOp::Add)
    };
    let last = kernel
        .exprs
        .iter()
        .rposition(is_sum)
        .expect("there is a sum");
    let ranges = over(&kernel, [1000, 1, 1], &[len(10)]);
    ranges.no_overflow(crate::ExprId(last as u32))
}

#[test]
fn the_turns_of_a_loop_bound_a_cursor() {
    let step = |s: &Sketch, at: SketchLocal<'_>| s.set(at, at.get() + s.n(3));
    assert!(last_sum_is_exact(|s| {
        let at = s.let_mut("at", s.id(X));
        s.for_("k", s.n(0), s.n(4), |_, _| step(s, at));
    }));
    assert!(last_sum_is_exact(|s| {
        let at = s.let_mut("at", s.id(X));
        s.for_("r", s.n(0), s.n(4), |_, _| {
            s.for_("c", s.n(0), s.n(5), |_, _| step(s, at));
        });
    }));
    let by_hand = |skips: bool, bound: u64| {
        last_sum_is_exact(|s| {
            let (at, k) = (s.let_mut("at", s.id(X)), s.let_mut("k", s.n(0)));
            s.while_(k.get().lt(s.n(bound)), |label| {
                if skips {
                    s.if_(at.get().gt(s.n(7)), || s.continue_(label));
                }
                s.set(k, k.get() + s.n(1));
                step(s, at);
            });
        })
    };
    assert!(by_hand(false, 8));
    assert!(!by_hand(false, u64::MAX - 1));
    // The step is data.
    assert!(!last_sum_is_exact(|s| {
        let at = s.let_mut("at", s.id(X));
        s.for_("k", s.n(0), s.n(4), |k, _| {
            let by = s.load(crate::ParamId(0), k.get()).cast(Scalar::Usize);
            s.set(at, at.get() + by);
        });
    }));
    // The cursor grows in a loop of unknown length.
    assert!(!last_sum_is_exact(|s| {
        let at = s.let_mut("at", s.id(X));
        s.for_("r", s.n(0), s.n(4), |_, _| {
            s.while_(at.get().ne(s.n(5)), |_| step(s, at));
        });
    }));
}

#[test]
fn a_shift_by_more_than_the_width_is_no_product() {
    let exact = |count: u32| {
        let s = Sketch::new("k");
        let bits = s.scalar("bits", Scalar::U32);
        s.let_(
            "a",
            s.id(X).cast(Scalar::U32) << s.param_value(bits, Scalar::U32),
        );
        let kernel = s.finish();
        let is_shift = |e: &crate::Expr| matches!(e, crate::Expr::Binary { op, .. } if *op == crate::BinaryOp::Shl);
        let at = kernel.exprs.iter().position(is_shift);
        let at = crate::ExprId(at.expect("there is a shift") as u32);
        let ranges = over(&kernel, [2, 1, 1], &[ArgFact::Scalar(Value::U32(count))]);
        ranges.no_overflow(at)
    };
    assert!(exact(31));
    assert!(!exact(32) && !exact(40));
}
