use super::super::tests::{len, over, scalar, unproved};
use crate::analysis::range::{LaunchFacts, analyse};
use crate::sketch::{Sketch, SketchExpr, SketchLocal};
use crate::{Axis, Builtin, DivideOp, Kernel, ParamId, Scalar, SiteId};

const TX: Builtin = Builtin::ThreadIdx(Axis::X);
const X: Builtin = Builtin::GlobalIdx(Axis::X);
const Y: Builtin = Builtin::GlobalIdx(Axis::Y);

/// A kernel that loads from `a` at an index that depends on `n` and the thread.
fn loads(fill: impl for<'s> Fn(&'s Sketch, ParamId, ParamId)) -> Kernel {
    let s = Sketch::new("loads");
    let a = s.slice("a", Scalar::F32);
    let n = s.scalar("n", Scalar::Usize);
    fill(&s, a, n);
    s.finish()
}

fn load(s: &Sketch, a: ParamId, index: SketchExpr<'_>) {
    s.let_("v", s.load(a, index));
}

/// The inner loop of a tiled product: `first + tx < n` guards `a[row * n + first + tx]`.
fn tiled(
    guard: impl for<'s> Fn(
        &'s Sketch,
        SketchLocal<'s>,
        SketchLocal<'s>,
        SketchExpr<'s>,
    ) -> SketchExpr<'s>,
) -> Kernel {
    loads(|s, a, n| {
        let row = s.let_("row", s.id(Y));
        let tx = s.let_("tx", s.id(TX));
        let first = s.let_mut("first", s.n(0));
        s.while_(first.get().lt(s.arg(n)), |_| {
            let inside = row.get().lt(s.arg(n)).and(guard(s, first, tx, s.arg(n)));
            s.if_(inside, || {
                load(s, a, row.get() * s.arg(n) + first.get() + tx.get())
            });
            s.set(first, first.get() + s.n(64));
        });
    })
}

#[test]
fn a_guard_on_a_part_of_the_index() {
    let k = tiled(|_, first, tx, n| (first.get() + tx.get()).lt(n));
    let args = |n: u64| [len(n * n), scalar(n)];
    assert_eq!(unproved(&k, [128, 100, 1], &args(100)), []);
    assert!(over(&k, [128, 100, 1], &args(100)).fits_u32());
    assert_eq!(
        unproved(&k, [128, 100, 1], &[len(9999), scalar(100)]),
        [0],
        "one element short"
    );
    let turned = tiled(|_, first, tx, n| n.gt(tx.get() + first.get()));
    assert_eq!(unproved(&turned, [128, 100, 1], &args(100)), []);
    let off_by_one = tiled(|_, first, tx, n| (first.get() + tx.get()).le(n));
    assert_eq!(unproved(&off_by_one, [128, 100, 1], &args(100)), [0]);
    let unguarded = tiled(|s, _, _, _| s.lit(crate::Value::Bool(true)));
    assert_eq!(unproved(&unguarded, [128, 100, 1], &args(100)), [0]);
}

/// Both loads of a tiled product by square blocks. The known coordinates of one tile must not exhaust the
/// search for the other tile.
#[test]
fn both_factors_of_a_tiled_product() {
    let k = loads(|s, a, n| {
        let b = s.slice("b", Scalar::F32);
        let tx = s.let_("tx", s.id(TX));
        let ty = s.let_("ty", s.id(Builtin::ThreadIdx(Axis::Y)));
        let col = s.let_("col", s.id(X));
        let row = s.let_("row", s.id(Y));
        let first = s.let_mut("first", s.n(0));
        let n = || s.arg(n);
        s.while_(first.get().lt(n()), |_| {
            let inside = row.get().lt(n()).and((first.get() + tx.get()).lt(n()));
            s.if_(inside, || {
                load(s, a, row.get() * n() + first.get() + tx.get());
            });
            let inside = col.get().lt(n()).and((first.get() + ty.get()).lt(n()));
            s.if_(inside, || {
                load(s, b, (first.get() + ty.get()) * n() + col.get());
            });
            s.set(first, first.get() + s.n(16));
        });
    });
    let args = [len(512 * 512), scalar(512), len(512 * 512)];
    let facts = LaunchFacts {
        grid: [32, 32, 1],
        block: [16, 16, 1],
        extent: [512, 512, 1],
        args: &args,
    };
    assert_eq!(crate::validate(&k), Ok(()), "{k}");
    assert!((0..2).all(|site| analyse(&k, &facts).proved(SiteId(site))));
}

