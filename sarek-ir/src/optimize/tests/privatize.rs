//! Private copies, run before and after, with each operation, and refusals.

use std::collections::BTreeSet;

use super::super::{Merge, Optimization, Privatize, Refusal};
use super::{random, run_blocks};
use crate::analysis::random::Rng;
use crate::interp::Host;
use crate::sketch::{Sketch, SketchExpr};
use crate::{
    AtomicOp, Axis, Builtin, DivideOp, Expr, Kernel, ParamId, Scalar, Value, passes, validate,
    write,
};

#[test]
fn private_copies_compute_the_same() {
    let (mut changed, mut merged) = (0, 0);
    for seed in 0..300 {
        let plain = random::kernel(seed);
        let mut rng = Rng(!seed);
        let extent = [1 + rng.below(40), 1 + rng.below(5), 1 + rng.below(2)];
        let Some(slice) = Privatize::target(&plain) else {
            continue;
        };
        let mut kernel = plain.clone();
        let merges = [(Axis::X, rng.pick(&[2, 3, 4]))];
        let merges = &merges[..rng.below(2) as usize];
        let Ok(threads) = random::merge(&mut kernel, extent, merges) else {
            continue;
        };
        let turns = (rng.pick(&[Axis::X, Axis::Y]), rng.pick(&[1, 2, 3, 5]));
        let block = rng.pick(&[1, 4, 8, 400, 1024]);
        let len = (slice, random::LEN as u32);
        let plan = Privatize::new(len, block, turns, threads, false);
        plan.apply(&mut kernel, &[]).expect("a target was found");
        changed += 1;
        merged += merges.len();
        assert_eq!(
            validate(&kernel),
            Ok(()),
            "seed {seed}: {plan:?}\n{plain}\n{kernel}"
        );
        let size = seed % 5;
        let mut memories = random::memories(size);
        run_blocks(&kernel, plan.threads(threads), &mut memories);
        assert_eq!(
            random::run(&plain, extent, size),
            memories,
            "seed {seed}, {extent:?}: {plan:?}\n{plain}\n{kernel}"
        );
    }
    assert!(
        changed > 40 && merged > 12,
        "{changed} changed, {merged} of them merged"
    );
}

/// Integers of one type.
struct Integers {
    x: Vec<Value>,
    counts: Vec<Value>,
}

impl Host for Integers {
    fn scalar(&self, _: ParamId) -> Value {
        unreachable!("there is none")
    }

    fn len(&self, slice: ParamId) -> u64 {
        [&self.x, &self.counts][slice.index()].len() as u64
    }

    fn load(&mut self, slice: ParamId, index: u64) -> Value {
        [&self.x, &self.counts][slice.index()][index as usize]
    }

    fn store(&mut self, slice: ParamId, index: u64, value: Value) {
        assert_eq!(slice, ParamId(1));
        self.counts[index as usize] = value;
    }
}

/// `if i < x.len() { counts[i % 5].op(x[i]) }`
fn counts(op: AtomicOp, scalar: Scalar) -> Kernel {
    let s = Sketch::new("counts");
    let (x, counts) = (s.slice("x", scalar), s.atomics("counts", scalar));
    let i = s.let_("i", s.id(Builtin::GlobalIdx(Axis::X)));
    s.if_(i.get().lt(s.len(x)), || {
        let at = i.get().divide(DivideOp::Rem, s.n(5));
        s.atomic_discard(op, counts, at, &[s.load(x, i.get())]);
    });
    let mut kernel = s.finish();
    passes::elide_checks(&mut kernel, &BTreeSet::new());
    kernel
}

const COMMUTING: [AtomicOp; 7] = [
    AtomicOp::Add,
    AtomicOp::Sub,
    AtomicOp::Min,
    AtomicOp::Max,
    AtomicOp::And,
    AtomicOp::Or,
    AtomicOp::Xor,
];

#[test]
fn each_operation_has_its_neutral_element() {
    for scalar in [Scalar::I32, Scalar::U32, Scalar::I64, Scalar::U64] {
        for op in COMMUTING {
            let plain = counts(op, scalar);
            let value = |i: u64| Value::of_bits(scalar, Rng(i).next());
            let run = |kernel: &Kernel, threads| {
                let mut host = Integers {
                    x: (0..100).map(value).collect(),
                    counts: (200..205).map(value).collect(),
                };
                run_blocks(kernel, threads, &mut host);
                host.counts
            };
            let guard = Privatize::guard(&plain, 100, &|expr| {
                matches!(expr, Expr::Len(_)).then_some(100)
            });
            assert!(guard.is_some());
            let turns = (Axis::X, 3);
            let plan = Privatize::new((ParamId(1), 5), 8, turns, [100, 1, 1], true);
            let mut kernel = plain.clone();
            plan.apply(&mut kernel, &[]).unwrap();
            let (before, after) = (run(&plain, [100, 1, 1]), run(&kernel, [120, 1, 1]));
            assert_eq!(plan.threads([100, 1, 1]), [40, 1, 1]);
            assert_eq!(
                before,
                run(&kernel, plan.threads([100, 1, 1])),
                "{op:?} {scalar:?}"
            );
            // More blocks find nothing to do.
            assert_eq!(before, after, "{op:?} {scalar:?}");
        }
    }
}

fn x(s: &Sketch) -> SketchExpr<'_> {
    s.id(Builtin::GlobalIdx(Axis::X))
}

fn y(s: &Sketch) -> SketchExpr<'_> {
    s.id(Builtin::GlobalIdx(Axis::Y))
}

