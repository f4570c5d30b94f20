use super::{Race, Reason, check};
use crate::sketch::{Sketch, SketchExpr, SketchLocal};
use crate::{Axis, Builtin, Kernel, ParamId, Precondition, Scalar, StmtId};

const X: Builtin = Builtin::GlobalIdx(Axis::X);
const Y: Builtin = Builtin::GlobalIdx(Axis::Y);
const Z: Builtin = Builtin::GlobalIdx(Axis::Z);
const ONE_Y: Precondition = Precondition::SingleThread(Axis::Y);
const ONE_Z: Precondition = Precondition::SingleThread(Axis::Z);

fn checked(kernel: &Kernel) -> Result<Vec<Precondition>, Vec<Race>> {
    assert_eq!(crate::validate(kernel), Ok(()), "{kernel}");
    check(kernel)
}

/// Checks a kernel with one slice `v` and three sizes, and returns the reason for a race.
fn verdict(fill: impl Fn(&Sketch, ParamId, [ParamId; 3])) -> Result<Vec<Precondition>, Reason> {
    let s = Sketch::new("k");
    let v = s.slice_mut("v", Scalar::F32);
    let sizes = ["l", "m", "n"].map(|name| s.scalar(name, Scalar::Usize));
    fill(&s, v, sizes);
    checked(&s.finish()).map_err(|races| {
        assert_eq!(races.len(), 1);
        assert_eq!(races[0].memory, v.into());
        races[0].reason
    })
}

fn zero(s: &Sketch) -> SketchExpr<'_> {
    s.f32(0.0)
}

fn ids(s: &Sketch) -> [SketchLocal<'_>; 3] {
    [
        s.let_("x", s.id(X)),
        s.let_("y", s.id(Y)),
        s.let_("z", s.id(Z)),
    ]
}

/// True if the check passes without preconditions other than overflow and single threads.
fn only_overflow(needs: Result<Vec<Precondition>, Reason>) -> bool {
    needs.is_ok_and(|needs| {
        needs.iter().all(|n| match n {
            Precondition::NoOverflow(_) | Precondition::SingleThread(_) => true,
            Precondition::ExtentAtMost(..)
            | Precondition::BlockAtMost(..)
            | Precondition::GridAtMost(..)
            | Precondition::BlockMultipleOf(_)
            | Precondition::SubgroupSize(_)
            | Precondition::SubgroupSizeIs(_)
            | Precondition::EqualSubgroups
            | Precondition::WholeSubgroups
            | Precondition::BlockOfSubgroups
            | Precondition::Positive(_)
            | Precondition::Holds(_) => false,
        })
    })
}

#[test]
fn one_element_for_each_thread() {
    let plain = verdict(|s, v, _| s.store(v, s.id(X), zero(s)));
    assert_eq!(plain, Ok(vec![ONE_Y, ONE_Z]));
    let whole = verdict(|s, v, _| s.store(v, s.id(Builtin::GlobalThreadId), zero(s)));
    assert_eq!(whole, Ok(vec![]));
    let through_lets = verdict(|s, v, _| {
        let i = s.let_("i", s.id(X));
        let j = s.let_("j", i.get() + s.n(1));
        s.store(v, j.get(), s.load(v, s.n(1) + i.get()));
    });
    assert_eq!(through_lets, Ok(vec![ONE_Y, ONE_Z]));
}

#[test]
fn a_common_offset_and_a_reversal() {
    let offset = verdict(|s, v, [l, ..]| {
        s.store(v, s.id(X) + s.arg(l), s.load(v, s.arg(l) + s.id(X)));
    });
    assert_eq!(offset, Ok(vec![ONE_Y, ONE_Z]));
    let reversed = verdict(|s, v, [l, ..]| s.store(v, s.arg(l) - s.n(1) - s.id(X), zero(s)));
    assert_eq!(reversed, Ok(vec![ONE_Y, ONE_Z]));
}

#[test]
fn several_elements_for_each_thread() {
    let pair = verdict(|s, v, _| {
        s.store(v, s.n(2) * s.id(X) + s.n(1), zero(s));
        s.store(v, s.n(2) * s.id(X), zero(s));
    });
    assert_eq!(pair, Ok(vec![ONE_Y, ONE_Z]));
    let overlap = verdict(|s, v, _| {
        s.store(v, s.n(2) * s.id(X), zero(s));
        s.store(v, s.n(2) * s.id(X) + s.n(2), zero(s));
    });
    assert_eq!(overlap, Err(Reason::Neighbour));
    let unrolled = |last| {
        verdict(move |s, v, _| {
            s.for_("k", s.n(0), s.n(last), |k, _| {
                s.store(v, s.id(X) * s.n(4) + k.get(), zero(s));
            });
        })
    };
    assert_eq!(unrolled(4), Ok(vec![ONE_Y, ONE_Z]));
    assert_eq!(unrolled(5), Err(Reason::Neighbour));
}

