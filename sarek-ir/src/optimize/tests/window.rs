//! Unrolled loops and their windows, run before and after, and their texts and refusals.

use std::collections::BTreeSet;

use super::super::{Merge, Optimization, Refusal, ShortLoops};
use super::run_blocks;
use crate::analysis::random::Rng;
use crate::interp::Host;
use crate::sketch::{Sketch, SketchExpr, SketchLocal};
use crate::{Axis, Builtin, Expr, Kernel, ParamId, Scalar, Value, passes, validate, write};

const FROM: ParamId = ParamId(0);
const WEIGHTS: ParamId = ParamId(1);
const TO: ParamId = ParamId(2);
const N: ParamId = ParamId(3);
const TAPS: ParamId = ParamId(4);

/// `to[y * n + x] = Σ weights[…] * from[(y + r) * n + x + t]` for `r` below `rows` and `t` below `taps`, in some variants.
fn sums(rows: u64, variant: u64) -> Kernel {
    let s = Sketch::new("sums");
    s.slice("from", Scalar::U64);
    s.slice("weights", Scalar::U64);
    s.slice_mut("to", Scalar::U64);
    s.scalar("n", Scalar::Usize);
    s.scalar("taps", Scalar::Usize);
    let [x, y] = [("x", Axis::X), ("y", Axis::Y)]
        .map(|(name, axis)| s.let_(name, s.id(Builtin::GlobalIdx(axis))));
    let taps = s.let_("all", s.arg(TAPS));
    let body = || {
        let sum = s.let_mut("sum", s.lit(Value::U64(0)));
        let turn = |r: SketchExpr<'_>, t: SketchLocal<'_>| {
            let at = (y.get() + r) * s.arg(N) + x.get() + t.get();
            let value = match variant >> 1 & 3 {
                0 => s.load(FROM, at),
                1 => s.load(FROM, at + s.n(1)),
                _ => s.let_("v", s.load(FROM, at)).get(),
            };
            let weighted = || value * s.load(WEIGHTS, t.get());
            match variant >> 3 & 1 {
                0 => s.set(sum, sum.get() * s.lit(Value::U64(3)) + weighted()),
                _ => {
                    let odd = (t.get() & s.n(1)).eq(s.n(1));
                    let weighted = s.let_("weighted", weighted());
                    s.if_(odd, || s.set(sum, sum.get() + weighted.get()));
                }
            }
        };
        s.for_("t", s.n(0), taps.get(), |t, _| match rows {
            1 => turn(s.n(0), t),
            _ => s.for_("r", s.n(0), s.n(rows), |r, _| turn(r.get(), t)),
        });
        s.store(TO, y.get() * s.arg(N) + x.get(), sum.get());
    };
    match variant & 1 {
        0 => body(),
        _ => s.if_(x.get().lt(s.arg(N)), body),
    }
    let mut kernel = s.finish();
    passes::elide_checks(&mut kernel, &BTreeSet::new());
    kernel
}

struct Memories {
    from: Vec<u64>,
    to: Vec<u64>,
    sizes: [u64; 2],
}

impl Host for Memories {
    fn scalar(&self, param: ParamId) -> Value {
        Value::Usize(self.sizes[param.index() - N.index()])
    }

    fn len(&self, _: ParamId) -> u64 {
        self.from.len() as u64
    }

    fn load(&mut self, slice: ParamId, index: u64) -> Value {
        Value::U64(match slice {
            FROM => self.from[index as usize],
            WEIGHTS => self.from[index as usize] % 7 + 1,
            _ => self.to[index as usize],
        })
    }

    fn store(&mut self, slice: ParamId, index: u64, value: Value) {
        let (TO, Value::U64(value)) = (slice, value) else {
            panic!("only `to` is written");
        };
        self.to[index as usize] = value;
    }
}

fn run(kernel: &Kernel, threads: [u64; 3], sizes: [u64; 2]) -> Vec<u64> {
    let mut memories = Memories {
        from: (0..4000u64).map(|i| i * i % 101).collect(),
        to: vec![0; 400],
        sizes,
    };
    run_blocks(kernel, threads, &mut memories);
    memories.to
}

/// The bounds of loops in a launch with so many taps.
fn bounds(taps: u64) -> impl Fn(Expr) -> Option<u64> {
    move |expr| match expr {
        Expr::Literal(value) => value.as_int().map(|n| n as u64),
        Expr::Param(TAPS) => Some(taps),
        _ => None,
    }
}

