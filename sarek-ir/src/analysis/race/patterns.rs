//! Index patterns of real programs, each with correct and faulty variants.

use super::{Reason, check};
use crate::sketch::{Sketch, SketchExpr};
use crate::{Axis, Builtin, Memory, ParamId, Precondition, Scalar};

const TX: Builtin = Builtin::ThreadIdx(Axis::X);
const TY: Builtin = Builtin::ThreadIdx(Axis::Y);
const BX: Builtin = Builtin::BlockIdx(Axis::X);
const BY: Builtin = Builtin::BlockIdx(Axis::Y);
const X: Builtin = Builtin::GlobalIdx(Axis::X);

/// Checks a kernel with a slice `v`, a size `n` and blocks of 16 by 16.
fn verdict(fill: impl Fn(&Sketch, ParamId, ParamId)) -> Result<Vec<Precondition>, Reason> {
    let s = Sketch::new("k");
    let v = s.slice_mut("v", Scalar::F32);
    let n = s.scalar("n", Scalar::Usize);
    fill(&s, v, n);
    let mut kernel = s.finish();
    kernel.block = Some([16, 16, 1]);
    assert_eq!(crate::validate(&kernel), Ok(()), "{kernel}");
    check(&kernel).map_err(|races| races[0].reason)
}

/// Checks a kernel with a shared array of 512 elements and blocks of 256.
fn shared(fill: impl Fn(&Sketch, Memory)) -> Result<Vec<Precondition>, Reason> {
    let s = Sketch::new("k");
    let v = s.shared("v", Scalar::F32, 512);
    fill(&s, v.into());
    let mut kernel = s.finish();
    kernel.block = Some([256, 1, 1]);
    assert_eq!(crate::validate(&kernel), Ok(()), "{kernel}");
    check(&kernel).map_err(|races| races[0].reason)
}

/// `if i < n { v[i] += v[i + n + far] }`
fn halves(far: i64, inclusive: bool) -> bool {
    let checked = verdict(|s, v, n| {
        let i = s.let_("i", s.id(X));
        let guard = match inclusive {
            true => i.get().le(s.arg(n)),
            false => i.get().lt(s.arg(n)),
        };
        s.if_(guard, || {
            let other = i.get() + s.arg(n);
            let other = match far < 0 {
                true => other - s.n(far.unsigned_abs()),
                false => other + s.n(far as u64),
            };
            s.store(v, i.get(), s.load(v, i.get()) + s.load(v, other));
        });
    });
    checked.is_ok()
}

#[test]
fn a_half_is_added_to_the_other() {
    assert!(halves(0, false));
    assert!(halves(7, false));
    assert!(!halves(-1, false), "one element is in both");
    assert!(
        !halves(0, true),
        "the guard lets one thread too many through"
    );
    assert!(halves(1, true));
}

/// A matrix transposed by tiles: blocks swap their coordinates, threads keep theirs.
fn transposed(guarded: bool, side: u64) -> bool {
    let checked = verdict(|s, v, n| {
        let col = s.let_("col", s.id(BY) * s.n(side) + s.id(TX));
        let row = s.let_("row", s.id(BX) * s.n(side) + s.id(TY));
        let store = || s.store(v, row.get() * s.arg(n) + col.get(), s.f32(0.0));
        match guarded {
            true => s.if_(col.get().lt(s.arg(n)), store),
            false => s.if_(row.get().lt(s.arg(n)), store),
        }
    });
    checked.is_ok()
}

#[test]
fn tiles_change_places() {
    assert!(transposed(true, 16));
    assert!(transposed(true, 17), "with gaps between them");
    assert!(!transposed(false, 16), "the guard is on the row");
    assert!(!transposed(true, 15), "tiles overlap");
}

/// One step of a sorting network on `v`.
fn exchange(
    guard: impl for<'s> Fn(SketchExpr<'s>, SketchExpr<'s>) -> SketchExpr<'s>,
    other_mask: bool,
) -> bool {
    let checked = shared(|s, v| {
        let t = s.let_("t", s.id(TX));
        let apart = s.let_mut("apart", s.n(128));
        s.while_(apart.get().gt(s.n(0)), |_| {
            let other = s.let_("other", t.get() ^ apart.get());
            s.if_(guard(other.get(), t.get()), || {
                let (a, b) = (s.load(v, t.get()), s.load(v, other.get()));
                let (a, b) = (s.let_("a", a), s.let_("b", b));
                s.store(v, t.get(), b.get());
                if other_mask {
                    s.set(apart, apart.get() + s.n(1));
                    s.store(v, t.get() ^ apart.get(), a.get());
                } else {
                    s.store(v, other.get(), a.get());
                }
            });
            s.barrier();
            s.set(apart, apart.get() / s.n(2));
        });
    });
    checked.is_ok()
}

#[test]
fn elements_are_exchanged() {
    assert!(exchange(|other, own| other.gt(own), false));
    assert!(exchange(|other, own| own.lt(other), false));
    assert!(exchange(|other, own| other.lt(own), false));
    assert!(
        exchange(|other, own| other.ge(own), false),
        "or with itself"
    );
    assert!(
        !exchange(|other, own| other.ne(own), false),
        "both of a pair come through"
    );
    assert!(!exchange(|other, own| other.gt(own), true), "another mask");
}

#[test]
fn a_missing_barrier_between_steps() {
    let checked = shared(|s, v| {
        let t = s.let_("t", s.id(TX));
        let apart = s.let_mut("apart", s.n(128));
        s.while_(apart.get().gt(s.n(0)), |_| {
            let other = s.let_("other", t.get() ^ apart.get());
            s.if_(other.get().gt(t.get()), || {
                s.store(v, t.get(), s.load(v, other.get()));
            });
            s.set(apart, apart.get() / s.n(2));
        });
        s.barrier();
    });
    assert!(checked.is_err());
}

/// A scan by doubling between two halves that swap roles: `v[out * 256 + t] = v[(1 - out) * 256 + t - d]`.
fn scan(half: u64, turn: u64, guarded: bool) -> bool {
    let checked = shared(|s, v| {
        let t = s.let_("t", s.id(TX));
        let out = s.let_mut("out", s.n(0));
        let d = s.let_mut("d", s.n(1));
        s.while_(d.get().lt(s.n(256)), |_| {
            s.set(out, s.n(1) - out.get());
            let source = s.let_("source", s.n(turn) - out.get());
            let to = s.let_("to", out.get() * s.n(half) + t.get());
            let from = s.let_("from", source.get() * s.n(half) + t.get());
            let step = || {
                let sum = s.load(v, from.get()) + s.load(v, from.get() - d.get());
                s.store(v, to.get(), sum);
            };
            match guarded {
                true => s.if_(t.get().ge(d.get()), step),
                false => step(),
            }
            s.barrier();
            s.set(d, d.get() * s.n(2));
        });
    });
    checked.is_ok()
}

#[test]
fn halves_change_places() {
    assert!(scan(256, 1, true));
    assert!(scan(300, 1, true), "with a gap between them");
    assert!(!scan(255, 1, true), "halves overlap");
    assert!(!scan(256, 2, true), "both may be the same half");
    assert!(
        !scan(256, 1, false),
        "the first threads read the other half"
    );
}