#[test]
fn a_run_for_each_thread() {
    let run = |from: usize, to: usize| {
        verdict(move |s, v, sizes| {
            s.for_("k", s.n(0), s.arg(sizes[to]), |k, _| {
                s.store(v, s.id(X) * s.arg(sizes[from]) + k.get(), zero(s));
            });
        })
    };
    let needs = run(2, 2).expect("k < n");
    assert!(
        matches!(needs[..], [Precondition::NoOverflow(_), ONE_Y, ONE_Z]),
        "{needs:?}"
    );
    assert_eq!(run(2, 1), Err(Reason::Neighbour));
    let nested = verdict(|s, v, [_, m, n]| {
        s.for_("k", s.n(0), s.arg(m), |k, _| {
            s.for_("l", s.n(0), s.arg(n), |l, _| {
                let row = s.let_("row", s.id(X) * s.arg(m) + k.get());
                s.store(v, row.get() * s.arg(n) + l.get(), zero(s));
            });
        });
    });
    assert!(only_overflow(nested));
    let data = verdict(|s, v, [_, _, n]| {
        let k = s.let_("k", s.load(v, s.id(X) * s.arg(n)).cast(Scalar::Usize));
        s.if_(k.get().lt(s.arg(n)), || {
            s.store(v, s.id(X) * s.arg(n) + k.get(), zero(s))
        });
    });
    assert!(
        only_overflow(data),
        "the load may happen although n is 0, but no store"
    );
}

#[test]
fn rows_and_columns() {
    let flat = |guarded: bool| {
        verdict(move |s, v, [_, m, n]| {
            let [x, y, _] = ids(s);
            if guarded {
                let outside = x.get().ge(s.arg(n)).or(y.get().ge(s.arg(m)));
                s.if_(outside, || s.return_());
            }
            s.store(v, y.get() * s.arg(n) + x.get(), zero(s));
        })
    };
    let needs = flat(true).expect("x < n");
    assert!(
        matches!(needs[..], [Precondition::NoOverflow(_), ONE_Z]),
        "{needs:?}"
    );
    assert_eq!(flat(false), Err(Reason::Overlapping));
    let transposed = verdict(|s, v, [_, m, n]| {
        let [x, y, _] = ids(s);
        let inside = x.get().lt(s.arg(n)).and(y.get().lt(s.arg(m)));
        s.if_(inside, || s.store(v, x.get() * s.arg(m) + y.get(), zero(s)));
    });
    assert!(only_overflow(transposed));
    let by_extent = verdict(|s, v, _| {
        let width = s.id(Builtin::GlobalDim(Axis::X));
        s.store(v, s.id(Y) * width + s.id(X), zero(s));
    });
    assert!(only_overflow(by_extent));
    let off_by_one = verdict(|s, v, [_, _, n]| {
        let [x, y, _] = ids(s);
        s.if_(x.get().le(s.arg(n)), || {
            s.store(v, y.get() * s.arg(n) + x.get(), zero(s))
        });
    });
    assert_eq!(off_by_one, Err(Reason::Overlapping));
    let channels = verdict(|s, v, [_, _, n]| {
        let [x, y, _] = ids(s);
        s.if_(x.get().lt(s.arg(n)), || {
            s.for_("c", s.n(0), s.n(3), |c, _| {
                s.store(
                    v,
                    (y.get() * s.arg(n) + x.get()) * s.n(3) + c.get(),
                    zero(s),
                );
            });
        });
    });
    assert!(only_overflow(channels));
}

#[test]
fn volumes() {
    let volume = |guard_y: bool| {
        verdict(move |s, v, [_, m, n]| {
            let [x, y, z] = ids(s);
            let inner = x.get().lt(s.arg(n));
            let inside = if guard_y {
                inner.and(y.get().lt(s.arg(m)))
            } else {
                inner
            };
            s.if_(inside, || {
                let plane = z.get() * s.arg(m) + y.get();
                s.store(v, plane * s.arg(n) + x.get(), zero(s));
            });
        })
    };
    assert!(matches!(
        volume(true).as_deref(),
        Ok([Precondition::NoOverflow(_)])
    ));
    assert_eq!(volume(false), Err(Reason::Overlapping));
}