fn plan(kernel: &Kernel, taps: u64, merges: &[(Axis, u32)], mut extent: [u64; 3]) -> Optimization {
    let short = ShortLoops::of(kernel, &bounds(taps)).expect("the loops are short");
    let merges = merges.iter().map(|&(axis, factor)| {
        let threads = &mut extent[axis.index()];
        let merge = Merge::new(axis, factor, *threads);
        *threads = merge.threads(*threads);
        merge
    });
    Optimization {
        merges: merges.collect(),
        unrolled: short.labels,
        settled: short
            .params
            .into_iter()
            .map(|param| (param, taps))
            .collect(),
        ..Optimization::default()
    }
}

#[test]
fn windows_compute_the_same() {
    for seed in 0..600 {
        let mut rng = Rng(seed);
        let kernel = sums(rng.pick(&[1, 2, 3]), seed);
        assert_eq!(validate(&kernel), Ok(()), "{kernel}");
        let extent = [1 + rng.below(20), 1 + rng.below(6), 1];
        // Rows have as many elements as threads, so that none are shared.
        let sizes = [extent[0], rng.below(9)];
        let merges = [
            (Axis::X, rng.pick(&[2, 3, 4])),
            (Axis::Y, rng.pick(&[2, 3])),
        ];
        let merges = &merges[..rng.below(3) as usize];
        let plan = plan(&kernel, sizes[1], merges, extent);
        let changed = plan.apply(&kernel).unwrap();
        assert_eq!(validate(&changed), Ok(()), "{kernel}\n{changed}");
        assert_eq!(
            run(&kernel, extent, sizes),
            run(&changed, plan.threads(extent), sizes),
            "seed {seed}, {extent:?}: {plan:?}\n{kernel}\n{changed}"
        );
    }
}

#[test]
fn each_element_of_a_window_is_loaded_once() {
    let kernel = sums(1, 0);
    let mut plan = plan(&kernel, 17, &[(Axis::X, 4)], [1 << 20, 1, 1]);
    plan.aligned = vec![FROM, WEIGHTS, TO];
    plan.multiples = vec![(N, 4)];
    let changed = plan.apply(&kernel).unwrap();
    for (dialect, wide) in [("cuda", "ulonglong2*)from"), ("opencl", "ulong2*)from")] {
        let dialect = write::dialect(dialect).unwrap();
        let variant = write::default_variant(&changed, dialect);
        let text = write::render(&changed, dialect, &variant).unwrap().text;
        // 20 elements, two at a time.
        assert_eq!(text.matches(wide).count(), 10, "{text}");
    }
}

/// A thread that leaves before a load may have no such element.
#[test]
fn loads_behind_a_return_stay_there() {
    let s = Sketch::new("k");
    let (from, to) = (s.slice("from", Scalar::U64), s.slice_mut("to", Scalar::U64));
    let x = || s.id(Builtin::GlobalIdx(Axis::X));
    let load = |at: u64| s.let_("v", s.load(from, x() + s.n(at)));
    let before = [0, 1, 2, 3].map(load);
    s.if_(x().gt(s.n(0)), || s.return_());
    let after = [4, 5, 6, 7].map(load);
    let all = before.into_iter().chain(after).map(|local| local.get());
    s.store(to, x(), all.reduce(|a, b| a + b).expect("some loads"));
    let mut kernel = s.finish();
    passes::elide_checks(&mut kernel, &BTreeSet::new());
    super::super::window::apply(&mut kernel);
    assert_eq!(validate(&kernel), Ok(()), "{kernel}");
    let text = kernel.to_string();
    let (before, after) = text.split_once("return").expect("a return");
    assert_eq!(before.matches("from[").count(), 4, "{text}");
    assert_eq!(after.matches("from[").count(), 4, "{text}");
}

#[test]
fn what_cannot_be_copied_is_not_unrolled() {
    let s = Sketch::new("k");
    s.for_("k", s.n(0), s.n(4), |_, _| s.print(vec![], &[]));
    let kernel = s.finish();
    let plan = Optimization {
        unrolled: ShortLoops::of(&kernel, &bounds(1)).unwrap().labels,
        ..Optimization::default()
    };
    assert_eq!(plan.apply(&kernel).err(), Some(Refusal::Print));
}

#[test]
fn long_and_open_loops_are_not_short() {
    let is_short = |taps: u64, rows: u64| ShortLoops::of(&sums(rows, 0), &bounds(taps)).is_some();
    assert!(is_short(128, 1) && is_short(64, 2));
    assert!(!is_short(129, 1) && !is_short(65, 2));
    assert_eq!(ShortLoops::of(&sums(1, 0), &|_| None), None);
    let s = Sketch::new("k");
    s.for_("k", s.n(0), s.n(4), |_, label| s.break_(label));
    assert_eq!(ShortLoops::of(&s.finish(), &bounds(1)), None);
    let s = Sketch::new("k");
    s.loop_(|label| s.break_(label));
    assert_eq!(ShortLoops::of(&s.finish(), &bounds(1)), None);
}