/// `block_idx * 64 + thread_idx` equals the global id, whichever of them the guard uses.
#[test]
fn a_global_id_spelled_out() {
    let k = loads(|s, a, n| {
        let block = s.let_("block", s.id(Builtin::BlockIdx(Axis::X)));
        s.if_(s.id(X).lt(s.arg(n)), || {
            load(s, a, block.get() * s.n(64) + s.id(TX))
        });
    });
    assert_eq!(unproved(&k, [640, 1, 1], &[len(600), scalar(600)]), []);
    assert_eq!(unproved(&k, [640, 1, 1], &[len(599), scalar(600)]), [0]);
}

#[test]
fn an_assigned_local_is_another_one() {
    let k = |assigns: bool| {
        loads(move |s, a, n| {
            let x = s.let_mut("x", s.load(a, s.n(0)).cast(Scalar::Usize));
            let y = s.let_("y", s.load(a, s.n(0)).cast(Scalar::Usize));
            let inside = x.get().lt(s.n(1000)).and(y.get().lt(s.n(1000)));
            s.if_(inside.and((x.get() + y.get()).lt(s.arg(n))), || {
                if assigns {
                    s.set(x, x.get() + s.n(1));
                }
                load(s, a, x.get() + y.get());
            });
        })
    };
    assert_eq!(unproved(&k(false), [64, 1, 1], &[len(10), scalar(10)]), []);
    assert_eq!(unproved(&k(true), [64, 1, 1], &[len(10), scalar(10)]), [2]);
}

#[test]
fn a_variable_is_what_it_was_given() {
    let k = |far: u64| {
        loads(move |s, a, n| {
            let at = s.let_mut("at", s.id(X) + s.n(3));
            s.set(at, at.get() * s.n(2));
            s.if_((s.id(X) * s.n(2) + s.n(far)).lt(s.arg(n)), || {
                load(s, a, at.get())
            });
        })
    };
    assert_eq!(unproved(&k(6), [64, 1, 1], &[len(50), scalar(50)]), []);
    assert_eq!(unproved(&k(5), [64, 1, 1], &[len(50), scalar(50)]), [0]);
}

/// `for j in 0..i` keeps `i - j - 1` from wrapping, and below `i`.
#[test]
fn a_counter_below_another_value() {
    let k = |less: u64| {
        loads(move |s, a, n| {
            let i = s.let_("i", s.id(X));
            s.if_(i.get().lt(s.arg(n)), || {
                s.for_("j", s.n(0), i.get(), |j, _| {
                    load(s, a, i.get() - j.get() - s.n(less));
                });
            });
        })
    };
    assert_eq!(unproved(&k(1), [64, 1, 1], &[len(49), scalar(50)]), []);
    assert_eq!(unproved(&k(2), [64, 1, 1], &[len(49), scalar(50)]), [0]);
    assert_eq!(unproved(&k(0), [64, 1, 1], &[len(49), scalar(50)]), [0]);
}

#[test]
fn quotient_and_remainder() {
    let k = |wide: u64| {
        loads(move |s, a, n| {
            let i = s.let_("i", s.id(X));
            s.if_(i.get().lt(s.arg(n)), || {
                let x = s.let_("x", i.get().divide(DivideOp::Rem, s.n(7)));
                let y = s.let_("y", i.get().divide(DivideOp::Div, s.n(7)));
                s.if_((x.get() + s.n(1)).lt(s.n(7)), || {
                    load(s, a, y.get() * s.n(wide) + x.get() + s.n(1));
                });
            });
        })
    };
    assert_eq!(unproved(&k(7), [64, 1, 1], &[len(54), scalar(53)]), []);
    assert_eq!(unproved(&k(7), [64, 1, 1], &[len(53), scalar(53)]), [2]);
    assert_eq!(unproved(&k(8), [64, 1, 1], &[len(54), scalar(53)]), [2]);
}

/// A comparison in one iteration says nothing about the next.
#[test]
fn guards_of_another_iteration() {
    let k = loads(|s, a, n| {
        let x = s.let_mut("x", s.id(TX));
        let seen = s.let_mut("seen", s.n(0));
        s.for_("k", s.n(0), s.n(3), |k, _| {
            s.if_(seen.get().gt(s.n(0)), || {
                load(s, a, x.get() + k.get());
            });
            s.if_((x.get() + k.get()).lt(s.arg(n)), || {
                s.set(seen, s.n(1));
            });
            s.set(x, x.get() + s.n(9));
        });
    });
    assert_eq!(unproved(&k, [64, 1, 1], &[len(10), scalar(10)]), [0]);
}