#[test]
fn a_wrapped_guard_is_a_precondition() {
    let needs = verdict(|s, v, [_, _, n]| {
        let [x, y, _] = ids(s);
        let last = s.arg(n) - s.n(1);
        s.if_(x.get().lt(last), || {
            s.store(v, y.get() * s.arg(n) + x.get(), zero(s))
        });
    });
    let overflows = needs.expect("x < n - 1 < n");
    let overflows = overflows
        .iter()
        .filter(|n| matches!(n, Precondition::NoOverflow(_)));
    assert_eq!(overflows.count(), 2, "of the index, and of n - 1");
}

#[test]
fn global_ids_spelled_out() {
    let spelled = |fixed: Option<[u32; 3]>, width: Option<u64>| {
        let s = Sketch::new("k");
        let v = s.slice_mut("v", Scalar::F32);
        let width = match width {
            Some(width) => s.n(width),
            None => s.id(Builtin::BlockDim(Axis::X)),
        };
        let i = s.id(Builtin::BlockIdx(Axis::X)) * width + s.id(Builtin::ThreadIdx(Axis::X));
        s.store(v, i, zero(&s));
        let mut kernel = s.finish();
        kernel.block = fixed;
        checked(&kernel).map_err(|races| races[0].reason)
    };
    assert!(spelled(None, None).is_ok());
    assert!(spelled(Some([16, 1, 1]), Some(16)).is_ok());
    assert!(spelled(Some([16, 1, 1]), None).is_ok());
    assert!(matches!(
        spelled(None, Some(16)),
        Err(Reason::BlockLocal(_))
    ));
    assert!(matches!(
        spelled(Some([16, 1, 1]), Some(8)),
        Err(Reason::BlockLocal(_))
    ));
}

#[test]
fn what_is_of_a_subgroup_tells_no_threads_apart() {
    for id in [Builtin::SubgroupLane, Builtin::SubgroupSize] {
        let of = |with: fn(&Sketch) -> SketchExpr<'_>| {
            let s = Sketch::new("k");
            let v = s.slice_mut("v", Scalar::F32);
            s.store(v, s.id(id) * s.n(2) + with(&s), zero(&s));
            checked(&s.finish()).map_err(|races| races[0].reason)
        };
        assert_eq!(of(|s| s.n(1)), Err(Reason::OfSubgroup(id)));
        // The size is the same for all threads, if the device has no subgroups of different sizes.
        match of(|s| s.id(X)) {
            Ok(needs) => {
                assert_eq!(id, Builtin::SubgroupSize);
                assert!(needs.contains(&Precondition::EqualSubgroups));
            }
            Err(reason) => assert_eq!(reason, Reason::OfSubgroup(Builtin::SubgroupLane)),
        }
    }
}

#[test]
fn casts_limit_the_extent() {
    let needs = verdict(|s, v, _| {
        let i = s.let_("i", s.id(X).cast(Scalar::I32));
        s.store(v, i.get().cast(Scalar::Usize), zero(s));
    });
    let limit = Precondition::ExtentAtMost(Axis::X, 1 << 31);
    assert_eq!(needs, Ok(vec![limit, ONE_Y, ONE_Z]));
    let computed = verdict(|s, v, _| {
        let i = s.let_("i", s.id(X).cast(Scalar::I32) * s.i32(2));
        s.store(v, i.get().cast(Scalar::Usize), zero(s));
    });
    assert!(computed.is_ok_and(|n| n.iter().any(|n| matches!(n, Precondition::NoOverflow(_)))));
}

#[test]
fn one_thread_only() {
    let first = verdict(|s, v, _| {
        s.if_(s.id(X).eq(s.n(0)), || {
            s.for_("k", s.n(0), s.len(v), |k, _| s.store(v, k.get(), zero(s)));
        });
    });
    assert_eq!(first, Ok(vec![ONE_Y, ONE_Z]));
    let two = verdict(|s, v, _| {
        s.if_(s.id(X).eq(s.n(0)), || s.store(v, s.n(7), zero(s)));
        s.if_(s.id(X).eq(s.n(1)), || s.store(v, s.n(7), zero(s)));
    });
    assert_eq!(two, Err(Reason::Shared));
}