#[test]
fn only_a_guard_of_all_code_excludes_threads() {
    let of = |fill: &dyn Fn(&Sketch, ParamId)| {
        let s = Sketch::new("k");
        let counts = s.atomics("counts", Scalar::U32);
        fill(&s, counts);
        let kernel = s.finish();
        Privatize::guard(&kernel, 100, &|expr| match expr {
            Expr::Literal(value) => value.as_int().map(|n| n as u64),
            _ => None,
        })
    };
    let count = |s: &Sketch, counts| s.atomic_discard(AtomicOp::Add, counts, s.n(0), &[s.u32(1)]);
    assert!(of(&|s, counts| s.if_(x(s).lt(s.n(100)), || count(s, counts))).is_some());
    assert!(
        of(&|s, counts| {
            s.if_(x(s).ge(s.n(99)), || s.return_());
            count(s, counts);
        })
        .is_some()
    );
    assert!(
        of(&|s, counts| {
            let small = x(s).gt(s.n(3)).and(s.n(100).gt(x(s)));
            s.if_(small, || count(s, counts));
        })
        .is_some()
    );
    // The limit is beyond the extent.
    assert_eq!(
        of(&|s, counts| s.if_(x(s).lt(s.n(101)), || count(s, counts))),
        None
    );
    // Not all is in the branch.
    assert_eq!(
        of(&|s, counts| {
            s.if_(x(s).lt(s.n(100)), || count(s, counts));
            count(s, counts);
        }),
        None
    );
    // The condition is that of another axis, or the other way round.
    assert_eq!(
        of(&|s, counts| s.if_(y(s).lt(s.n(100)), || count(s, counts))),
        None
    );
    assert_eq!(
        of(&|s, counts| s.if_(x(s).ge(s.n(100)), || count(s, counts))),
        None
    );
    assert_eq!(
        of(&|s, counts| {
            s.if_(x(s).lt(s.n(100)), || s.return_());
            count(s, counts);
        }),
        None
    );
}

/// A guard is about threads along x, so turns along y stop at the extent.
#[test]
fn a_guard_excludes_no_rows() {
    let plan = |guarded| {
        let turns = (Axis::Y, 3);
        Privatize::new((ParamId(0), 5), 8, turns, [20, 4, 1], guarded)
    };
    assert_eq!(plan(false).missing, [4, 2, 0]);
    assert_eq!(plan(true).missing, [0, 2, 0]);
    assert_eq!(plan(true).threads([20, 4, 1]), [24, 2, 1]);
}

#[test]
fn operations_whose_order_matters_are_refused() {
    let target = |fill: &dyn Fn(&Sketch, [ParamId; 3])| {
        let s = Sketch::new("k");
        let counts = s.atomics("counts", Scalar::U32);
        let (others, sums) = (
            s.atomics("others", Scalar::U32),
            s.atomics("sums", Scalar::F32),
        );
        fill(&s, [counts, others, sums]);
        Privatize::target(&s.finish())
    };
    let add = |s: &Sketch, counts| s.atomic_discard(AtomicOp::Add, counts, s.n(0), &[s.u32(1)]);
    assert_eq!(target(&|s, [counts, ..]| add(s, counts)), Some(ParamId(0)));
    assert_eq!(
        target(&|s, [counts, ..]| {
            add(s, counts);
            s.atomic_discard(AtomicOp::Max, counts, s.n(0), &[s.u32(1)]);
        }),
        None
    );
    assert_eq!(
        target(&|s, [counts, others, _]| {
            add(s, counts);
            add(s, others);
        }),
        None
    );
    assert_eq!(
        target(&|s, [_, _, sums]| {
            s.atomic_discard(AtomicOp::Add, sums, s.n(0), &[s.f32(1.0)]);
        }),
        None
    );
    assert_eq!(
        target(&|s, [counts, ..]| {
            s.atomic_discard(AtomicOp::Swap, counts, s.n(0), &[s.u32(1)]);
        }),
        None
    );
    let uses = |is_read: bool| {
        let s = Sketch::new("k");
        let counts = s.atomics("counts", Scalar::U32);
        let y = s.slice_mut("y", Scalar::U32);
        let before = s.atomic(AtomicOp::Add, counts, s.n(0), &[s.u32(1)]);
        if is_read {
            s.store(y, s.id(Builtin::GlobalIdx(Axis::X)), before.get());
        }
        Privatize::target(&s.finish())
    };
    assert_eq!((uses(false), uses(true)), (Some(ParamId(0)), None));
}

#[test]
fn a_kernel_without_atomic_operations_is_refused() {
    let plan = Privatize::new((ParamId(1), 5), 8, (Axis::X, 1), [100, 1, 1], true);
    let mut kernel = super::saxpy();
    passes::elide_checks(&mut kernel, &BTreeSet::new());
    assert_eq!(plan.apply(&mut kernel, &[]), Err(Refusal::Atomics));
}

#[test]
fn loads_beside_private_copies_are_wide() {
    let plain = counts(AtomicOp::Add, Scalar::U32);
    let plan = Optimization {
        aligned: vec![ParamId(0)],
        merges: vec![Merge::new(Axis::X, 4, 1 << 20)],
        privatize: Some(Privatize::new(
            (ParamId(1), 5),
            256,
            (Axis::X, 8),
            [1 << 18, 1, 1],
            true,
        )),
        ..Optimization::default()
    };
    let kernel = plan.apply(&plain).unwrap();
    for dialect in ["cuda", "opencl"] {
        let dialect = write::dialect(dialect).unwrap();
        let variant = write::default_variant(&kernel, dialect);
        let text = write::render(&kernel, dialect, &variant).unwrap().text;
        assert!(text.contains("uint4*)x)"), "{text}");
    }
}