#[test]
fn what_collides_is_refused() {
    let refused = |index: &dyn for<'s> Fn(&'s Sketch, ParamId) -> SketchExpr<'s>| {
        verdict(|s, v, _| s.store(v, index(s, v), zero(s))).expect_err("a race")
    };
    assert_eq!(refused(&|s, _| s.id(X) / s.n(2)), Reason::Opaque);
    assert_eq!(refused(&|s, v| s.id(X) % s.len(v)), Reason::Opaque);
    assert_eq!(
        refused(&|s, v| s.load(v, s.id(X)).cast(Scalar::Usize)),
        Reason::Opaque
    );
    assert_eq!(refused(&|s, _| s.n(0)), Reason::Shared);
    assert_eq!(refused(&|s, _| s.id(X) + s.id(Y)), Reason::Overlapping);
    assert_eq!(refused(&|s, _| s.id(X) - s.id(X)), Reason::Shared);
    assert_eq!(
        refused(&|s, v| s.id(X) * (s.len(v) - s.n(1))),
        Reason::Neighbour
    );
    assert_eq!(
        refused(&|s, _| s.id(Builtin::GlobalThreadId) + s.id(X)),
        Reason::Mixed
    );
}

#[test]
fn a_neighbour_may_not_be_read_either() {
    let s = Sketch::new("k");
    let v = s.slice_mut("v", Scalar::F32);
    s.store(v, s.id(X), s.load(v, s.id(X) + s.n(1)));
    let races = checked(&s.finish()).expect_err("a race");
    let [race] = &races[..] else {
        panic!("{races:?}")
    };
    assert_eq!(race.reason, Reason::Neighbour);
    assert_eq!(race.second.0, super::Place::Store(StmtId(0)));
    assert!(race.reason.to_string().contains("another thread"));
}

#[test]
fn reading_alone_and_mutable_indices() {
    let read = verdict(|s, v, _| {
        s.let_("a", s.load(v, s.n(0)));
    });
    assert_eq!(read, Ok(vec![]));
    let moving = verdict(|s, v, _| {
        let i = s.let_mut("i", s.id(X));
        s.set(i, i.get() + s.n(1));
        s.store(v, i.get(), zero(s));
    });
    assert!(only_overflow(moving));
}

#[test]
fn guards_end_with_their_block() {
    let after = verdict(|s, v, [_, _, n]| {
        let [x, y, _] = ids(s);
        s.if_(x.get().lt(s.arg(n)), || {});
        s.store(v, y.get() * s.arg(n) + x.get(), zero(s));
    });
    assert_eq!(after, Err(Reason::Overlapping));
    let negated = verdict(|s, v, [_, _, n]| {
        let [x, y, _] = ids(s);
        s.if_else(
            x.get().lt(s.arg(n)),
            || {},
            || s.store(v, y.get() * s.arg(n) + x.get(), zero(s)),
        );
    });
    assert_eq!(negated, Err(Reason::Overlapping));
}

#[test]
fn numbers_beyond_all_types_prove_nothing() {
    let shifted = |by: u64| {
        verdict(move |s, v, _| {
            let x = s.let_("x", s.id(X));
            // 1 modulo 2^64, and 2^128 - 2^65 + 1 as an exact number.
            let huge = s.let_("huge", s.n(u64::MAX) * s.n(u64::MAX));
            s.store(v, x.get() + huge.get(), zero(s));
            s.store(v, x.get() + huge.get() + s.n(by), zero(s));
        })
    };
    assert_eq!(shifted(0), Ok(vec![ONE_Y, ONE_Z]));
    assert_eq!(shifted(1), Err(Reason::Neighbour));
}

/// Each local is used twice in the next one. To read each use by itself would take days.
#[test]
fn chains_of_locals_are_read_once() {
    let sums = verdict(|s, v, _| {
        let mut x = s.let_("x", s.id(X));
        for _ in 0..40 {
            x = s.let_("x", x.get() + x.get());
        }
        s.store(v, x.get(), zero(s));
    });
    assert!(only_overflow(sums));
    let halves = verdict(|s, v, [n, ..]| {
        let mut n = s.let_("n", s.arg(n));
        for _ in 0..40 {
            n = s.let_("n", n.get() / s.n(2) + n.get() / s.n(2));
        }
        s.store(v, s.id(X) + n.get(), zero(s));
    });
    assert!(only_overflow(halves));
}
